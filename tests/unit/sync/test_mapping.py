"""Records of a team's index → documents: joined, dated, owned, or named with a reason."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.model import Document
from resin_es.model.source import SourceSpec
from resin_es.ports.sync import Unreadable
from resin_es.sync.mapping import document_from, external_id, values

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "c", "a.b", "b.c", ""]), inner, max_size=3)
    ),
    max_leaves=12,
)
PUBLIC = {"name": "s", "index": "kb", "text_fields": ["body"], "access": "public"}
BY_FIELD = {**PUBLIC, "access": "field", "access_field": "groups"}


def spec(**fields: Any) -> SourceSpec:
    return SourceSpec.model_validate({**PUBLIC, **fields})


def read(record: Any, max_bytes: int = 1_000, **fields: Any) -> Document | Unreadable:
    read_at = fields.pop("read_at", None)
    hit = {"_index": "kb", "_id": fields.pop("_id", "1"), "_source": record}
    return document_from(spec(**fields), hit, max_bytes=max_bytes, read_at=read_at)


def document(record: Any, **fields: Any) -> Document:
    found = read(record, **fields)
    assert isinstance(found, Document), found
    return found


def refused(record: Any, **fields: Any) -> str:
    found = read(record, **fields)
    assert isinstance(found, Unreadable), found
    return found.reason


# ------------------------------------------------------------------ values by path


@pytest.mark.parametrize(
    ("record", "path", "found"),
    [
        ({"a": 1}, "a", [1]),
        ({"a": {"b": 1}}, "a.b", [1]),
        ({"a.b": 1}, "a.b", [1]),
        ({"a": {"b.c": 1}}, "a.b.c", [1]),
        ({"a.b": {"c": 1}}, "a.b.c", [1]),
        ({"a": [{"b": 1}, {"b": [2, 3]}, {"c": 9}, {"b": 4}]}, "a.b", [1, 2, 3, 4]),
        ({"a": [[1, [2]], 3]}, "a", [1, 2, 3]),
        ({"a": None}, "a", []),
        ({"a": [None, 1]}, "a", [1]),
        ({}, "a", []),
        (None, "a", []),
        ({"a": 1}, "a.b", []),
        ({"a": 0, "b": 2}, "a", [0]),
        ({"a": {"b": 1}}, "a", [{"b": 1}]),
    ],
)
def test_values_stand_at_dotted_paths(record: Any, path: str, found: list[Any]) -> None:
    assert list(values(record, path)) == found


@given(JSON, st.sampled_from(["a", "a.b", "a.b.c", "c", "b.c"]))
def test_any_record_has_values_that_are_no_lists_and_not_null(record: Any, path: str) -> None:
    assert all(one is not None and not isinstance(one, list) for one in values(record, path))


def test_lists_nested_thousands_deep_are_gone_through() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    assert list(values({"a": deep}, "a")) == ["x"]


# ------------------------------------------------------------------ text and title


def test_text_fields_are_paragraphs_in_the_given_order_and_list_values_lines() -> None:
    record = {"body": ["one", "two"], "summary": "first", "notes": [{"t": "x"}, {"t": ["y", "z"]}]}
    found = document(record, text_fields=["summary", "body", "notes.t", "absent"])
    assert found.text == "first\n\none\ntwo\n\nx\ny\nz"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12, "12"),
        (1.5, "1.5"),
        (True, "true"),
        (["a", " ", None, "b"], "a\nb"),
        ({"an": "object"}, ""),
        ([{"an": "object"}, "words"], "words"),
        (None, ""),
        ("  kept as it is\n", "  kept as it is\n"),
    ],
)
def test_what_is_no_string_is_written_as_one_and_objects_say_nothing(value: Any, text: str) -> None:
    assert document({"body": value}).text == text


def test_without_text_it_is_a_document_with_empty_text() -> None:
    assert document({}).text == ""


def test_a_title_is_one_line() -> None:
    assert document({"t": ["A", "B"]}, title_field="t").title == "A B"


def test_a_multi_field_is_read_from_its_parent_and_an_alias_from_its_target() -> None:
    places = {"body.raw": "body", "heading": "meta.title"}
    record = {"body": "words", "meta": {"title": "T"}}
    found = document(record, text_fields=["body.raw"], title_field="heading", read_at=places)
    assert (found.title, found.text) == ("T", "words")


def test_a_document_over_the_limit_is_named_with_its_size() -> None:
    assert document({"body": "x" * 100}, max_bytes=100).text == "x" * 100
    told = refused({"body": "é" * 51}, max_bytes=100)
    assert told == "title and text have 102 bytes, over RESIN_MAX_DOCUMENT_BYTES (100)"


def test_two_megabytes_are_read() -> None:
    text = "A sentence of some length. " * 80_000
    assert document({"body": text}, max_bytes=10_000_000).text == text


def test_half_a_surrogate_pair_is_named() -> None:
    assert "surrogate" in refused({"body": "a\ud800b"})
    assert "surrogate" in refused({"body": "x", "m": {"k": "\ud800"}}, metadata_fields=["m"])


def test_an_index_without_source_is_named() -> None:
    found = document_from(spec(), {"_index": "kb", "_id": "1"}, max_bytes=10)
    assert isinstance(found, Unreadable)
    assert "keeps no _source" in found.reason


# ------------------------------------------------------------------ ids


@pytest.mark.parametrize(
    "name", ["a/b/c", "two words", " edge ", "é😀", "a" * 512, "0", "..", "%2F"]
)
def test_any_id_is_kept_as_it_is(name: str) -> None:
    assert document({"body": "x"}, _id=name).external_id == name


def test_an_id_field_gives_the_id() -> None:
    assert document({"no": 7, "body": "x"}, id_field="no").external_id == "7"
    assert document({"no": ["K/1"], "body": "x"}, id_field="no").external_id == "K/1"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "no holds no values"),
        (["a", "b"], "no holds 2 values"),
        (" ", "no is empty"),
        ("x" * 2_049, "2,049 characters"),
        ("\ud800", "surrogate"),
        ({"an": "object"}, "no holds no values"),
    ],
)
def test_an_id_field_that_gives_no_id_is_named_under_the_records_own(
    value: Any, reason: str
) -> None:
    found = read({"no": value}, id_field="no", _id="r/1")
    assert isinstance(found, Unreadable)
    assert found.external_id == "r/1"
    assert reason in found.reason
    assert external_id(spec(id_field="no"), {"_id": "r/1", "_source": {"no": value}}) is None


def test_what_is_unreadable_is_named_under_its_id() -> None:
    found = read({"no": "K1", "at": "soon"}, id_field="no", updated_field="at", access="private")
    assert found == Unreadable(
        external_id="K1", reason='at is "soon", not a date that can be read', access=()
    )


# ------------------------------------------------------------------ rights


@pytest.mark.parametrize(
    ("value", "groups"),
    [
        ("staff", ("staff",)),
        (["b", "a", "a"], ("a", "b")),
        ([" staff ", ""], ("staff",)),
        (7, ("7",)),
        ("*", ("*",)),
        (None, ()),
        ([], ()),
        ("", ()),
        (True, ()),
        (1.5, ()),
        ({"name": "staff"}, ()),
        ("x" * 257, ()),
        ("\ud800", ()),
    ],
)
def test_groups_are_read_and_what_is_none_lets_nobody_in(
    value: Any, groups: tuple[str, ...]
) -> None:
    assert document({"groups": value}, **BY_FIELD).access == groups


def test_without_the_access_field_nobody_but_an_admin_reads_it() -> None:
    assert document({"body": "x"}, **BY_FIELD).access == ()


def test_groups_in_objects_are_read() -> None:
    record = {"acl": [{"g": "a"}, {"g": ["b", "c"]}]}
    found = document(record, access="field", access_field="acl.g")
    assert found.access == ("a", "b", "c")


def test_what_is_unreadable_says_who_may_read_it_by_now() -> None:
    record = {"body": "x" * 2_000, "groups": ["b", "a"]}
    assert read(record, **BY_FIELD) == Unreadable(
        external_id="1",
        reason="title and text have 2,000 bytes, over RESIN_MAX_DOCUMENT_BYTES (1,000)",
        access=("a", "b"),
    )
    found = document_from(spec(**BY_FIELD), {"_index": "kb", "_id": "1"}, max_bytes=10)
    assert isinstance(found, Unreadable)
    assert found.access is None


def test_a_public_source_is_for_everyone_and_a_private_one_for_nobody() -> None:
    assert document({"groups": "x"}).access == ("*",)
    assert document({"groups": "*"}, access="private").access == ()


@given(JSON)
def test_no_value_makes_a_document_public_but_the_star(value: Any) -> None:
    def strings(one: Any) -> list[str]:
        if isinstance(one, list):
            return [text for inner in one for text in strings(inner)]
        return [str(one).strip()]

    found = read({"groups": value}, **BY_FIELD)
    assert isinstance(found, Document)
    assert set(found.access) <= set(strings(value))


# ------------------------------------------------------------------ the rest


def test_metadata_stands_under_its_dotted_name() -> None:
    record = {"product": {"name": "P"}, "lang": ["de", "en"], "n": 3, "labels": {"a": 1}}
    names = ["product.name", "lang", "n", "labels", "absent"]
    assert document(record, metadata_fields=names).metadata == {
        "product.name": "P",
        "lang": ["de", "en"],
        "n": 3,
        "labels": {"a": 1},
    }


def test_metadata_over_the_limit_is_named() -> None:
    assert "metadata and url have" in refused({"m": "x" * 2_000}, metadata_fields=["m"])


def test_the_first_url_is_taken() -> None:
    assert document({"u": ["https://a", "https://b"]}, url_field="u").url == "https://a"
    assert document({}, url_field="u").url is None


def test_the_newest_date_counts() -> None:
    record = {"at": ["2024-05-01", "", "2024-06-01T10:00:00+02:00"]}
    found = document(record, updated_field="at")
    assert found.updated_at == datetime(2024, 6, 1, 8, tzinfo=timezone.utc)
    assert document({"at": ""}, updated_field="at").updated_at is None


@given(JSON)
def test_every_record_makes_a_document_or_says_why_not(record: Any) -> None:
    fields = {
        "id_field": "a",
        "title_field": "b",
        "text_fields": ["a.b", "c"],
        "updated_field": "c",
        "access": "field",
        "access_field": "b.c",
        "metadata_fields": ["a", "b"],
        "url_field": "c",
    }
    found = read(record, **fields)
    assert isinstance(found, Document) or found.reason
