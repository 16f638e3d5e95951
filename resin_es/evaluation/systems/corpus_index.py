"""Where the baselines' records are searched: the port, and the request bodies. Pure.

Each granularity has fields of its own, so that BM25 knows the word statistics and lengths of
that granularity alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from resin_es.evaluation.corpus import Corpus, Granularity

NUMBER = "number"
"""Field that holds a record's place in its corpus."""

MAX_CANDIDATES = 10_000
"""Elasticsearch's limit for ``num_candidates``, and for hits of one search."""

Found = tuple[tuple[int, float], ...]
"""Records by their place in the corpus, with their scores, best first, ties by place."""


class CorpusIndex(Protocol):
    """A searchable corpus."""

    @property
    def corpus(self) -> Corpus: ...

    def search(self, bodies: Sequence[Mapping[str, Any]]) -> Sequence[Found]:
        """What each body finds, in one request. Raises StoreError."""
        ...


def text_field(granularity: Granularity) -> str:
    return f"{granularity}_text"


def vector_field(granularity: Granularity) -> str:
    return f"{granularity}_vector"


def lexical_body(granularity: Granularity, question: str, size: int) -> dict[str, Any]:
    """BM25 of the question's words over all records of ``granularity``."""
    match = {"match": {text_field(granularity): {"query": question}}}
    return {"query": match, **_only_numbers(size)}


def dense_body(granularity: Granularity, vector: Sequence[float], size: int) -> dict[str, Any]:
    """The ``size`` records of ``granularity`` nearest by cosine. Exact, since the field is
    indexed flat: every vector is compared, however few candidates are asked for."""
    knn = {
        "field": vector_field(granularity),
        "query_vector": [float(value) for value in vector],
        "k": size,
        "num_candidates": size,
    }
    return {"knn": knn, **_only_numbers(size)}


def _only_numbers(size: int) -> dict[str, Any]:
    """Texts stay where they are, in the data set: the two sort values of a hit, its score and
    its number, say all. Sorting by both makes the last hits the same ones, too, however the
    segments were cut."""
    return {
        "size": size,
        "_source": False,
        "stored_fields": "_none_",
        "sort": [{"_score": "desc"}, {NUMBER: "asc"}],
        "track_total_hits": False,
    }
