"""The baselines' request bodies, exactly, and the way from hits back to spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from resin_es.evaluation.baselines import (
    SentenceBaseline,
    bm25_body,
    dense_body,
    locate_sentences,
)
from resin_es.evaluation.datasets import Span
from resin_es.index.records import passage_record
from resin_es.model import DocumentStatus, Passage, PassageRef, Principal, RegistryEntry
from resin_es.ports import FetchedEvidence, SearchHit

FILTER = [
    {"terms": {"access": ["*", "staff"]}},
    {"terms": {"source": ["holisqa"]}},
    {"terms": {"kind": ["sentence"]}},
]
STAFF = Principal(groups=frozenset({"staff"}))
FIELDS = ["document_key", "document_id", "passage_id", "sentence_ids"]


def test_bm25_body() -> None:
    assert bm25_body("why (eels)?", STAFF, ["holisqa"], size=7) == {
        "size": 7,
        "_source": FIELDS,
        "query": {
            "bool": {
                "filter": FILTER,
                "must": [{"match": {"statement": {"query": "why (eels)?"}}}],
            }
        },
    }


def test_dense_body() -> None:
    body = dense_body(list(np.array([0.5, 0.25], np.float32)), STAFF, ["holisqa"], size=7)
    assert body == {
        "size": 7,
        "_source": FIELDS,
        "knn": {
            "field": "vector",
            "query_vector": [0.5, 0.25],
            "k": 7,
            "num_candidates": 2000,
            "filter": FILTER,
        },
    }
    assert {type(value) for value in body["knn"]["query_vector"]} == {float}, "JSON can hold it"


def fetched(start: int = 100) -> FetchedEvidence:
    passage = Passage(
        id="p",
        document_key="k",
        text="One. Two.",
        sentence_ids=("s1", "s2"),
        offsets=((0, 4), (5, 9)),
    )
    entry = RegistryEntry(
        key="k",
        source="holisqa",
        external_id="A1",
        status=DocumentStatus.INDEXED,
        passages=(PassageRef(id="p", start=start, sentence_ids=("s1", "s2")),),
    )
    return FetchedEvidence(
        passages={"p": passage_record(passage, entry).body}, entries={"k": entry}
    )


def hit(sentence: str, passage: str = "p", key: str = "k") -> SearchHit:
    source = {"document_key": key, "passage_id": passage, "sentence_ids": [sentence]}
    return SearchHit(id=sentence, index="sentences", score=1.0, source=source)


def test_hits_become_spans_of_the_document_in_rank_order() -> None:
    assert locate_sentences([hit("s2"), hit("s1")], fetched()) == [
        Span(document_id="A1", start=105, end=109),
        Span(document_id="A1", start=100, end=104),
    ]


def test_hits_of_vanished_evidence_are_left_out() -> None:
    gone = [hit("s1", passage="old"), hit("s1", key="other")]
    assert locate_sentences([*gone, hit("s1")], fetched(start=0)) == [
        Span(document_id="A1", start=0, end=4)
    ]
    stale = FetchedEvidence(
        passages=fetched().passages,
        entries={"k": fetched().entries["k"].model_copy(update={"passages": ()})},
    )
    assert locate_sentences([hit("s1")], stale) == []


def test_one_search_serves_all_budgets_of_a_question() -> None:
    asked: list[dict[str, Any]] = []

    def search(body: dict[str, Any]) -> Sequence[SearchHit]:
        asked.append(body)
        return [hit("s1")]

    def locate(hits: Sequence[SearchHit]) -> Sequence[Span]:
        return [Span(document_id="A1", start=0, end=40), Span(document_id="A1", start=50, end=90)]

    system = SentenceBaseline("x", lambda question: {"q": question}, search, locate)
    assert [len(system.evidence("a", budget)) for budget in (9, 10, 20)] == [0, 1, 2]
    assert len(system.evidence("b", 20)) == 2
    assert asked == [{"q": "a"}, {"q": "b"}]
