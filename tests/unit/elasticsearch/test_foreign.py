"""A team's index listed on a scripted wire: exact requests; nothing incomplete is a listing."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from resin_es.adapters.elasticsearch import foreign_pages
from resin_es.adapters.elasticsearch.foreign_pages import MissingIndex
from resin_es.errors import (
    StoreError,
    StoreRefused,
    StoreTimeout,
    StoreUnavailable,
)
from resin_es.model import Document
from resin_es.ports.sync import Unreadable
from resin_es.testing.wire import failure
from tests.unit.elasticsearch.foreign_wire import (
    CLOSED,
    NOT_THERE,
    PIT,
    hit,
    index_on,
    mapping,
    names,
    page,
    searches,
    sent,
    spec,
)


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST_PAGE", "MOST_HITS", "IDS_PAGE"):
        monkeypatch.setattr(foreign_pages, name, 2)


# ------------------------------------------------------------------ listings


@pytest.mark.usefixtures("small_pages")
def test_documents_are_listed_by_point_in_time_and_search_after_with_named_fields_only() -> None:
    index, wire = index_on(
        mapping(),
        PIT,
        page(hit("d1"), hit("d2"), total=3, pit_id="p2"),
        page(hit("d3"), total=-1),
        CLOSED,
    )
    found = list(index.documents(spec(metadata_fields=["lang"], updated_field="at")))
    assert found[0] == Document(source="s", external_id="d1", text="text d1", access=("*",))
    assert names(found) == ["d1", "d2", "d3"]
    assert sent(wire) == [
        ("GET", "/kb/_mapping"),
        ("POST", "/kb/_pit?keep_alive=5m"),
        ("POST", "/_search?allow_partial_search_results=false"),
        ("POST", "/_search?allow_partial_search_results=false"),
        ("DELETE", "/_pit"),
    ]
    first = {
        "query": {"match_all": {}},
        "pit": {"id": "p1", "keep_alive": "5m"},
        "size": 2,
        "sort": [{"_shard_doc": "asc"}],
        "_source": ["body", "at", "lang"],
        "track_total_hits": True,
    }
    second = {
        **first,
        "pit": {"id": "p2", "keep_alive": "5m"},
        "track_total_hits": False,
        "search_after": [2],
    }
    assert searches(wire) == [first, second]
    assert wire.sent[-1][2] == [{"id": "p2"}]


def test_changes_are_a_range_over_the_date_field() -> None:
    index, wire = index_on(mapping(), PIT, page(hit("d1")), CLOSED)
    since = datetime(2024, 5, 1, 10, tzinfo=timezone.utc)
    list(index.documents(spec(updated_field="at"), since))
    bounds = {"gte": "2024-05-01T10:00:00+00:00", "format": "strict_date_optional_time"}
    assert searches(wire)[0]["query"] == {"range": {"at": bounds}}


def test_without_a_date_field_everything_is_listed_whatever_the_watermark() -> None:
    index, wire = index_on(mapping(), PIT, page(hit("d1")), CLOSED)
    list(index.documents(spec(), datetime(2024, 5, 1, tzinfo=timezone.utc)))
    assert searches(wire)[0]["query"] == {"match_all": {}}


def test_each_slice_is_asked_for_and_all_are_listed() -> None:
    answers = [page(hit(f"d{number}")) for number in range(3)]
    index, wire = index_on(mapping(), PIT, *answers, CLOSED)
    found = list(index.documents(spec(slices=3)))
    assert sorted(names(found)) == ["d0", "d1", "d2"]
    parts = [body["slice"] for body in searches(wire)]
    assert sorted(parts, key=lambda one: one["id"]) == [{"id": n, "max": 3} for n in range(3)]


@pytest.mark.usefixtures("small_pages")
def test_a_slice_that_is_longer_than_the_others_is_read_to_its_end() -> None:
    index, wire = index_on()
    counts = {0: 5, 1: 0, 2: 1}

    def search(**body: Any) -> Any:
        number, after = body["slice"]["id"], (body.get("search_after") or [-1])[0]
        left = range(after + 1, counts[number])
        hits = [hit(f"d{n}", _id=f"{number}-{n}", sort=[n]) for n in left][: body["size"]]
        _, answer = page(*hits, total=counts[number])
        return type("Answer", (), {"body": answer})

    wire.answers = [mapping(), PIT, CLOSED]
    wire.client.search = search  # type: ignore[method-assign]
    found = names(index.documents(spec(slices=3)))
    assert sorted(found) == ["0-0", "0-1", "0-2", "0-3", "0-4", "2-0"]


def test_ids_fetch_no_sources() -> None:
    index, wire = index_on(
        mapping(), PIT, page({"_index": "kb", "_id": "a/b é", "sort": [1]}), CLOSED
    )
    assert list(index.ids(spec())) == ["a/b é"]
    assert searches(wire)[0]["_source"] is False
    assert searches(wire)[0]["size"] == 10_000


def test_ids_of_a_field_fetch_that_field_alone() -> None:
    answer = page(hit("d1", _source={"no": "K/1"}), hit("d2", _source={}))
    index, wire = index_on(mapping(), PIT, answer, CLOSED)
    assert list(index.ids(spec(id_field="no"))) == ["K/1"]
    assert searches(wire)[0]["_source"] == ["no"]


def test_a_data_stream_is_read_like_an_index_and_its_fields_are_those_of_its_backing_indices() -> (
    None
):
    backing = (".ds-logs-000001", ".ds-logs-000002")
    index, wire = index_on(
        mapping(*backing), PIT, page(hit("d1", backing[0])), page(hit("d1", backing[0])), CLOSED
    )
    assert names(index.documents(spec(index="logs"))) == ["d1"]
    assert sent(wire)[:2] == [("GET", "/logs/_mapping"), ("POST", "/logs/_pit?keep_alive=5m")]


def test_a_multi_field_is_fetched_by_its_parent_and_filtered_by_itself() -> None:
    at = {"type": "keyword", "fields": {"date": {"type": "date"}}}
    index, wire = index_on(
        mapping(at=at), PIT, page(hit("d1", _source={"at": "2024-05-01"})), CLOSED
    )
    since = datetime(2024, 1, 1, tzinfo=timezone.utc)
    [found] = index.documents(spec(updated_field="at.date"), since)
    assert isinstance(found, Document)
    assert found.updated_at == datetime(2024, 5, 1, tzinfo=timezone.utc)
    assert searches(wire)[0]["_source"] == ["body", "at"]
    assert list(searches(wire)[0]["query"]["range"]) == ["at.date"]


# ------------------------------------------------------------------ several records of one id


def test_one_id_in_two_indices_is_named_once_and_never_merged() -> None:
    twice = [hit("d1", "kb-1"), hit("d1", "kb-2")]
    index, wire = index_on(
        mapping("kb-1", "kb-2"),
        PIT,
        page(*twice, hit("d2", "kb-2")),
        page(*twice, hit("d2")),
        CLOSED,
    )
    found = list(index.documents(spec(index="kb-*")))
    assert names(found) == ["d1", "d2"]
    assert found[0] == Unreadable(
        external_id="d1", reason="2 records have this id: kb-1/d1, kb-2/d1", access=("*",)
    )
    assert searches(wire)[1]["query"] == {"ids": {"values": ["d1", "d2"]}}
    assert searches(wire)[1]["_source"] is False


@pytest.mark.parametrize("by", ["listing", "fetch"])
def test_of_several_records_only_who_may_read_all_of_them_may_read_on(by: str) -> None:
    twice = [
        hit("d1", "kb-1", _source={"groups": ["drivers", "staff"]}),
        hit("d1", "kb-2", _source={"groups": ["bosses", "staff"]}),
    ]
    pages = [page(*twice), page(*twice)] if by == "listing" else [page(*twice)]
    index, wire = index_on(mapping("kb-1", "kb-2", groups={"type": "keyword"}), PIT, *pages, CLOSED)
    one = spec(index="kb-*", access="field", access_field="groups")
    [found] = index.documents(one) if by == "listing" else index.fetch(one, ["d1"]).values()
    assert isinstance(found, Unreadable)
    assert found.access == ("staff",)
    assert "groups" in searches(wire)[-1]["_source"]


def test_one_value_of_an_id_field_in_several_records_is_named() -> None:
    hits = [hit(f"d{n}", _source={"no": "K"}) for n in range(5)]
    index, wire = index_on(mapping(), PIT, page(hits[0]), page(*hits), CLOSED)
    [found] = index.documents(spec(id_field="no"))
    assert isinstance(found, Unreadable)
    assert found.reason == "5 records have this id: kb/d0, kb/d1, kb/d2 and 2 more"
    assert searches(wire)[1]["query"] == {"terms": {"no": ["K"]}}


def test_a_normalized_keyword_does_not_take_other_ids_for_the_same() -> None:
    answer = page(hit("d1", _source={"no": "K"}), hit("d2", _source={"no": "k"}))
    index, _ = index_on(mapping(), PIT, page(hit("d1", _source={"no": "K"})), answer, CLOSED)
    [found] = index.documents(spec(id_field="no"))
    assert isinstance(found, Document)


# ------------------------------------------------------------------ nothing incomplete


EXPIRED = failure(
    "search_phase_execution_exception",
    "all shards failed",
    404,
    failed_shards=[{"reason": {"type": "search_context_missing_exception"}}],
)
FAILED_SHARD = page(hit("d1"), _shards={"total": 2, "successful": 1, "failed": 1})


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize(
    ("last", "error", "told"),
    [
        (EXPIRED, StoreTimeout, "the point in time expired"),
        (FAILED_SHARD, StoreTimeout, "1 of 2 shards failed"),
        (page(hit("d3"), timed_out=True), StoreTimeout, "timed out: True"),
        (page(total=-1), StoreTimeout, "2 of 3 records came back"),
        (failure("x", "busy", 503), StoreUnavailable, "busy"),
        (
            failure("security_exception", "no", 403),
            StoreRefused,
            "`read` and `view_index_metadata`",
        ),
    ],
)
@pytest.mark.parametrize("listing", ["documents", "ids"])
def test_what_is_not_complete_is_an_error(
    listing: str, last: Any, error: type[StoreError], told: str
) -> None:
    index, wire = index_on(mapping(), PIT, page(hit("d1"), hit("d2"), total=3), last, CLOSED)
    with pytest.raises(error) as raised:
        list(getattr(index, listing)(spec()))
    assert told in str(raised.value)
    assert sent(wire)[-1] == ("DELETE", "/_pit")


@pytest.mark.parametrize("listing", ["documents", "ids"])
@pytest.mark.parametrize(
    "answers",
    [
        [(200, {})],
        [NOT_THERE],
        [mapping(), NOT_THERE],
        [mapping(), PIT, page(_shards={"total": 0, "failed": 0}), CLOSED],
    ],
)
def test_an_index_that_is_gone_is_an_error_and_no_empty_listing(
    listing: str, answers: list[Any]
) -> None:
    index, _ = index_on(*answers)
    with pytest.raises(MissingIndex, match="has no index 'kb', or none that may be read"):
        list(getattr(index, listing)(spec()))


def test_a_listing_that_is_broken_off_frees_its_point_in_time() -> None:
    index, wire = index_on(mapping(), PIT, page(hit("d1"), hit("d2")), CLOSED)
    listing = index.documents(spec())
    next(iter(listing))
    listing.close()  # type: ignore[attr-defined]
    assert sent(wire)[-1] == ("DELETE", "/_pit")


def test_a_point_in_time_that_cannot_be_freed_hides_nothing() -> None:
    index, _ = index_on(mapping(), PIT, page(hit("d1")), failure("x", "y", 500))
    assert names(index.documents(spec())) == ["d1"]
