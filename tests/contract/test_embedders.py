"""The embedder contract on all three embedders, and the parity of the two MiniLM runtimes."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from resin_es.adapters.minilm import HUB_NAME
from resin_es.adapters.onnx import OnnxEmbedder
from resin_es.adapters.sentence_transformers import SentenceTransformersEmbedder
from resin_es.errors import ModelUnavailable
from resin_es.testing.embedder_contract import TEXTS, EmbedderContract
from resin_es.testing.hash_embedder import HashEmbedder

if TYPE_CHECKING:
    from resin_es.ports import Embedder, Vectors

REFERENCE = Path(__file__).with_name("minilm_reference.json")
LEAST_COSINE = 0.995
"""Per text, between the int8 weights and the original ones; measured: mean .9995, least .998."""


def loaded(embedder: Embedder) -> Embedder:
    """The embedder, once it has worked; missing weights skip on a laptop and fail in CI."""
    try:
        embedder.embed(["ready?"])
    except ModelUnavailable as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    return embedder


@pytest.fixture(scope="module")
def onnx() -> Embedder:
    return loaded(OnnxEmbedder())


@pytest.fixture(scope="module")
def original() -> Embedder:
    pytest.importorskip("sentence_transformers", reason="the extra [sentence-transformers]")
    return loaded(SentenceTransformersEmbedder(device="cpu"))


class TestHash(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return HashEmbedder()


class TestOnnx(EmbedderContract):
    @pytest.fixture
    def embedder(self, onnx: Embedder) -> Embedder:
        return onnx


class TestSentenceTransformers(EmbedderContract):
    @pytest.fixture
    def embedder(self, original: Embedder) -> Embedder:
        return original


class TestParity:
    """The two runtimes' vectors may stand in one index."""

    def test_they_share_the_name_and_dims(self) -> None:
        for source in (None, HUB_NAME):
            light = OnnxEmbedder(source).identity
            full = SentenceTransformersEmbedder(source).identity
            assert (light.name, light.dims) == (full.name, full.dims) == ("all-MiniLM-L6-v2", 384)
            assert light.runtime != full.runtime

    def test_onnx_gives_the_originals_vectors(self, onnx: Embedder) -> None:
        """Against vectors that sentence-transformers gave and that are kept beside this file, so
        that no torch is needed. The long texts show the same cut at 256 word pieces."""
        kept = json.loads(REFERENCE.read_text(encoding="utf-8"))
        expected = np.stack([_decode(one["vector"]) for one in kept])
        assert _cosines(onnx.embed([one["text"] for one in kept]), expected).min() > LEAST_COSINE

    def test_live(self, onnx: Embedder, original: Embedder) -> None:
        cosines = _cosines(onnx.embed(TEXTS), original.embed(TEXTS))
        assert cosines.min() > LEAST_COSINE, dict(zip(TEXTS, cosines, strict=True))

    def test_the_kept_vectors_are_the_originals(self, original: Embedder) -> None:
        kept = json.loads(REFERENCE.read_text(encoding="utf-8"))
        expected = np.stack([_decode(one["vector"]) for one in kept])
        assert _cosines(original.embed([one["text"] for one in kept]), expected).min() > 0.9999


def test_meaning_is_found_without_a_shared_word(onnx: Embedder) -> None:
    question, match, other = onnx.embed(
        ["How much does a ride cost?", "The fare is two crowns.", "The depot opened in spring."]
    )
    assert question @ match > question @ other + 0.1


def _decode(text: str) -> Vectors:
    return np.frombuffer(base64.b64decode(text), dtype="<f2").astype(np.float32)


def _cosines(first: Vectors, second: Vectors) -> Vectors:
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    result: Vectors = (first * second).sum(axis=1) / norms
    return result
