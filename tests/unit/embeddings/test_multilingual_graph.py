"""The folder made of packed weights computes what the architecture says, on a made-up file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resin_es.adapters.multilingual.weights import parsed
from resin_es.adapters.onnx import OnnxEmbedder
from tests.unit.embeddings.packed_e5 import HEADS, WIDTH, written

graph = pytest.importorskip("resin_es.adapters.multilingual.graph")


def reference(ids: list[int], t: dict[str, Any]) -> Any:
    """BERT's encoder, one layer, mean of the states, length 1."""

    def norm(x: Any, name: str) -> Any:
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * t[name + ".w"] + t[name + ".b"]

    def linear(x: Any, name: str) -> Any:
        return x @ t[f"l0.{name}.w"].T + t[f"l0.{name}.b"]

    states = t["emb.word"][ids] + t["emb.pos"].reshape(-1, WIDTH)[: len(ids)]
    states = norm(states + t["emb.type"][:WIDTH], "emb.ln")
    query, key, value = (
        linear(states, x).reshape(len(ids), HEADS, -1).swapaxes(0, 1) for x in "qkv"
    )
    scores = query @ key.swapaxes(1, 2) / math.sqrt(WIDTH // HEADS)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (weights / weights.sum(-1, keepdims=True)) @ value
    states = norm(states + linear(mixed.swapaxes(0, 1).reshape(len(ids), -1), "ao"), "l0.aln")
    wide = linear(states, "fi")
    wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
    mean = norm(states + linear(wide, "fo"), "l0.oln").mean(axis=0)
    return mean / np.linalg.norm(mean)


def test_the_folder_computes_what_the_architecture_says(tmp_path: Path) -> None:
    data, held = written()
    graph.write(parsed(data), tmp_path / "made")
    embedder = OnnxEmbedder(tmp_path / "made", threads=1)
    texts = ["bus", "x gas\tx"]
    encoded = embedder._tokenizer.encode_batch([f"passage: {text}" for text in texts])
    assert encoded[0].tokens == ["<s>", "▁", *"passage:", "▁bus", "</s>"]
    # The shorter one is padded beside the longer one.
    for row, encoding in zip(embedder.embed(texts), encoded, strict=True):
        assert np.allclose(row, reference(encoding.ids, held), atol=1e-4)
    asked = embedder._tokenizer.encode("query: bus")
    assert np.allclose(embedder.embed_queries(["bus"])[0], reference(asked.ids, held), atol=1e-4)
    assert embedder.identity.name.startswith("made+")
    assert np.isfinite(embedder.embed(["bus " * 40])).all()


def test_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="not a packed E5 model"):
        parsed(b"PK\x03\x04")
