"""What the ledger sends, word for word."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from resin_es.adapters.elasticsearch.ledger import (
    ElasticsearchLedger,
    counter_after,
    counter_id,
    spend_id,
    spend_record,
)
from resin_es.errors import StoreConflict, StoreUnavailable
from resin_es.index.settings import StoreSettings
from resin_es.ports.language import Spend, Usage
from resin_es.testing.wire import Wire, failure, item

NOW = datetime(2026, 11, 30, 12, tzinfo=timezone.utc)
SCOPE = "background 2026-11-30"
USAGE = Usage(input_tokens=10, cache_write_tokens=3, cache_read_tokens=4, output_tokens=5)
SPEND = Spend(key="call-1", stage="units", model="m", usage=USAGE, dollars=0.25)
RECORD = {
    "at": "2026-11-30T12:00:00+00:00",
    "scope": SCOPE,
    "stage": "units",
    "model": "m",
    "calls": 1,
    "input_tokens": 17,
    "output_tokens": 5,
    "cost": 0.25,
}
COUNTER, CALL = counter_id(SCOPE), spend_id(SCOPE, "call-1")
NOTHING: Any = (200, {"docs": [{"_index": "r-ledger", "_id": "x", "found": False}]})
WRITTEN: Any = (200, {"items": [item(201, "create")]})
DONE: Any = (201, {"result": "created"})


def found(counter: dict[str, Any], seq_no: int = 7) -> Any:
    at = {"_index": "r-ledger", "_id": COUNTER, "_seq_no": seq_no, "_primary_term": 2}
    return (200, {"docs": [{**at, "found": True, "_source": counter}]})


def ledger(wire: Wire) -> ElasticsearchLedger:
    settings = StoreSettings(prefix="r", retries=0)
    return ElasticsearchLedger(
        wire.client, settings, scope=lambda: SCOPE, now=lambda: NOW, sleep=lambda _: None
    )


def test_a_call_as_it_is_kept() -> None:
    assert spend_record(SCOPE, SPEND, NOW) == RECORD


def test_the_first_call_makes_the_counter() -> None:
    wire = Wire(NOTHING, NOTHING, DONE, WRITTEN)
    ledger(wire).enter(SPEND)
    counter = {
        "at": RECORD["at"],
        "scope": SCOPE,
        "calls": 1,
        "input_tokens": 17,
        "output_tokens": 5,
        "cost": 0.25,
        "trace_id": [CALL],
    }
    assert wire.sent == [
        (
            "POST",
            "/_mget?realtime=true",
            [{"docs": [{"_index": "r-ledger", "_id": COUNTER, "_source": True}]}],
        ),
        (
            "POST",
            "/_mget?realtime=true",
            [{"docs": [{"_index": "r-ledger", "_id": CALL, "_source": False}]}],
        ),
        ("PUT", f"/r-ledger/_doc/{COUNTER}?op_type=create&require_alias=true", [counter]),
        (
            "PUT",
            "/_bulk?require_alias=true",
            [{"create": {"_index": "r-ledger", "_id": CALL}}, RECORD],
        ),
    ]


def test_a_further_call_is_added_under_the_guard() -> None:
    before = {"calls": 4, "input_tokens": 40, "output_tokens": 8, "cost": 1.0, "trace_id": ["a"]}
    wire = Wire(found(before), NOTHING, DONE, WRITTEN)
    ledger(wire).enter(SPEND)
    method, target, [body] = wire.sent[2]
    assert (method, target) == (
        "PUT",
        f"/r-ledger/_doc/{COUNTER}?if_primary_term=2&if_seq_no=7&require_alias=true",
    )
    assert body == {
        "at": RECORD["at"],
        "scope": SCOPE,
        "calls": 5,
        "input_tokens": 57,
        "output_tokens": 13,
        "cost": 1.25,
        "trace_id": ["a", CALL],
    }


def test_what_was_counted_and_not_written_is_written_and_not_counted_again() -> None:
    wire = Wire(found({"cost": 1.0, "trace_id": [CALL]}), NOTHING, WRITTEN)
    ledger(wire).enter(SPEND)
    assert [target for _, target, _ in wire.sent][2:] == ["/_bulk?require_alias=true"]


def test_what_was_written_is_counted_already() -> None:
    wire = Wire(found({"cost": 1.0}), (200, {"docs": [{"_id": CALL, "found": True}]}))
    ledger(wire).enter(SPEND)
    assert len(wire.sent) == 2


def test_a_counter_that_somebody_else_moved_is_read_again() -> None:
    lost = failure("version_conflict_engine_exception", "newer", 409)
    wire = Wire(
        found({"cost": 1.0}, 7), NOTHING, lost, found({"cost": 3.0}, 8), NOTHING, DONE, WRITTEN
    )
    ledger(wire).enter(SPEND)
    _, target, [body] = wire.sent[5]
    assert "if_seq_no=8" in target
    assert body["cost"] == 3.25


def test_a_counter_that_never_holds_still_is_an_error() -> None:
    lost = failure("version_conflict_engine_exception", "newer", 409)
    wire = Wire(*[found({"cost": 1.0}), NOTHING, lost] * 100)
    with pytest.raises(StoreConflict, match="100 tries"):
        ledger(wire).enter(SPEND)


def test_a_settled_call_leaves_the_counter_with_the_next_one() -> None:
    before = {"cost": 1.0, "trace_id": [CALL, "of another process"]}
    second = Spend(key="call-2", stage="units", model="m", dollars=1.0)
    wire = Wire(NOTHING, NOTHING, DONE, WRITTEN, found(before), NOTHING, DONE, WRITTEN)
    book = ledger(wire)
    book.enter(SPEND)
    book.enter(second)
    [body] = wire.sent[6][2]
    assert body["trace_id"] == ["of another process", spend_id(SCOPE, "call-2")]


def test_what_is_owed_is_paid_before_it_is_told_what_was_spent() -> None:
    away = failure("no_shard_available_action_exception", "down", 503)
    wire = Wire(away, away, NOTHING, NOTHING, DONE, WRITTEN, found({"cost": 0.25}))
    book = ledger(wire)
    book.enter(SPEND)  # paid for: its answer is not lost
    with pytest.raises(StoreUnavailable):
        book.spent()
    assert book.spent() == 0.25
    assert wire.answers == []


def test_nothing_is_spent_at_first() -> None:
    wire = Wire(NOTHING)
    assert ledger(wire).spent() == 0.0
    assert wire.sent == [
        (
            "POST",
            "/_mget?realtime=true",
            [{"docs": [{"_index": "r-ledger", "_id": COUNTER, "_source": True}]}],
        )
    ]


def test_counting_is_pure() -> None:
    before = {"cost": 1.0, "trace_id": ["a", "b"]}
    after = counter_after(before, {"c": RECORD}, ["a"], NOW)
    assert after["trace_id"] == ["b", "c"]
    assert before == {"cost": 1.0, "trace_id": ["a", "b"]}
