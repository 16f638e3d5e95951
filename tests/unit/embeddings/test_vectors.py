"""The content cache of vectors: keys, bytes, and what is embedded at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.index.vectors import embed_cached, pack, unpack, vector_key
from resin_es.ports import ModelIdentity
from resin_es.testing.hash_embedder import HashEmbedder

if TYPE_CHECKING:
    from resin_es.ports import Vectors


class Recorder(HashEmbedder):
    """Remembers what it was asked; dies at a text on demand."""

    def __init__(self, fail_at: str = "") -> None:
        super().__init__()
        self.calls: list[list[str]] = []
        self.fail_at = fail_at

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.fail_at in texts and self.fail_at:
            raise RuntimeError("died")
        self.calls.append(list(texts))
        return super().embed(texts)


class Cache(dict[str, bytes]):
    def read(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        return {key: self[key] for key in keys if key in self}

    def write(self, values: Mapping[str, bytes]) -> None:
        self.update(values)


def test_only_what_is_new_is_embedded_and_once() -> None:
    embedder, cache = Recorder(), Cache()
    first = embed_cached(["bus", "tram", "bus"], embedder, cache.read, cache.write)
    second = embed_cached(["tram", "ferry", "bus"], embedder, cache.read, cache.write)
    assert embedder.calls == [["bus", "tram"], ["ferry"]]
    assert (first[0] == first[2]).all()
    assert (first[1] == second[0]).all()
    assert (first[0] == second[2]).all()


def test_rows_belong_to_their_texts_cached_or_not() -> None:
    embedder, cache = Recorder(), Cache()
    texts = [f"stop {number} of line {number % 3}" for number in range(20)]
    fresh = embed_cached(texts, embedder, cache.read, cache.write, chunk=7)
    cached = embed_cached(texts, embedder, cache.read, cache.write, chunk=3)
    assert len(embedder.calls) == 3
    assert fresh.tobytes() == cached.tobytes()
    assert abs(fresh - HashEmbedder().embed(texts)).max() < 1e-3
    assert np.allclose(np.linalg.norm(fresh, axis=1), 1, atol=1e-6)


def test_an_interrupted_run_keeps_what_it_paid_for() -> None:
    cache = Cache()
    with pytest.raises(RuntimeError, match="died"):
        embed_cached(["a", "b", "c"], Recorder(fail_at="c"), cache.read, cache.write, chunk=2)
    again = Recorder()
    embed_cached(["a", "b", "c"], again, cache.read, cache.write, chunk=2)
    assert again.calls == [["c"]]


def test_nothing_asked_nothing_done() -> None:
    embedder, cache = Recorder(), Cache()
    assert embed_cached([], embedder, cache.read, cache.write).shape == (0, 64)
    assert embedder.calls == []


def test_a_damaged_value_is_made_anew() -> None:
    embedder, cache = Recorder(), Cache()
    cache[vector_key(embedder.identity, "bus")] = b"short"
    vectors = embed_cached(["bus"], embedder, cache.read, cache.write)
    assert embedder.calls == [["bus"]]
    assert vectors.tobytes() == unpack(cache[vector_key(embedder.identity, "bus")]).tobytes()


def test_the_key_tells_models_dims_and_texts_apart_but_not_runtimes() -> None:
    model = ModelIdentity(name="m", dims=64, runtime="onnx")
    key = vector_key(model, "bus")
    assert key == vector_key(model.model_copy(update={"runtime": "torch"}), "bus")
    others = {
        vector_key(model.model_copy(update={"name": "n"}), "bus"),
        vector_key(model.model_copy(update={"dims": 65}), "bus"),
        vector_key(model, "Bus"),
        vector_key(model, "bus "),
        vector_key(model, "\ud800"),
    }
    assert len(others) == 5
    assert key not in others


@given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=400).filter(any))
def test_packing_loses_less_than_a_thousandth(values: list[float]) -> None:
    vector = np.array(values, dtype=np.float64)
    vector /= np.linalg.norm(vector)
    data = pack(vector.astype(np.float32))
    assert len(data) == 2 * len(values)
    assert abs(unpack(data) - vector).max() < 1e-3
