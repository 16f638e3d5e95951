"""Single documents of a team's index, and what is known of the index, on a scripted wire."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.adapters.elasticsearch.foreign_pages import MissingIndex, next_size
from resin_es.adapters.elasticsearch.foreign_requests import mapped
from resin_es.errors import (
    InputError,
    StoreRejected,
    StoreTimeout,
)
from resin_es.ports.sync import FieldInfo, Unreadable
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

# ------------------------------------------------------------------ fetching


def got(name: str, index: str = "kb", **fields: Any) -> dict[str, Any]:
    return {"_index": index, "_id": name, "found": True, "_source": {"body": name}, **fields}


def test_of_a_concrete_index_documents_are_fetched_in_realtime() -> None:
    index, wire = index_on(mapping(), (200, {"docs": [got("a/b é"), got("b")]}))
    assert sorted(index.fetch(spec(), ["a/b é", "b", "b"])) == ["a/b é", "b"]
    assert sent(wire)[1] == ("POST", "/_mget?realtime=true")
    wanted = {"_index": "kb", "_source": ["body"]}
    assert wire.sent[1][2] == [{"docs": [{**wanted, "_id": "a/b é"}, {**wanted, "_id": "b"}]}]


def test_what_is_gone_is_absent() -> None:
    lost = {"_index": "kb", "_id": "b", "found": False}
    index, _ = index_on(mapping(), (200, {"docs": [got("a"), lost]}), PIT, page(), CLOSED)
    assert sorted(index.fetch(spec(), ["a", "b"])) == ["a"]


def test_what_is_deleted_but_still_searchable_is_absent() -> None:
    lost = {"_index": "kb", "_id": "d1", "found": False}
    index, _ = index_on(mapping(), (200, {"docs": [lost]}), PIT, page(hit("d1")), CLOSED)
    assert index.fetch(spec(), ["d1"]) == {}


def test_a_record_with_a_routing_of_its_own_is_found_by_search() -> None:
    lost = {"_index": "kb", "_id": "d1", "found": False}
    index, _ = index_on(
        mapping(), (200, {"docs": [lost]}), PIT, page(hit("d1", _routing="r")), CLOSED
    )
    assert names(index.fetch(spec(), ["d1"]).values()) == ["d1"]


def test_what_could_not_be_read_is_not_gone() -> None:
    broken = {"_index": "kb", "_id": "a", "error": {"type": "x", "reason": "shard is away"}}
    index, _ = index_on(mapping(), (200, {"docs": [broken]}))
    with pytest.raises(StoreRejected, match="shard is away"):
        index.fetch(spec(), ["a"])


def test_behind_an_alias_documents_are_searched_since_it_may_have_a_filter() -> None:
    index, wire = index_on(mapping("kb-1"), PIT, page(hit("d1", "kb-1")), CLOSED)
    assert names(index.fetch(spec(index="alias"), ["d1", "d2"]).values()) == ["d1"]
    assert searches(wire)[0]["query"] == {"ids": {"values": ["d1", "d2"]}}
    assert searches(wire)[0]["_source"] == ["body"]


def test_by_an_id_field_documents_are_searched_by_terms() -> None:
    answer = page(hit("d1", _source={"no": "K", "body": "x"}))
    index, wire = index_on(mapping(), PIT, answer, CLOSED)
    assert names(index.fetch(spec(id_field="no"), ["K"]).values()) == ["K"]
    assert searches(wire)[0]["query"] == {"terms": {"no": ["K"]}}
    assert searches(wire)[0]["_source"] == ["no", "body"]


def test_what_makes_no_document_is_unreadable_and_does_not_pass_for_gone() -> None:
    large = got("a", _source={"body": "x" * 2_000})
    index, _ = index_on(mapping(), (200, {"docs": [large]}))
    [found] = index.fetch(spec(), ["a"]).values()
    assert isinstance(found, Unreadable)
    index, _ = index_on(
        mapping("kb-1", "kb-2"), PIT, page(hit("d1", "kb-1"), hit("d1", "kb-2")), CLOSED
    )
    [found] = index.fetch(spec(index="kb-*"), ["d1"]).values()
    assert isinstance(found, Unreadable)


def test_many_are_fetched_by_the_hundred() -> None:
    ids = [f"d{n}" for n in range(150)]
    parts = [ids[:100], ids[100:]]
    index, wire = index_on(mapping(), *((200, {"docs": list(map(got, part))}) for part in parts))
    assert sorted(index.fetch(spec(), ids)) == sorted(ids)
    assert [len(lines[0]["docs"]) for _, target, lines in wire.sent if "_mget" in target] == [
        100,
        50,
    ]


# ------------------------------------------------------------------ looking


def test_fields_by_dotted_path_multi_fields_aliases_and_nested_ones() -> None:
    index, _ = index_on(
        mapping(
            body={"type": "text", "fields": {"raw": {"type": "keyword"}}},
            meta={"properties": {"lang": {"type": "keyword"}}},
            parts={"type": "nested", "properties": {"t": {"type": "text"}}},
            other={"type": "alias", "path": "body.raw"},
        )
    )
    assert index.fields("kb") == {
        "body": FieldInfo(type="text"),
        "body.raw": FieldInfo(type="keyword"),
        "no": FieldInfo(type="keyword"),
        "at": FieldInfo(type="date"),
        "meta": FieldInfo(type="object"),
        "meta.lang": FieldInfo(type="keyword"),
        "parts": FieldInfo(type="nested", nested=True),
        "parts.t": FieldInfo(type="text", nested=True),
        "other": FieldInfo(type="keyword"),
    }


def test_where_values_stand_that_are_not_under_their_own_name() -> None:
    properties = {
        "body": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "same": {"type": "alias", "path": "body.raw"},
        "direct": {"type": "alias", "path": "body"},
    }
    found = mapped({"kb": {"mappings": {"properties": properties}}})
    assert found.read_at == {"body.raw": "body", "same": "body", "direct": "body"}


def test_a_field_of_different_types_has_them_all() -> None:
    index, _ = index_on(
        (
            200,
            {
                name: {"mappings": {"properties": {"f": {"type": kind}}}}
                for name, kind in (("a", "date"), ("b", "keyword"), ("c", "date"))
            },
        )
    )
    assert index.fields("*") == {"f": FieldInfo(type="date or keyword")}


@pytest.mark.parametrize("gone", [(200, {}), NOT_THERE])
def test_a_missing_index_is_named_with_the_nearest(gone: Any) -> None:
    known = {"indices": [{"name": "kb-1"}], "aliases": [{"name": "kba"}], "data_streams": []}
    index, wire = index_on(gone, (200, known))
    with pytest.raises(InputError, match=r"no index 'kb-\*?'.*did you mean 'kb-1' or 'kba'"):
        index.fields("kb-*" if gone[0] == 200 else "kb-")
    assert sent(wire)[1] == ("GET", "/_resolve/index/*")


def test_without_the_right_to_look_no_name_is_offered() -> None:
    index, _ = index_on(NOT_THERE, failure("security_exception", "no", 403))
    with pytest.raises(InputError, match="There is no index 'kb', or none that may be read\\."):
        index.fields("kb")


def test_counts_are_of_all_shards_or_an_error() -> None:
    index, wire = index_on((200, {"count": 7, "_shards": {"total": 1, "failed": 0}}))
    assert index.count(spec()) == 7
    assert wire.sent[0][1:] == ("/kb/_count", [{"query": {"match_all": {}}}])
    index, _ = index_on((200, {"count": 7, "_shards": {"total": 2, "failed": 1}}))
    with pytest.raises(StoreTimeout):
        index.count(spec())
    index, _ = index_on((200, {"count": 0, "_shards": {"total": 0, "failed": 0}}))
    with pytest.raises(MissingIndex):
        index.count(spec(index="kb-*"))


def test_what_lacks_all_of_some_fields_is_counted() -> None:
    index, wire = index_on((200, {"count": 7, "_shards": {"total": 1, "failed": 0}}))
    assert index.lacking(spec(), "body", "no") == 7
    lacking = [{"exists": {"field": "body"}}, {"exists": {"field": "no"}}]
    assert wire.sent[0][2] == [{"query": {"bool": {"must_not": lacking}}}]


def test_pages_grow_for_small_documents_and_shrink_for_large_ones() -> None:
    assert next_size([hit("d1")] * 32, 32) == 128
    assert next_size([hit("d1")] * 900, 900) == 1_000
    assert next_size([hit("d1", _source={"body": "x" * 2_000_000})] * 32, 32) == 7
    assert next_size([hit("d1", _source={"body": "x" * 90_000_000})], 32) == 1
