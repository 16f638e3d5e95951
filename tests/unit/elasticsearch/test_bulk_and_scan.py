"""Bulk and scan on a scripted wire: what is retried, what is kept, what is an error."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from elasticsearch import ConnectionError as WireError

from resin_es.adapters.elasticsearch.bulk import bulk, pause, report
from resin_es.adapters.elasticsearch.scan import scan
from resin_es.errors import StoreError, StoreRefused, StoreRejected, StoreTimeout, StoreUnavailable
from resin_es.index.settings import StoreSettings
from resin_es.testing.wire import SETTINGS, Wire, failure, item

BUSY = {"type": "es_rejected_execution_exception", "reason": "queue full"}


def actions(*ids: str) -> list[dict[str, Any]]:
    return [{"_op_type": "index", "_index": "resin-units", "_id": i, "_source": {}} for i in ids]


def sent_ids(wire: Wire) -> list[list[str]]:
    return [
        [line["index"]["_id"] for line in lines if "index" in line] for _, _, lines in wire.sent
    ]


def test_only_rejected_items_are_sent_again() -> None:
    wire = Wire(
        (200, {"items": [item(201), item(429, error=BUSY), item(503, error=BUSY)]}),
        (200, {"items": [item(201, _id="b"), item(429, error=BUSY)]}),
        (200, {"items": [item(201)]}),
    )
    slept: list[float] = []
    outcome = bulk(wire.client, actions("a", "b", "c"), SETTINGS, "x", sleep=slept.append)
    assert sent_ids(wire) == [["a", "b", "c"], ["b", "c"], ["c"]]
    assert [one["status"] for one in outcome.items] == [201, 201, 201]
    assert outcome.retries == 3
    assert report(outcome, "x").written == 3
    assert len(slept) == 2


def test_a_request_that_is_rejected_whole_is_sent_again() -> None:
    wire = Wire(
        failure("circuit_breaking_exception", "too large", 429),
        (200, {"items": [item(201), item(201)]}),
    )
    outcome = bulk(wire.client, actions("a", "b"), SETTINGS, "x", sleep=lambda _: None)
    assert sent_ids(wire) == [["a", "b"], ["a", "b"]]
    assert report(outcome, "x").written == 2


def test_what_stays_rejected_is_told_by_reason() -> None:
    mapping = {"type": "document_parsing_exception", "reason": "[1:3] bad in document with id 'a'"}
    answers = [(200, {"items": [item(201), item(429, error=BUSY), item(400, error=mapping)]})]
    answers += [(200, {"items": [item(429, error=BUSY)]})] * 2
    outcome = bulk(
        Wire(*answers).client, actions("a", "b", "c"), SETTINGS, "x", sleep=lambda _: None
    )
    with pytest.raises(StoreRejected, match="rejected 2 of 3 items while writing") as told:
        report(outcome, "writing")
    assert told.value.reasons == {
        "es_rejected_execution_exception: queue full": 1,
        "document_parsing_exception: bad": 1,
    }


def test_two_items_with_one_id_are_both_counted() -> None:
    error = {"type": "t", "reason": "r"}
    wire = Wire((200, {"items": [item(400, error=error), item(400, error=error)]}))
    outcome = bulk(wire.client, actions("a", "a"), SETTINGS, "x")
    with pytest.raises(StoreRejected) as told:
        report(outcome, "x")
    assert told.value.reasons == {"t: r": 2}


def test_a_piece_of_the_document_does_not_reach_the_message() -> None:
    error = {"type": "t", "reason": "Non-standard token 'NaN' at [Source: (byte[])\"secret\""}
    wire = Wire((200, {"items": [item(400, error=error)]}))
    with pytest.raises(StoreRejected) as told:
        report(bulk(wire.client, actions("a"), SETTINGS, "x"), "x")
    assert "secret" not in str(told.value)


def test_requests_are_bounded_by_bytes_and_by_items() -> None:
    settings = StoreSettings(bulk_bytes=1_000, bulk_items=4)
    many = [{**one, "_source": {"t": "x" * 600}} for one in actions("a", "b")] + actions(*"cdefgh")
    sizes = [1, 3, 4]
    wire = Wire(*((200, {"items": [item(201)] * size}) for size in sizes))
    bulk(wire.client, many, settings, "x")
    assert [len(ids) for ids in sent_ids(wire)] == sizes


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (failure("security_exception", "no", 403), StoreRefused),
        (failure("illegal_argument_exception", "no", 400), StoreRejected),
        (WireError("refused"), StoreUnavailable),
    ],
)
def test_a_request_that_fails_whole_is_an_error(answer: Any, error: type[StoreError]) -> None:
    with pytest.raises(error):
        bulk(Wire(answer).client, actions("a"), SETTINGS, "x")


def test_pauses_grow_and_stay_below_the_ceiling() -> None:
    settings = StoreSettings(backoff=1.0, max_backoff=10.0)
    for attempt, ceiling in ((1, 1.0), (2, 2.0), (3, 4.0), (9, 10.0)):
        drawn = [pause(attempt, settings) for _ in range(50)]
        assert all(ceiling / 2 <= one <= ceiling for one in drawn)
        assert len(set(drawn)) > 1, "jitter"


# ---------------------------------------------------------------- scan


def page(ids: str, *, total: int | None = None, pit: str = "p1", **more: Any) -> tuple[int, Any]:
    hits: dict[str, Any] = {"hits": [{"_id": i, "sort": [i]} for i in ids]}
    if total is not None:
        hits["total"] = {"value": total}
    answer = {"pit_id": pit, "timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": hits}
    return 200, {**answer, **more}


def scanned(wire: Wire) -> list[str]:
    hits = scan(
        wire.client,
        ["resin-units"],
        {"match_all": {}},
        SETTINGS,
        fields={"_source": False},
        doing="x",
    )
    return [hit["_id"] for hit in hits]


OPENED = (200, {"id": "p0"})
CLOSED = (200, {"succeeded": True})


def test_a_scan_follows_the_newest_point_in_time_and_closes_it() -> None:
    wire = Wire(OPENED, page("ab", total=3), page("c", pit="p2"), CLOSED)
    assert scanned(wire) == ["a", "b", "c"]
    (first,), (second,) = wire.sent[1][2], wire.sent[2][2]
    assert first == {
        "query": {"match_all": {}},
        "pit": {"id": "p0", "keep_alive": "2m"},
        "size": 2,
        "sort": [{"_shard_doc": "asc"}],
        "seq_no_primary_term": True,
        "track_total_hits": True,
        "_source": False,
    }
    assert (second["pit"]["id"], second["search_after"]) == ("p1", ["b"])
    assert wire.sent[3] == ("DELETE", "/_pit", [{"id": "p2"}])
    assert all("allow_partial_search_results=false" in target for _, target, _ in wire.sent[1:3])


@pytest.mark.parametrize(
    ("second", "error"),
    [
        (failure("search_context_missing_exception", "No search context", 404), StoreError),
        (page("c", _shards={"total": 2, "failed": 1}), StoreTimeout),
        (page("c", timed_out=True), StoreTimeout),
        (page("", pit="p2"), StoreTimeout),
    ],
)
def test_a_scan_is_complete_or_an_error(second: Any, error: type[StoreError]) -> None:
    wire = Wire(OPENED, page("ab", total=3), second, CLOSED)
    with pytest.raises(error):
        scanned(wire)
    assert wire.sent[-1][0] == "DELETE"


def test_ids_in_a_scan_are_each_seen_once() -> None:
    wire = Wire(OPENED, page("ab", total=4), page("cd"), page(""), CLOSED)
    found = scanned(wire)
    assert all(left < right for left, right in pairwise(found))
    assert len(found) == 4
