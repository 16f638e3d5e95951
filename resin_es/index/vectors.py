"""Vectors by content: what was embedded once is not embedded again.

A cached vector is stored as little-endian float16. The components of a vector of length 1 are
at most 1, so rounding moves none by more than 2**-12; Elasticsearch's own int8 quantisation is
coarser by far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from resin_es.ports import Embedder, ModelIdentity

if TYPE_CHECKING:
    from resin_es.ports import Vectors

CacheGet = Callable[[Sequence[str]], Mapping[str, bytes]]
CachePut = Callable[[Mapping[str, bytes]], None]

_BYTES = 2


def vector_key(model: ModelIdentity, text: str) -> str:
    """Cache key of a text's vector. The runtime is no part of it: runtimes of one name give
    vectors that may stand in for each other."""
    head = f"{model.name}\0{model.dims}\0".encode()
    return "vector-f16-" + sha256(head + text.encode("utf-8", "surrogatepass")).hexdigest()


def pack(vector: Vectors) -> bytes:
    """One vector, shape (dims,), as bytes."""
    return vector.astype("<f2").tobytes()


def unpack(data: bytes) -> Vectors:
    """The vector of ``pack``, float32, brought back to length 1."""
    import numpy as np

    vector = np.frombuffer(data, dtype="<f2").astype(np.float32)
    result: Vectors = vector / max(float(np.linalg.norm(vector)), 1e-12)
    return result


def embed_cached(
    texts: Sequence[str],
    embedder: Embedder,
    cache_get: CacheGet,
    cache_put: CachePut,
    *,
    chunk: int = 1024,
) -> Vectors:
    """Shape (len(texts), dims), float32, rows of length 1; row i belongs to texts[i].

    Equal texts are embedded once, cached ones not at all. Works through ``chunk`` distinct texts
    at a time and puts each chunk's new vectors before it goes on, so that an interrupted run
    keeps what it paid for. A text gets the same vector whether it was cached or not.

    Raises what ``embedder`` and the two cache functions raise.
    """
    import numpy as np

    model = embedder.identity
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        rows.setdefault(text, []).append(row)
    out = np.zeros((len(texts), model.dims), dtype=np.float32)
    distinct = list(rows)
    for start in range(0, len(distinct), chunk):
        part = {vector_key(model, text): text for text in distinct[start : start + chunk]}
        for key, data in _packed(part, embedder, cache_get, cache_put).items():
            out[rows[part[key]]] = unpack(data)
    return out


def _packed(
    part: Mapping[str, str], embedder: Embedder, cache_get: CacheGet, cache_put: CachePut
) -> dict[str, bytes]:
    size = embedder.identity.dims * _BYTES
    # A value of another size is damaged; the cache is expendable, so it is made anew.
    found = {key: data for key, data in cache_get(list(part)).items() if len(data) == size}
    missing = [key for key in part if key not in found]
    if missing:
        vectors = embedder.embed([part[key] for key in missing])
        fresh = {key: pack(vector) for key, vector in zip(missing, vectors, strict=True)}
        cache_put(fresh)
        found.update(fresh)
    return found
