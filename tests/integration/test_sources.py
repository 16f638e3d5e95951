"""A team's own indices on a real Elasticsearch: everything is read, and nothing is changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime, timezone
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from elasticsearch import helpers

from resin_es.adapters.elasticsearch import foreign_pages
from resin_es.adapters.elasticsearch.foreign import ElasticsearchIndex
from resin_es.errors import InputError, StoreError, StoreTimeout
from resin_es.model import Document
from resin_es.model.source import SourceSpec
from resin_es.ports.sync import Unreadable

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

MAPPING = {
    "title": {"type": "text"},
    "body": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 8}}},
    "parts": {"type": "nested", "properties": {"text": {"type": "text"}}},
    "meta": {"properties": {"lang": {"type": "keyword"}}},
    "labels": {"type": "flattened"},
    "heading": {"type": "alias", "path": "title"},
    "no": {"type": "keyword", "ignore_above": 16},
    "groups": {"type": "keyword"},
    "changed": {"type": "date"},
    "when": {"type": "date", "format": "yyyy/MM/dd HH:mm:ss||epoch_millis"},
    "secret": {"type": "keyword"},
}
HARD_IDS = ("a/b/c", "two words", "é😀", "x?y=1&z#2", "100%", '"quoted"', "_under", "0", "a" * 512)
MAY = datetime(2024, 5, 1, 10, tzinfo=timezone.utc)

Fill = Callable[..., None]


def checksum(es: Elasticsearch, index: str) -> str:
    """Of everything an index holds: records with versions and sequence numbers, mapping,
    settings, aliases."""
    es.indices.refresh(index=index)
    found = helpers.scan(es, index=index, query={"version": True, "seq_no_primary_term": True})
    kept = ("_index", "_id", "_version", "_seq_no", "_primary_term", "_source")
    records = sorted(json.dumps({name: hit.get(name) for name in kept}) for hit in found)
    whole = json.dumps([records, es.indices.get(index=index).body], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


@pytest.fixture
def fill(es: Elasticsearch, prefix: str) -> Fill:
    """``fill(name, {id: record})``: an index of three shards."""

    def filled(name: str, records: dict[str, Any], **actions: Any) -> None:
        index = f"{prefix}-{name}"
        if not es.indices.exists(index=index):
            es.indices.create(
                index=index,
                mappings={"properties": MAPPING},
                settings={"number_of_shards": 3, "number_of_replicas": 0},
            )
        lines = [
            {"_index": index, "_id": one, "_source": record, **actions}
            for one, record in records.items()
        ]
        helpers.bulk(es, lines, refresh=True)

    return filled


@pytest.fixture
def index(es: Elasticsearch) -> ElasticsearchIndex:
    return ElasticsearchIndex(es)


def a_spec(name: str, **fields: Any) -> SourceSpec:
    given = {"name": "s", "index": name, "text_fields": ["body"], "access": "public"}
    return SourceSpec.model_validate({**given, **fields})


def read(index: ElasticsearchIndex, spec: SourceSpec, *args: Any) -> dict[str, Document]:
    found = list(index.documents(spec, *args))
    documents = {one.external_id: one for one in found if isinstance(one, Document)}
    assert len(documents) == len(found), "an unreadable or repeated document"
    return documents


def test_a_whole_record_is_read_and_what_was_not_named_stays_behind(
    index: ElasticsearchIndex, fill: Fill, prefix: str
) -> None:
    record = {
        "title": "T",
        "body": ["one", "two"],
        "parts": [{"text": "p1"}, {"text": ["p2", "p3"]}, {}],
        "meta.lang": "de",
        "labels": {"a": {"b": "c"}},
        "groups": ["staff", "board"],
        "changed": "2024-05-01T10:00:00Z",
        "secret": "s3cret",
    }
    fill("kb", {"1": record})
    spec = a_spec(
        f"{prefix}-kb",
        title_field="heading",
        text_fields=["parts.text", "body.raw"],
        updated_field="changed",
        access="field",
        access_field="groups",
        metadata_fields=["meta.lang", "labels.a.b"],
    )
    found = read(index, spec)
    assert found == {
        "1": Document(
            source="s",
            external_id="1",
            title="T",
            text="p1\np2\np3\n\none\ntwo",
            access=("board", "staff"),
            metadata={"meta.lang": "de", "labels.a.b": "c"},
            updated_at=MAY,
        )
    }
    assert index.fetch(spec, ["1"]) == found


def test_hard_ids_are_listed_and_fetched_whatever_the_name_and_the_slices(
    es: Elasticsearch, index: ElasticsearchIndex, fill: Fill, prefix: str
) -> None:
    for number in (1, 2):
        records = {f"{one[:500]}{number}": {"body": f"text {one[:9]}"} for one in HARD_IDS}
        fill(f"kb-{number}", records)
    es.indices.put_alias(index=f"{prefix}-kb-*", name=f"{prefix}-alias")
    names = ("kb-1", "kb-*", f"kb-1,{prefix}-kb-2", "alias")
    for name, slices in product(names, (1, 3)):
        spec = a_spec(f"{prefix}-{name}", slices=slices)
        numbers = (1,) if name == "kb-1" else (1, 2)
        ids = {f"{one[:500]}{number}" for one in HARD_IDS for number in numbers}
        found = read(index, spec)
        assert set(found) == ids
        assert sorted(index.ids(spec)) == sorted(ids)
        assert index.count(spec) == len(ids)
        assert index.fetch(spec, [*ids, "not there"]) == found


def test_slices_and_small_pages_read_every_document_once(
    index: ElasticsearchIndex, fill: Fill, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("FIRST_PAGE", 3), ("MOST_HITS", 7), ("IDS_PAGE", 11)):
        monkeypatch.setattr(foreign_pages, name, size)
    ids = [f"d{number}" for number in range(200)]
    fill("kb", {one: {"body": f"text {one}"} for one in ids})
    for slices in (1, 3, 9):
        spec = a_spec(f"{prefix}-kb", slices=slices)
        assert sorted(read(index, spec)) == sorted(ids)
        assert sorted(index.ids(spec)) == sorted(ids)


def test_documents_of_two_megabytes(es: Elasticsearch, fill: Fill, prefix: str) -> None:
    index = ElasticsearchIndex(es, max_bytes=3_000_000)
    text = "A sentence of middling length stands here. " * 46_600
    for number in range(3):
        fill("kb", {f"d{number}": {"body": text}})
    fill("kb", {"too large": {"body": text * 2}})
    found = {one.external_id: one for one in index.documents(a_spec(f"{prefix}-kb"))}
    large = found.pop("too large")
    assert isinstance(large, Unreadable)
    assert "over RESIN_MAX_DOCUMENT_BYTES" in large.reason
    assert {name: getattr(one, "text", "") == text for name, one in found.items()} == {
        f"d{number}": True for number in range(3)
    }


def test_missing_fields(index: ElasticsearchIndex, fill: Fill, prefix: str) -> None:
    fill("kb", {"none": {}, "null": {"body": None, "groups": None}, "full": {"body": "x"}})
    spec = a_spec(
        f"{prefix}-kb",
        title_field="title",
        updated_field="changed",
        access="field",
        access_field="groups",
    )
    found = read(index, spec)
    assert {name: one.text for name, one in found.items()} == {"none": "", "null": "", "full": "x"}
    assert {one.access for one in found.values()} == {()}
    assert {one.updated_at for one in found.values()} == {None}
    assert index.lacking(spec, "body") == 2
    assert index.lacking(spec, "groups") == 3


def test_changes_since_a_moment(index: ElasticsearchIndex, fill: Fill, prefix: str) -> None:
    dates = {
        "before": "2024-05-01T09:59:59.999Z",
        "at": "2024-05-01T12:00:00+02:00",
        "after": 1714557600001,
        "never": None,
    }
    fill("kb", {name: {"body": "x", "changed": value} for name, value in dates.items()})
    spec = a_spec(f"{prefix}-kb", updated_field="changed")
    assert sorted(read(index, spec, MAY)) == ["after", "at"]
    assert index.count(spec, MAY) == 2
    assert index.lacking(spec, "changed") == 1
    assert read(index, spec)["at"].updated_at == MAY


def test_a_date_field_with_a_format_of_its_own(
    index: ElasticsearchIndex, fill: Fill, prefix: str
) -> None:
    fill("kb", {"a": {"when": "2024/05/01 10:00:00"}, "b": {"when": "2024/04/30 10:00:00"}})
    spec = a_spec(f"{prefix}-kb", updated_field="when")
    assert {one: doc.updated_at for one, doc in read(index, spec, MAY).items()} == {"a": MAY}


def test_an_id_field(index: ElasticsearchIndex, fill: Fill, prefix: str) -> None:
    long = "K" * 17
    fill("kb", {"1": {"no": "K/1", "body": "one"}, "2": {"no": long, "body": "two"}})
    spec = a_spec(f"{prefix}-kb", id_field="no")
    unfindable = Unreadable(
        external_id=long,
        reason="no has 17 characters, over the field's ignore_above (16): by it no record is found",
    )
    one, two = sorted(index.documents(spec), key=lambda one: len(one.external_id))
    assert isinstance(one, Document)
    assert (one.external_id, one.text) == ("K/1", "one")
    assert two == unfindable
    assert sorted(index.ids(spec)) == ["K/1", long]
    assert index.fetch(spec, ["K/1", "1", long]) == {"K/1": one, long: unfindable}


def test_one_id_in_two_indices_is_named(index: ElasticsearchIndex, fill: Fill, prefix: str) -> None:
    fill("kb-1", {"same": {"body": "one", "acl": ["x", "y"]}, "a": {"body": "x", "acl": "x"}})
    fill("kb-2", {"same": {"body": "two", "acl": ["y", "z"]}, "b": {"body": "y", "acl": "x"}})
    spec = a_spec(f"{prefix}-kb-*", access="field", access_field="acl")
    found = {one.external_id: one for one in index.documents(spec)}
    named = found.pop("same")
    reason = f"2 records have this id: {prefix}-kb-1/same, {prefix}-kb-2/same"
    assert named == Unreadable(external_id="same", reason=reason, access=("y",))
    assert sorted(found) == ["a", "b"]
    assert index.fetch(spec, ["same"]) == {"same": named}


def test_a_filtered_alias_shows_what_its_filter_lets_through(
    es: Elasticsearch, index: ElasticsearchIndex, fill: Fill, prefix: str
) -> None:
    fill("kb", {"mine": {"body": "x", "no": "1"}, "theirs": {"body": "y", "no": "2"}})
    es.indices.put_alias(index=f"{prefix}-kb", name=f"{prefix}-a", filter={"term": {"no": "1"}})
    spec = a_spec(f"{prefix}-a")
    assert list(read(index, spec)) == list(index.ids(spec)) == ["mine"]
    assert list(index.fetch(spec, ["mine", "theirs"])) == ["mine"]


def test_records_with_a_routing_of_their_own(
    index: ElasticsearchIndex, fill: Fill, prefix: str
) -> None:
    ids = [f"d{number}" for number in range(9)]
    fill("kb", {one: {"body": one} for one in ids}, routing="elsewhere")
    spec = a_spec(f"{prefix}-kb")
    assert sorted(read(index, spec)) == ids
    assert sorted(index.fetch(spec, ids)) == ids


def test_a_fetch_sees_what_no_search_sees_yet(
    es: Elasticsearch, index: ElasticsearchIndex, fill: Fill, prefix: str
) -> None:
    name = f"{prefix}-kb"
    fill("kb", {"edited": {"body": "old"}, "deleted": {"body": "old"}})
    es.indices.put_settings(index=name, settings={"refresh_interval": -1})
    es.index(index=name, id="edited", document={"body": "new"})
    es.index(index=name, id="added", document={"body": "new"})
    es.delete(index=name, id="deleted")
    found = index.fetch(a_spec(name), ["edited", "added", "deleted"])
    assert {one: getattr(doc, "text", doc) for one, doc in found.items()} == {
        "edited": "new",
        "added": "new",
    }


# ------------------------------------------------------------------ nothing incomplete


@pytest.fixture
def opened(es: Elasticsearch, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Points in time that were opened; pages are small."""
    for name in ("FIRST_PAGE", "MOST_HITS", "IDS_PAGE"):
        monkeypatch.setattr(foreign_pages, name, 2)
    ids: list[str] = []
    open_pit = es.open_point_in_time

    def opening(**options: Any) -> Any:
        answer = open_pit(**options)
        ids.append(answer["id"])
        return answer

    monkeypatch.setattr(es, "open_point_in_time", opening)
    return ids


