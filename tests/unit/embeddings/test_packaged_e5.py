"""The folder made of packed weights computes what the architecture says, on a made-up file."""

from __future__ import annotations

import importlib.util
import math
import struct
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from resin_es.adapters.onnx import OnnxEmbedder

WIDTH, HEADS, WIDE, POSITIONS = 32, 2, 64, 24
PIECES = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁bus", -1.0), ("▁", -2.0)]
PIECES += [(letter, -3.0) for letter in "query:pasgx"]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    for needed in ("onnx", "onnxruntime", "tokenizers"):
        pytest.importorskip(needed)
    path = Path(__file__).parents[3] / "benchmarks" / "packaged_e5.py"
    spec = importlib.util.spec_from_file_location("packaged_e5", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def packed(matrix: Any) -> tuple[bytes, Any]:
    """(blocks, the matrix they hold)."""
    parts = matrix.reshape(len(matrix), -1, 32)
    scales = (np.abs(parts).max(axis=-1) / 7).astype(np.float16)
    numbers = np.round(parts / scales[..., None]).clip(-8, 7)
    bytes_ = (numbers + 8).astype(np.uint8)
    halves = bytes_[..., :16] | (bytes_[..., 16:] << 4)
    rows = np.concatenate([scales[..., None].view(np.uint8), halves], axis=-1)
    held = (numbers * scales[..., None].astype(np.float32)).reshape(matrix.shape)
    return rows.tobytes(), held.astype(np.float32)


def tensors() -> dict[str, Any]:
    dice = np.random.default_rng(7)
    shapes = {"emb.word": (len(PIECES), WIDTH)}
    for name, rows, columns in (
        *((x, WIDTH, WIDTH) for x in ("q", "k", "v", "ao")),
        ("fi", WIDE, WIDTH),
        ("fo", WIDTH, WIDE),
    ):
        shapes[f"l0.{name}.w"], shapes[f"l0.{name}.b"] = (rows, columns), (rows,)
    for name in ("emb.ln", "l0.aln", "l0.oln"):
        shapes[f"{name}.w"] = shapes[f"{name}.b"] = (WIDTH,)
    shapes["emb.pos"], shapes["emb.type"] = (POSITIONS * WIDTH,), (2 * WIDTH,)
    return {name: dice.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def written() -> tuple[bytes, dict[str, Any]]:
    """(a file, the values that it holds)."""
    held: dict[str, Any] = {}
    pieces = [text.encode() for text, _ in PIECES]
    data = b"E5S1" + struct.pack("<I7i", 1, WIDTH, 1, HEADS, WIDE, len(PIECES), POSITIONS, 2)
    data += struct.pack("<f6i", 1e-12, 32, len(PIECES), 0, 2, 1, 3)
    data += struct.pack("<Q", sum(map(len, pieces)))
    data += struct.pack(f"<{len(pieces) + 1}I", *np.cumsum([0, *map(len, pieces)]))
    data += struct.pack(f"<{len(pieces)}f", *(score for _, score in PIECES))
    data += b"".join(pieces) + struct.pack("<iI", 0, 3) + b"map"
    content: dict[str, tuple[int, int, bytes]] = {}
    for name, values in tensors().items():
        if values.ndim == 2:
            raw, held[name] = packed(values)
            content[name] = (1, values.size, raw)
        else:
            held[name], raw = values, values.tobytes()
            content[name] = (0, values.size, raw)
    at = len(data) + 4 + sum(2 + len(name) + 21 for name in content)
    directory, bodies = struct.pack("<i", len(content)), b""
    for name, (kind, count, raw) in content.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, count, at + len(bodies), len(raw))
        bodies += raw
    return data + directory + bodies, held


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


def test_the_folder_computes_what_the_architecture_says(script: ModuleType, tmp_path: Path) -> None:
    data, held = written()
    script.write(script.parsed(data), tmp_path / "made")
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


def test_another_format_is_refused(script: ModuleType) -> None:
    with pytest.raises(ValueError, match="not a packed E5 model"):
        script.parsed(b"PK\x03\x04")
