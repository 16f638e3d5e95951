"""The search bodies of a question: one per hop, and one over documents. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resin_es.index.multilingual import FIELD as SECOND_VECTOR
from resin_es.index.packed import BROUGHT
from resin_es.model import UnitKind
from resin_es.query.settings import MAX_WINDOW, QuerySettings
from resin_es.query.words import capped

DENSE, MULTILINGUAL, LEXICAL, KIND = "dense", "multilingual", "lexical", "kind"
"""Names of the parts of a score, as the server reports them back."""

LEXICAL_FIELDS: tuple[tuple[str, float], ...] = (
    ("statement", 1.0),
    ("subject.text", 0.5),
    ("aliases.text", 0.5),
    ("object.text", 0.3),
)
"""Where words are looked for, with their boosts. Sentences have a statement alone."""

ADDRESS_SOURCE = BROUGHT
"""What a hit must bring along; never the vector."""


def hop_body(
    text: str,
    vector: Sequence[float],
    filters: Sequence[Mapping[str, Any]],
    settings: QuerySettings,
    kinds: Sequence[UnitKind] = (),
    link: Mapping[str, Any] | None = None,
    second: Sequence[float] | None = None,
) -> dict[str, Any]:
    """One hybrid search over units and sentences [3.5, equation 2, with a lexical part]. With
    ``second``, the text's vector by the multilingual encoder, it also goes over the vectors that
    this one gave to what is in another language.

    ``filters`` stand in both places, since a kNN clause does not see the query's filter. The
    kNN boost lies above any BM25 score: the pool then holds all dense hits first and the best
    lexical ones after them; ``hits`` fuses the two named parts. ``kinds`` only add to the
    score of lexical hits, under a name of their own.

    With ``link`` (of a bridged hop) only addresses that it matches are searched, in both parts:
    the vectors then say which of them the question means, and beyond those that they bring,
    the rarest names come first. It holds names of a few documents and no words of the asker.
    """
    clauses = [dict(clause) for clause in filters]
    lexical = _lexical(text, settings.max_terms)
    query: dict[str, Any] = {"filter": clauses, "must": [dict(link) if link else lexical]}
    extra = [lexical] if link else []
    if kinds:
        extra.append({"terms": {"kind": list(kinds), "boost": settings.kind_boost, "_name": KIND}})
    if extra:
        query["should"] = extra
    near = {
        "field": "vector",
        "query_vector": [float(value) for value in vector],
        "k": settings.dense_hits,
        "num_candidates": settings.candidates,
        "boost": settings.dense_boost,
        "filter": [dict(clause) for clause in (*filters, *([link] if link else []))],
        "_name": DENSE,
    }
    more = 0 if second is None else settings.multilingual
    return {
        "knn": near if second is None else [near, _across(near, second, more)],
        "query": {"bool": query},
        "size": min(MAX_WINDOW, settings.size + more),
        "_source": list(ADDRESS_SOURCE),
        "track_total_hits": False,
    }


def _across(near: Mapping[str, Any], vector: Sequence[float], k: int) -> dict[str, Any]:
    """The same clause over the second vectors."""
    beyond = int(near["num_candidates"]) - int(near["k"])
    return {
        **near,
        "field": SECOND_VECTOR,
        "query_vector": [float(value) for value in vector],
        "k": k,
        "num_candidates": min(MAX_WINDOW, k + beyond),
        "filter": [dict(clause) for clause in near["filter"]],
        "_name": MULTILINGUAL,
    }


def _lexical(text: str, limit: int) -> dict[str, Any]:
    asked = capped(text, limit)
    return {
        "bool": {
            "_name": LEXICAL,
            "should": [
                {"match": {field: {"query": asked, "boost": boost}}}
                for field, boost in LEXICAL_FIELDS
            ],
            "minimum_should_match": 1,
        }
    }


def document_body(
    question: str, filters: Sequence[Mapping[str, Any]], settings: QuerySettings
) -> dict[str, Any]:
    """The plan's one lexical search over documents: title and text, the same access filter."""
    asked = capped(question, settings.max_terms)
    return {
        "query": {
            "bool": {
                "filter": [dict(clause) for clause in filters],
                "should": [
                    {"match": {"title": {"query": asked, "boost": settings.title_boost}}},
                    {"match": {"text": {"query": asked}}},
                ],
                "minimum_should_match": 1,
            }
        },
        "size": settings.documents,
        "_source": False,
        "track_total_hits": False,
    }