def test_an_expired_point_in_time_is_an_error(
    es: Elasticsearch, index: ElasticsearchIndex, fill: Fill, prefix: str, opened: list[str]
) -> None:
    fill("kb", {f"d{number}": {"body": "x"} for number in range(40)})
    for method, slices in product((index.documents, index.ids), (1, 3)):
        listing = iter(method(a_spec(f"{prefix}-kb", slices=slices)))
        next(listing)
        es.close_point_in_time(id=opened[-1])
        with pytest.raises(StoreTimeout, match="point in time expired"):
            list(listing)


@pytest.mark.parametrize("method", ["documents", "ids"])
def test_an_index_that_is_deleted_while_it_is_listed_is_an_error(
    es: Elasticsearch,
    index: ElasticsearchIndex,
    fill: Fill,
    prefix: str,
    opened: list[str],
    method: str,
) -> None:
    fill("kb", {f"d{number}": {"body": "x"} for number in range(40)})
    listing = iter(getattr(index, method)(a_spec(f"{prefix}-kb", slices=3)))
    next(listing)
    es.indices.delete(index=f"{prefix}-kb")
    with pytest.raises(StoreError):
        list(listing)


@pytest.mark.parametrize("name", ["none", "none-*"])
def test_an_index_that_is_not_there_is_an_error_and_no_empty_listing(
    index: ElasticsearchIndex, fill: Fill, prefix: str, name: str
) -> None:
    fill("nine", {"1": {"body": "x"}})
    spec = a_spec(f"{prefix}-{name}")
    for ask in (index.documents, index.ids):
        with pytest.raises(StoreError, match="has no index"):
            list(ask(spec))
    with pytest.raises(StoreError, match="has no index"):
        index.count(spec)
    with pytest.raises(InputError, match=f"did you mean '{prefix}-nine'"):
        index.fields(spec.index)


# ------------------------------------------------------------------ nothing changed


def test_a_teams_index_is_byte_for_byte_what_it_was(
    es: Elasticsearch, index: ElasticsearchIndex, fill: Fill, prefix: str
) -> None:
    records = {f"d/{n} é😀": {"body": f"text {n}", "changed": MAY.isoformat()} for n in range(120)}
    fill("kb", records)
    before = checksum(es, f"{prefix}-kb")
    spec = a_spec(f"{prefix}-kb*", updated_field="changed", slices=3)
    index.fields(spec.index)
    assert index.count(spec) == len(read(index, spec)) == len(list(index.ids(spec))) == 120
    index.fetch(spec, list(records))
    index.fetch(a_spec(f"{prefix}-kb"), list(records))
    index.lacking(spec, "body")
    assert checksum(es, f"{prefix}-kb") == before
    es.index(index=f"{prefix}-kb", id="d/1 é😀", document=records["d/1 é😀"])
    assert checksum(es, f"{prefix}-kb") != before
