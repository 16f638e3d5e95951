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
from resin_es.index.generations import Generation
from resin_es.index.names import EVIDENCE_FAMILIES
from resin_es.index.packed import stored
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


ASKED: dict[str, Any] = {"query": {"match_all": {}}, "_source": ["kind", "statement", "title"]}
READ = {
    "_source": False,
    "stored_fields": "_none_",
    "docvalue_fields": ["packed", "title.exact"],
}


def pinned(*answers: Any) -> tuple[ElasticsearchStore, Wire]:
    """A store whose searches are held to a generation with the packed field."""
    one, wire = store(*answers)
    indices = {family: f"resin-{family}-v1" for family in EVIDENCE_FAMILIES}
    metas = {family: {"packed": 1} for family in indices}
    one._held = Generation(indices=indices, addresses=indices, metas=metas)
    return one, wire


def in_place(*ids: str) -> dict[str, Any]:
    """An answer by doc values: neither ids nor sources; one without an id has nothing packed."""
    body = answer(*ids)
    for hit in body["hits"]["hits"]:
        name = hit.pop("_id")
        held = stored({"packed": 1}, name, {"statement": f"says {name}"})["packed"]
        hit["fields"] = {"title.exact": ["T"], **({"packed": [held]} if name else {})}
    return body


def test_hits_of_a_generation_with_the_packed_field_are_read_in_place() -> None:
    one, wire = pinned((200, {"responses": [in_place("a", "b"), answer("d")]}))
    (found,), documents = one.search([ASKED], BODY)
    assert [(hit.id, hit.source["statement"]) for hit in found.hits] == [
        ("a", "says a"),
        ("b", "says b"),
    ]
    assert found.hits[0].source["title"] == "T"
    assert found.hits[0].parts == {"dense": 1.5}
    assert documents is not None
    assert documents.hits[0].id == "d"
    ((_, _, lines),) = wire.sent
    header = {"index": ["resin-units-v1", "resin-sentences-v1"], **HEADER}
    assert lines == [
        header,
        {"query": {"match_all": {}}, **READ},
        {"index": ["resin-documents"], **HEADER},
        BODY,
    ]


def test_where_a_record_has_nothing_packed_the_sources_are_read() -> None:
    plain = answer("a", "b")
    one, wire = pinned((200, {"responses": [in_place("a", "")]}), (200, {"responses": [plain]}))
    (found,), _ = one.search([ASKED], None)
    assert [hit.id for hit in found.hits] == ["a", "b"]
    assert [lines[1] for _, _, lines in wire.sent] == [{"query": {"match_all": {}}, **READ}, ASKED]


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
