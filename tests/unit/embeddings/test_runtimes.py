"""What the two adapters do around their libraries, without weights."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from resin_es.adapters import minilm
from resin_es.adapters.onnx import OnnxEmbedder, own_files, pooled
from resin_es.adapters.sentence_transformers import SentenceTransformersEmbedder
from resin_es.errors import ModelError, ModelUnavailable

HEAVY = "{'numpy', 'onnxruntime', 'tokenizers', 'sentence_transformers', 'torch'}"
PROGRAM = f"""
import sys
from resin_es.adapters.onnx import OnnxEmbedder
from resin_es.adapters.sentence_transformers import SentenceTransformersEmbedder
import resin_es.index.vectors
OnnxEmbedder().identity, SentenceTransformersEmbedder().identity
assert not {HEAVY} & set(sys.modules), {HEAVY} & set(sys.modules)
"""


def test_importing_loads_nothing_heavy() -> None:
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True)


def test_the_mean_leaves_padding_out() -> None:
    states = np.array([[[3, 0], [0, 3], [90, 9]], [[5, 0], [90, 9], [90, 9]]], dtype=np.float32)
    mask = np.array([[1, 1, 0], [1, 0, 0]], dtype=np.int64)
    half = 2**-0.5
    assert np.allclose(pooled(states, mask), np.array([[half, half], [1, 0]]))


def test_a_graph_that_pools_is_only_normalised() -> None:
    vectors = pooled(np.array([[3, 4]], dtype=np.float64), np.ones((1, 7), dtype=np.int64))
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, [[0.6, 0.8]])


class TestOwnFiles:
    @pytest.mark.parametrize("graph", ["model.onnx", "onnx/model.onnx"])
    def test_a_folder(self, tmp_path: Path, graph: str) -> None:
        (tmp_path / "onnx").mkdir()
        (tmp_path / graph).touch()
        (tmp_path / "tokenizer.json").touch()
        assert own_files(tmp_path) == (tmp_path / graph, tmp_path / "tokenizer.json")

    def test_a_graph_file(self, tmp_path: Path) -> None:
        graph = tmp_path / "mine.onnx"
        graph.touch()
        (tmp_path / "tokenizer.json").touch()
        assert own_files(graph) == (graph, tmp_path / "tokenizer.json")

    def test_nothing_there(self, tmp_path: Path) -> None:
        with pytest.raises(ModelUnavailable, match="No ONNX model at") as caught:
            OnnxEmbedder(tmp_path).embed(["x"])
        assert "model.onnx" in caught.value.hint


class Session:
    """A graph that takes ids and mask only, and gives each piece the vector (id, 1)."""

    def __init__(self) -> None:
        self.shapes: list[tuple[int, ...]] = []

    def get_inputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name="input_ids"), SimpleNamespace(name="attention_mask")]

    def run(self, outputs: None, feeds: dict[str, Any]) -> list[Any]:
        assert sorted(feeds) == ["attention_mask", "input_ids"]
        ids = feeds["input_ids"]
        self.shapes.append(ids.shape)
        states = np.zeros((*ids.shape, minilm.DIMS), dtype=np.float32)
        states[..., 0] = ids
        states[..., 1] = 1
        return [states]


class Tokenizer:
    """One piece per word, its number."""

    def encode_batch_fast(self, texts: Sequence[str]) -> list[SimpleNamespace]:
        return [SimpleNamespace(ids=[int(word) for word in text.split()]) for text in texts]


def wired(session: object, tokenizer: object, **options: Any) -> OnnxEmbedder:
    embedder = OnnxEmbedder(**options)
    vars(embedder).update(_session=session, _tokenizer=tokenizer)
    return embedder


def test_onnx_batches_stay_within_the_bound_and_rows_in_order() -> None:
    session = Session()
    texts = ["7", "3 3 3 3", "0 0", "9 9 9", "1"]
    embedder = wired(session, Tokenizer(), max_tokens_per_batch=4, threads=2)
    vectors = embedder.embed(texts)
    assert sorted(session.shapes) == [(1, 1), (1, 3), (1, 4), (2, 2)]
    assert np.allclose(vectors[:, 0] / vectors[:, 1], [7, 3, 0, 9, 1], atol=1e-4)


def test_foreign_exceptions_become_model_errors() -> None:
    broken = SimpleNamespace(get_inputs=list)
    with pytest.raises(ModelError, match="ONNX Runtime failed on 1 texts"):
        wired(broken, Tokenizer()).embed(["1"])
    with pytest.raises(ModelError, match="tokenizer of all-MiniLM-L6-v2 failed"):
        wired(Session(), Tokenizer()).embed(["not a number"])


@pytest.mark.parametrize("module", ["onnxruntime", "tokenizers"])
def test_a_missing_package_names_the_command(
    module: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    embedder = OnnxEmbedder()
    vars(embedder)["_files"] = (tmp_path / "model.onnx", tmp_path / "tokenizer.json")
    attribute = {"onnxruntime": "_session", "tokenizers": "_tokenizer"}[module]
    with pytest.raises(ModelUnavailable, match=f"{module} is not installed") as caught:
        getattr(embedder, attribute)
    assert "pip install 'resin-es[local]'" in caught.value.hint


def test_broken_files_are_named(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "model.onnx").write_bytes(b"nonsense")
    (tmp_path / "tokenizer.json").write_bytes(b"nonsense")
    embedder = OnnxEmbedder(tmp_path)
    for attribute in ("_session", "_tokenizer"):
        with pytest.raises(ModelUnavailable, match="cannot"):
            getattr(embedder, attribute)


class Transformer:
    """Stands in for SentenceTransformer: one piece per word; the vector says the batch."""

    max_seq_length = 3

    def __init__(self, source: str, device: str | None) -> None:
        if source.endswith("bad"):
            raise OSError("no such model")
        self.batches: list[list[str]] = []
        self.said: list[str] = []

    def tokenizer(self, texts: list[str], truncation: bool, max_length: int) -> dict[str, Any]:
        return {"input_ids": [text.split()[:max_length] for text in texts]}

    def get_sentence_embedding_dimension(self) -> int:
        return 2

    def encode(self, texts: list[str], **options: Any) -> Any:
        assert options["normalize_embeddings"] is True
        if "boom" in texts:
            raise RuntimeError("out of memory")
        self.batches.append(texts)
        self.said.append(options["prompt"])
        return np.array([[len(text), 0] for text in texts], dtype=np.float32)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(SentenceTransformer=Transformer)
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)


@pytest.mark.usefixtures("library")
class TestSentenceTransformers:
    def test_batches_by_tokens_rows_in_order(self) -> None:
        embedder = SentenceTransformersEmbedder("some/model", max_tokens_per_batch=4)
        vectors = embedder.embed(["a b c d e", "a", "a b", "ab"])
        assert embedder.identity.name == "model"
        assert embedder.identity.dims == 2
        assert vectors[:, 0].tolist() == [9, 1, 3, 2]
        assert embedder._model.batches == [["a b c d e"], ["a b", "a"], ["ab"]]
        assert embedder.embed([]).shape == (0, 2)

    def test_questions_and_passages_have_their_prefixes(self) -> None:
        embedder = SentenceTransformersEmbedder("some/e5-small-v2")
        embedder.embed(["a"])
        embedder.embed_queries(["b"])
        assert embedder._model.said == ["passage: ", "query: "]
        assert embedder.identity.name.startswith("e5-small-v2+")

    def test_prompts_of_the_loaded_model(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Transformer, "prompts", {"query": "ask: "}, raising=False)
        monkeypatch.setattr(Transformer, "default_prompt_name", "query", raising=False)
        embedder = SentenceTransformersEmbedder("some/model")
        embedder.embed(["a"])
        assert embedder._model.said == ["ask: "]

    def test_a_folder_says_it_itself(self, tmp_path: Path) -> None:
        (tmp_path / "config_sentence_transformers.json").write_text(
            '{"prompts": {"query": "ask: ", "document": ""}}'
        )
        embedder = SentenceTransformersEmbedder(tmp_path)
        embedder.embed_queries(["a"])
        embedder.embed(["a"])
        assert embedder._model.said == ["ask: ", ""]

    def test_errors_are_translated(self) -> None:
        with pytest.raises(ModelUnavailable, match="cannot load some/bad"):
            SentenceTransformersEmbedder("some/bad").embed(["x"])
        with pytest.raises(ModelError, match="out of memory"):
            SentenceTransformersEmbedder("some/model").embed(["boom"])

    def test_a_missing_package_names_the_command(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        with pytest.raises(ModelUnavailable) as caught:
            SentenceTransformersEmbedder("some/model").embed(["x"])
        assert "pip install 'resin-es[sentence-transformers]'" in caught.value.hint
