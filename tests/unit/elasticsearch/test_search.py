"""The one ``_msearch``: what is sent, and that no half answer passes."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.adapters.elasticsearch import ElasticsearchStore
from resin_es.adapters.elasticsearch.search import msearch_lines
from resin_es.errors import (
    StoreError,
    StoreNotInstalled,
    StoreRefused,
    StoreRejected,
    StoreTimeout,
    StoreUnavailable,
)
from resin_es.index.aggregations import coverage_body, coverage_from
from resin_es.model import Coverage, Principal
from resin_es.testing.wire import SETTINGS, Wire, failure

BODY: dict[str, Any] = {"query": {"match_all": {}}}
HEADER = {"search_type": "dfs_query_then_fetch", "allow_partial_search_results": False}


def answer(*ids: str, **more: Any) -> dict[str, Any]:
    hits = [
        {"_id": i, "_index": "resin-units-v1", "_score": 2.0, "matched_queries": {"dense": 1.5}}
        for i in ids
    ]
    shards = {"total": 2, "failed": 0}
    body = {"took": 3, "timed_out": False, "_shards": shards, "hits": {"hits": hits}}
    return {**body, "status": 200, **more}


def store(*answers: Any) -> tuple[ElasticsearchStore, Wire]:
    wire = Wire(*answers)
    return ElasticsearchStore(wire.client, SETTINGS), wire


def test_all_searches_travel_in_one_request() -> None:
    one, wire = store((200, {"responses": [answer("a"), answer(), answer("k")]}))
    addresses, documents = one.search([BODY, BODY], {"query": {"match_none": {}}})
    assert [hit.id for hit in addresses[0].hits] == ["a"]
    assert addresses[0].hits[0].parts == {"dense": 1.5}
    assert (addresses[0].took_ms, addresses[1].hits) == (3, ())
    assert documents is not None
    assert documents.hits[0].id == "k"
    ((method, target, lines),) = wire.sent
    assert (method, target) == ("POST", "/_msearch?include_named_queries_score=true")
    assert lines == [
        {"index": ["resin-units", "resin-sentences"], **HEADER},
        BODY,
        {"index": ["resin-units", "resin-sentences"], **HEADER},
        BODY,
        {"index": ["resin-documents"], **HEADER},
        {"query": {"match_none": {}}},
    ]


def test_lines_leave_the_callers_bodies_alone() -> None:
    lines = msearch_lines([(["i"], BODY)])
    lines[1]["size"] = 1
    assert "size" not in BODY


def test_a_server_that_tells_no_named_scores_is_asked_without_from_then_on() -> None:
    refused = failure(
        "illegal_argument_exception",
        "request [/_msearch] contains unrecognized parameter: [include_named_queries_score]",
    )
    plain = answer("a")
    plain["hits"]["hits"][0]["matched_queries"] = ["dense"]
    one, wire = store(refused, (200, {"responses": [plain]}), (200, {"responses": [plain]}))
    (first,), _ = one.search([BODY], None)
    assert first.hits[0].parts == {}
    one.search([BODY], None)
    assert [target for _, target, _ in wire.sent] == [
        "/_msearch?include_named_queries_score=true",
        "/_msearch",
        "/_msearch",
    ]


def failed(kind: str, status: int) -> dict[str, Any]:
    return {"error": {"type": kind, "reason": "why", "root_cause": []}, "status": status}


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (answer(timed_out=True), StoreTimeout),
        (answer(_shards={"total": 2, "failed": 1, "failures": []}), StoreTimeout),
        (failed("index_not_found_exception", 404), StoreNotInstalled),
        (failed("security_exception", 403), StoreRefused),
        (failed("search_phase_execution_exception", 503), StoreUnavailable),
        (failed("circuit_breaking_exception", 429), StoreUnavailable),
        (failed("query_shard_exception", 400), StoreRejected),
        (failed("timeout_exception", 504), StoreTimeout),
    ],
)
def test_one_bad_answer_fails_all(bad: dict[str, Any], error: type[StoreError]) -> None:
    one, _ = store((200, {"responses": [answer("a"), bad]}))
    with pytest.raises(error):
        one.search([BODY, BODY], None)
    one, _ = store((200, {"responses": [answer("a"), bad]}))
    with pytest.raises(StoreError, match=r"documents|why"):
        one.search([BODY], BODY)


def test_counting_goes_on_to_the_last_page() -> None:
    def page(after: str | None, *sources: str) -> tuple[int, Any]:
        found = [{"key": {"source": s, "status": "indexed"}, "doc_count": 2} for s in sources]
        by: dict[str, Any] = {"buckets": found}
        if after:
            by["after_key"] = {"source": after, "status": "indexed"}
        return 200, {**answer(), "aggregations": {"by": by}}

    one, wire = store(page("b", "a", "b"), page("c", "c"), page(None))
    covered = one.coverage(Principal(), ["a", "b", "c"])
    assert [c.source for c in covered] == ["a", "b", "c"]
    assert wire.sent[1][2][0]["aggs"]["by"]["composite"]["after"]["source"] == "b"


def test_coverage_body() -> None:
    assert coverage_body(Principal(), ["a"]) == {
        "size": 0,
        "track_total_hits": False,
        "query": {
            "bool": {
                "filter": [
                    {"terms": {"access": ["*"]}},
                    {"terms": {"source": ["a"]}},
                    {"bool": {"must_not": [{"term": {"status": "deleted"}}]}},
                ]
            }
        },
        "aggs": {
            "by": {
                "composite": {
                    "size": 1000,
                    "sources": [
                        {"source": {"terms": {"field": "source"}}},
                        {"status": {"terms": {"field": "status"}}},
                    ],
                }
            }
        },
    }


def test_coverage_sums_states() -> None:
    counted = [
        {"key": {"source": "b", "status": "indexed"}, "doc_count": 2},
        {"key": {"source": "a", "status": "failed"}, "doc_count": 1},
        {"key": {"source": "b", "status": "failed"}, "doc_count": 3},
    ]
    assert coverage_from(counted) == [
        Coverage(source="a", documents=1, by_status={"failed": 1}),
        Coverage(source="b", documents=5, by_status={"indexed": 2, "failed": 3}),
    ]
