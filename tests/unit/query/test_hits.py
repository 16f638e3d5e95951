from __future__ import annotations

import pytest

from resin_es.ports import SearchHit, SearchResponse
from resin_es.query import hits
from resin_es.query.settings import QuerySettings

SETTINGS = QuerySettings(dense_boost=1000.0, lexical_weight=0.1, kind_weight=0.0)


def hit(name: str, score: float = 1.0, **parts: float) -> SearchHit:
    source = {"kind": "sentence", "passage_id": "p", "document_key": "d", "sentence_ids": [name]}
    return SearchHit(id=name, score=score, parts=parts, source=source)


def ranked(*found: SearchHit, settings: QuerySettings = SETTINGS) -> list[str]:
    return [c.address_id for c in hits.ranked(SearchResponse(hits=found), settings)]


def test_parts_are_told_apart_and_the_boost_is_taken_out() -> None:
    (only,) = hits.ranked(
        SearchResponse(hits=(hit("a", 906.0, dense=900.0, lexical=6.0),)), SETTINGS
    )
    assert only.dense == pytest.approx(0.9)
    assert only.lexical == 6.0
    assert only.score == pytest.approx(0.8 + 0.1)
    assert only.rank == 1


def test_an_unbounded_lexical_part_does_not_swamp_the_cosine() -> None:
    assert ranked(hit("word", dense=600.0, lexical=80.0), hit("sense", dense=900.0)) == [
        "sense",
        "word",
    ]


def test_a_lexical_hit_counts_as_near_as_the_farthest_dense_one() -> None:
    found = hits.ranked(
        SearchResponse(
            hits=(hit("far", dense=600.0), hit("near", dense=900.0), hit("word", lexical=5.0))
        ),
        SETTINGS,
    )
    assert [c.address_id for c in found] == ["near", "word", "far"]
    assert found[1].dense is None


def test_a_wanted_kind_adds_a_little() -> None:
    settings = SETTINGS.model_copy(update={"kind_weight": 0.02})
    pair = hit("a", dense=800.0), hit("b", dense=800.0, kind=0.5)
    assert ranked(*pair, settings=settings) == ["b", "a"]


def test_ties_are_broken_by_id() -> None:
    assert ranked(hit("b", dense=800.0), hit("a", dense=800.0)) == ["a", "b"]


def test_without_parts_the_order_of_the_sum_serves() -> None:
    found = hits.ranked(
        SearchResponse(hits=(hit("z", 9.0), hit("a", 8.0), hit("m", 7.0))), SETTINGS
    )
    assert [c.address_id for c in found] == ["z", "a", "m"]
    assert all(c.dense is None and c.lexical is None for c in found)


def test_nothing_found_is_nothing() -> None:
    assert hits.ranked(SearchResponse(), SETTINGS) == ()
    assert hits.documents(None) == ()


def test_documents_by_score_then_key() -> None:
    found = hits.documents(SearchResponse(hits=(hit("b", 2.0), hit("a", 2.0), hit("c", 3.0))))
    assert [(d.document_key, d.score) for d in found] == [("c", 3.0), ("a", 2.0), ("b", 2.0)]
