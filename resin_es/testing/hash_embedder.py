"""An embedder without weights, for tests: texts that share words are near each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

from resin_es.ports import ModelIdentity

if TYPE_CHECKING:
    from resin_es.ports import Vectors

_WORD = re.compile(r"\w+")
_SHORT = 4
"""Words below this many letters are mostly function words, and weigh little."""


class HashEmbedder:
    """Deterministic over processes and machines. Each lower-cased word and each pair of
    neighbouring words adds to one component, with a sign, both chosen by a hash; the sum is
    brought to length 1. It knows no meaning: synonyms are as far apart as any two words.
    ``seed`` makes another model of it: the same words in other places; give it another name."""

    def __init__(self, dims: int = 64, name: str = "hash", seed: str = "") -> None:
        if dims < 1:
            raise ValueError(f"dims must be at least 1, not {dims}")
        self._seed = seed
        self._identity = ModelIdentity(name=f"{name}-{dims}", dims=dims, runtime="hash")

    @property
    def identity(self) -> ModelIdentity:
        return self._identity

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dims), float32, rows of length 1."""
        import numpy as np

        dims = self._identity.dims
        out = np.zeros((len(texts), dims), dtype=np.float32)
        for row, text in enumerate(texts):
            for feature, weight in _features(text):
                component, sign = _place(self._seed + feature, dims)
                out[row, component] += sign * weight
            # Nothing to go by, or all of it cancelled out: one fixed place for all such texts.
            if not out[row].any():
                out[row, 0] = 1.0
        result: Vectors = out / np.linalg.norm(out, axis=1, keepdims=True)
        return result

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As ``embed``."""
        return self.embed(texts)


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = _WORD.findall(text.lower())
    for word in words:
        yield word, 1.0 if len(word) >= _SHORT else 0.25
    for first, second in pairwise(words):
        yield f"{first} {second}", 0.5 if min(len(first), len(second)) >= _SHORT else 0.125


def _place(feature: str, dims: int) -> tuple[int, float]:
    digest = blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    return (number >> 1) % dims, 1.0 if number & 1 else -1.0
