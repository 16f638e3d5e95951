"""Sources and registry listings on a scripted wire."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from resin_es.adapters.elasticsearch.listing import ElasticsearchListing, briefs_query
from resin_es.adapters.elasticsearch.sources import (
    ElasticsearchSources,
    source_from,
    source_id,
    source_record,
)
from resin_es.errors import StoreConflict, StoreTimeout
from resin_es.model import DocumentStatus, Guard, StageError
from resin_es.model.source import Source, SourceSpec, SourceState
from resin_es.ports.sync import EntryBrief
from resin_es.testing.wire import SETTINGS, Wire, failure

NOW = datetime(2024, 5, 1, 10, 0, 0, 123456, tzinfo=timezone.utc)
SPEC = SourceSpec(name="kb/é 😀", index="kb-*", text_fields=("body",), access="public")
SOURCE = Source(
    spec=SPEC,
    state=SourceState(
        paused=True,
        watermark=NOW,
        synced_at=NOW,
        lease="l",
        heartbeat=NOW,
        error=StageError(stage="sync", type="StoreTimeout", message="m"),
    ),
    created_at=NOW,
)
WRITTEN = (200, {"_seq_no": 4, "_primary_term": 2, "result": "updated"})


def stored(source: Source, **fields: Any) -> dict[str, Any]:
    return {
        "_index": "resin-sources-v1",
        "_id": source_id(source.spec.name),
        "found": True,
        "_seq_no": 3,
        "_primary_term": 2,
        "_source": source_record(source, NOW),
        **fields,
    }


def test_a_source_is_read_back_as_it_was_kept() -> None:
    assert source_from(source_record(SOURCE, NOW)) == SOURCE
    bare = Source(spec=SPEC)
    assert source_from(source_record(bare, NOW)) == bare


def test_what_can_be_asked_for_stands_in_fields_and_the_rest_in_two_objects() -> None:
    record = source_record(SOURCE, NOW)
    settings, cursor = record.pop("settings"), record.pop("cursor")
    assert record == {
        "name": "kb/é 😀",
        "kind": "elasticsearch",
        "enabled": False,
        "status": "paused",
        "access": "public",
        "lease": "l",
        "heartbeat": "2024-05-01T10:00:00.123456Z",
        "error": {"stage": "sync", "type": "StoreTimeout", "message": "m"},
        "created_at": NOW.isoformat(),
        "updated_at": NOW.isoformat(),
    }
    assert settings == SPEC.model_dump(mode="json")
    assert not {"lease", "heartbeat", "error"} & set(cursor)
    failing = SOURCE.state.model_copy(update={"paused": False})
    assert source_record(Source(spec=SPEC, state=failing), NOW)["status"] == "failing"


def test_a_source_is_read_in_realtime() -> None:
    wire = Wire((200, {"docs": [stored(SOURCE)]}), (200, {"docs": [{"found": False}]}))
    book = ElasticsearchSources(wire.client, SETTINGS)
    found = book.source(SPEC.name)
    assert found is not None
    assert (found.source, found.guard) == (SOURCE, Guard(seq_no=3, primary_term=2))
    assert book.source("other") is None
    method, target, [body] = wire.sent[0]
    assert (method, target) == ("POST", "/_mget?realtime=true")
    wanted = {"_index": "resin-sources", "_id": source_id(SPEC.name), "_source": True}
    assert body == {"docs": [wanted]}


def test_a_new_source_is_created_and_a_known_one_written_under_its_guard() -> None:
    wire = Wire(WRITTEN, WRITTEN)
    book = ElasticsearchSources(wire.client, SETTINGS)
    assert book.put_source(SOURCE, None) == Guard(seq_no=4, primary_term=2)
    book.put_source(SOURCE, Guard(seq_no=3, primary_term=2))
    path = f"/resin-sources/_doc/{source_id(SPEC.name)}"
    assert [target for _, target, _ in wire.sent] == [
        f"{path}?op_type=create&require_alias=true",
        f"{path}?if_primary_term=2&if_seq_no=3&require_alias=true",
    ]


@pytest.mark.parametrize(
    ("guard", "told"),
    [(None, "exists already"), (Guard(seq_no=1, primary_term=1), "changed by somebody else")],
)
def test_a_write_that_lost_says_so(guard: Guard | None, told: str) -> None:
    wire = Wire(failure("version_conflict_engine_exception", "conflict", 409))
    with pytest.raises(StoreConflict, match=told):
        ElasticsearchSources(wire.client, SETTINGS).put_source(SOURCE, guard)


def test_a_source_that_is_gone_is_removed_without_complaint() -> None:
    wire = Wire((404, {"result": "not_found"}))
    ElasticsearchSources(wire.client, SETTINGS).remove_source(SPEC.name)
    assert wire.sent[0][:2] == ("DELETE", f"/resin-sources/_doc/{source_id(SPEC.name)}")


def test_sources_are_listed_by_name_after_a_refresh() -> None:
    other = Source(spec=SPEC.model_copy(update={"name": "a"}))
    wire = Wire(
        (200, {"_shards": {"failed": 0}}),
        (200, {"id": "p"}),
        listing(stored(SOURCE, sort=[1]), stored(other, sort=[2]), total=2),
        listing(),
        (200, {}),
    )
    found = ElasticsearchSources(wire.client, SETTINGS).sources()
    assert [one.source for one in found] == [other, SOURCE]
    assert wire.sent[0][1] == "/resin-sources/_refresh"
    assert wire.sent[2][2][0]["query"] == {"term": {"kind": "elasticsearch"}}


# ------------------------------------------------------------------ listings


def listing(*hits: dict[str, Any], total: int = 0, failed: int = 0) -> tuple[int, Any]:
    shards = {"total": 1, "failed": failed}
    return 200, {"_shards": shards, "hits": {"total": {"value": total}, "hits": list(hits)}}


def test_entries_are_listed_by_doc_values_and_nothing_heavy_is_fetched() -> None:
    fields = {
        "key": ["k"],
        "document_id": ["d/1 é"],
        "source": ["kb"],
        "status": ["pending"],
        "attempts": [2],
        "not_before": ["2024-05-01T10:00:00.000Z"],
        "settled": [False],
        "committed_version": ["v"],
    }
    bare = {"key": ["l"], "document_id": ["e"], "source": ["kb"], "status": ["working"]}
    hits = [{"_id": "k", "sort": [1], "fields": fields}, {"_id": "l", "sort": [2], "fields": bare}]
    wire = Wire((200, {"id": "p"}), listing(*hits, total=2), listing(), (200, {}))
    found = list(ElasticsearchListing(wire.client, SETTINGS).briefs("kb"))
    assert found == [
        EntryBrief(
            key="k",
            external_id="d/1 é",
            source="kb",
            status=DocumentStatus.PENDING,
            attempts=2,
            not_before=datetime(2024, 5, 1, 10, tzinfo=timezone.utc),
            settled=False,
            committed=True,
            outdated=True,
        ),
        EntryBrief(key="l", external_id="e", source="kb", status=DocumentStatus.WORKING),
    ]
    body = wire.sent[1][2][0]
    assert body["_source"] is False
    assert not {"text", "title", "passages", "metadata"} & set(body["docvalue_fields"])


def test_a_committed_version_that_is_empty_is_none() -> None:
    fields = {
        "key": ["k"],
        "document_id": ["d"],
        "source": ["kb"],
        "status": ["pending"],
        "committed_version": [""],
    }
    hit = {"_id": "k", "sort": [1], "fields": fields}
    wire = Wire((200, {"id": "p"}), listing(hit, total=1), (200, {}))
    assert [one.committed for one in ElasticsearchListing(wire.client, SETTINGS).briefs()] == [
        False
    ]


@pytest.mark.parametrize(
    ("source", "statuses", "unsettled", "query"),
    [
        (None, [], False, {"match_all": {}}),
        (None, [], True, {"match_all": {}}),
        ("kb", [], False, {"bool": {"filter": [{"term": {"source": "kb"}}]}}),
        (
            "kb",
            [DocumentStatus.PENDING, DocumentStatus.WORKING],
            True,
            {
                "bool": {
                    "filter": [
                        {"term": {"source": "kb"}},
                        {
                            "bool": {
                                "should": [
                                    {"terms": {"status": ["pending", "working"]}},
                                    {"term": {"settled": False}},
                                ],
                                "minimum_should_match": 1,
                            }
                        },
                    ]
                }
            },
        ),
        (
            None,
            [DocumentStatus.FAILED],
            False,
            {
                "bool": {
                    "filter": [
                        {
                            "bool": {
                                "should": [{"terms": {"status": ["failed"]}}],
                                "minimum_should_match": 1,
                            }
                        }
                    ]
                }
            },
        ),
    ],
)
def test_which_entries_are_listed(
    source: str | None, statuses: list[DocumentStatus], unsettled: bool, query: dict[str, Any]
) -> None:
    assert briefs_query(source, statuses, unsettled=unsettled) == query


def test_a_listing_in_part_is_an_error() -> None:
    wire = Wire((200, {"id": "p"}), listing(failed=1), (200, {}))
    with pytest.raises(StoreTimeout):
        list(ElasticsearchListing(wire.client, SETTINGS).briefs())
