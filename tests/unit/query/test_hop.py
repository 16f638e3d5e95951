from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.index.filters import Filters, address_filter, document_filter
from resin_es.model import Principal
from resin_es.query.hop import document_body, hop_body
from resin_es.query.settings import QuerySettings
from resin_es.query.words import words

SETTINGS = QuerySettings(
    k=5, dense=20, num_candidates=50, pool=30, dense_boost=1000.0, kind_boost=0.5, max_terms=64
)
CLAUSES = address_filter(Principal(groups=frozenset({"staff"})), Filters(sources=("files",)))


def test_the_whole_body_of_a_hop() -> None:
    access = [{"terms": {"access": ["*", "staff"]}}, {"terms": {"source": ["files"]}}]
    assert hop_body("fare of Bus 14", [0.5, -0.5], CLAUSES, SETTINGS, ("entity-fact",)) == {
        "knn": {
            "field": "vector",
            "query_vector": [0.5, -0.5],
            "k": 20,
            "num_candidates": 50,
            "boost": 1000.0,
            "filter": access,
            "_name": "dense",
        },
        "query": {
            "bool": {
                "filter": access,
                "must": [
                    {
                        "bool": {
                            "_name": "lexical",
                            "should": [
                                {"match": {"statement": {"query": "fare of Bus 14", "boost": 1.0}}},
                                {
                                    "match": {
                                        "subject.text": {"query": "fare of Bus 14", "boost": 0.5}
                                    }
                                },
                                {
                                    "match": {
                                        "aliases.text": {"query": "fare of Bus 14", "boost": 0.5}
                                    }
                                },
                                {
                                    "match": {
                                        "object.text": {"query": "fare of Bus 14", "boost": 0.3}
                                    }
                                },
                            ],
                            "minimum_should_match": 1,
                        }
                    }
                ],
                "should": [{"terms": {"kind": ["entity-fact"], "boost": 0.5, "_name": "kind"}}],
            }
        },
        "size": 70,
        "_source": [
            "kind",
            "passage_id",
            "sentence_ids",
            "document_key",
            "document_id",
            "source",
            "statement",
            "subject",
            "object",
            "aliases",
            "title",
        ],
        "track_total_hits": False,
    }


def test_the_filter_stands_in_both_places_and_is_not_shared() -> None:
    body = hop_body("x", [1.0], CLAUSES, SETTINGS)
    assert body["knn"]["filter"] == body["query"]["bool"]["filter"] == CLAUSES
    assert body["knn"]["filter"] is not body["query"]["bool"]["filter"]
    assert "should" not in body["query"]["bool"]


def test_no_lexical_clause_in_the_knn_filter() -> None:
    body = hop_body(
        "x", [1.0], address_filter(Principal(), Filters(entities=("Bus 14",))), SETTINGS
    )
    assert '"match"' not in json.dumps(body["knn"])


def test_the_whole_body_over_documents() -> None:
    clauses = document_filter(Principal(), Filters())
    assert document_body("fare of Bus 14", clauses, SETTINGS) == {
        "query": {
            "bool": {
                "filter": [
                    {"terms": {"access": ["*"]}},
                    {"bool": {"must_not": [{"term": {"status": "deleted"}}]}},
                ],
                "should": [
                    {"match": {"title": {"query": "fare of Bus 14", "boost": 0.5}}},
                    {"match": {"text": {"query": "fare of Bus 14"}}},
                ],
                "minimum_should_match": 1,
            }
        },
        "size": 100,
        "_source": False,
        "track_total_hits": False,
    }


def asked(text: str) -> str:
    body = hop_body(text, [1.0], [], SETTINGS)
    query: str = body["query"]["bool"]["must"][0]["bool"]["should"][0]["match"]["statement"][
        "query"
    ]
    return query


@pytest.mark.parametrize("text", ['title:(a OR b) AND "c~2^3" /x.*/', "metro", "公共汽车多少钱？"])
def test_short_questions_go_in_as_they_are(text: str) -> None:
    assert asked(text) == text


def test_a_text_of_20_000_characters_is_capped_by_terms() -> None:
    text = " ".join(f"the word{i}" for i in range(1700))
    assert len(text) > 19_000
    assert words(asked(text)) == [f"word{i}" for i in range(64)]


def test_scripts_without_spaces_are_capped_too() -> None:
    assert 0 < len(asked("公共汽车" * 5000)) <= 64


@given(st.text(max_size=400))
def test_any_text_gives_a_body_of_bounded_terms(text: str) -> None:
    found = words(asked(text * 5))
    assert sum(1 + w.count("-") + w.count(".") for w in found) <= 3 * 64
