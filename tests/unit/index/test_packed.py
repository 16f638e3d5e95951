from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from resin_es.index.packed import BRINGS, PACKED, packed_search, packs, stored, unpacked
from resin_es.index.records import rights_fields
from resin_es.query.hop import ADDRESS_SOURCE, hop_body
from resin_es.query.settings import QuerySettings
from resin_es.testing.records import sample

META = {"packed": 1}
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)
BODIES = st.fixed_dictionaries(
    {"statement": TEXTS, "sentence_ids": st.lists(TEXTS)},
    optional={"subject": TEXTS, "aliases": st.lists(TEXTS), "title": TEXTS, "access": st.just([])},
)


def hit(body: dict[str, Any]) -> dict[str, Any]:
    """A hit as Elasticsearch brings it by doc values."""
    values = {"packed": [body["packed"]]} if "packed" in body else {}
    return {"fields": {**values, "title.exact": [body.get("title", "")]}}


@given(st.lists(st.tuples(TEXTS, BODIES), max_size=5))
def test_what_was_packed_comes_back_with_the_id_and_the_title(
    records: list[tuple[str, dict[str, Any]]],
) -> None:
    hits = [hit(stored(META, name, body)) for name, body in records]
    for source, (name, body) in zip(unpacked(hits), records, strict=True):
        brought = {field: body.get(field) or "" for field in BRINGS}
        assert {field: source.get(field) or "" for field in BRINGS} == {
            **brought,
            "title": body.get("title", ""),
        }
        assert source["_id"] == name


def test_only_what_no_update_changes_is_packed() -> None:
    one = sample(subject="Ferry")
    (unit, *_) = one.addresses
    held = json.loads(b64decode(stored(META, unit.id, unit.body)["packed"]))
    assert held.keys() <= {"_id", *PACKED}
    assert held.keys().isdisjoint({*rights_fields(one.entry), "title", "vector"})
    assert held["subject"] == "Ferry"


def test_an_index_without_the_field_gets_none() -> None:
    given = {"statement": "a", "packed": "from another generation"}
    assert stored({}, "a", given) == {"statement": "a"}
    assert not packs({"packed": 2})


def test_a_broken_character_does_not_stop_the_batch() -> None:
    (source,) = unpacked([hit(stored(META, "a", {"statement": "half \ud83d"}))])
    assert source["statement"] == "half ?"


def test_a_hop_is_read_by_doc_values_alone() -> None:
    body = hop_body("ferry", [0.5], [{"term": {"access": "*"}}], QuerySettings())
    sent = packed_search(body)
    assert {name: value for name, value in sent.items() if body.get(name) != value} == {
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["packed", "title.exact"],
    }
    assert {name: sent[name] for name in body if name != "_source"} == {
        name: body[name] for name in body if name != "_source"
    }
    assert set(ADDRESS_SOURCE) == BRINGS


def test_a_search_that_wants_more_stays_as_it_is() -> None:
    for wanted in (["statement", "metadata"], False, True):
        body = {"query": {"match_all": {}}, "_source": wanted}
        assert packed_search(body) is body
    assert packed_search({"query": {}}) == {"query": {}}


def test_a_record_without_the_field_has_no_id() -> None:
    whole, bare = unpacked([hit(stored(META, "a", {"statement": "b"})), hit({"title": "t"})])
    assert (whole["_id"], bare) == ("a", {})
