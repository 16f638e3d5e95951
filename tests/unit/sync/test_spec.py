"""What a team says, against its real mapping: every mistake at once, with the nearest names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.errors import InputError
from resin_es.index.names import Names
from resin_es.model.source import SourceSpec
from resin_es.ports.sync import FieldInfo
from resin_es.sync.check import Lacking, warnings_of
from resin_es.sync.spec import MIXED, check_spec, near, own_indices, spec_from

NAMES = Names(prefix="resin")
FIELDS = {
    "title": FieldInfo(type="text"),
    "body": FieldInfo(type="text"),
    "body.raw": FieldInfo(type="keyword"),
    "no": FieldInfo(type="keyword"),
    "number": FieldInfo(type="long"),
    "groups": FieldInfo(type="keyword"),
    "updated_at": FieldInfo(type="date"),
    "meta": FieldInfo(type="object"),
    "meta.title": FieldInfo(type="text"),
    "parts": FieldInfo(type="nested", nested=True),
    "parts.text": FieldInfo(type="text", nested=True),
    "parts.at": FieldInfo(type="date", nested=True),
    "labels": FieldInfo(type="flattened"),
    "when": FieldInfo(type=f"date{MIXED}keyword"),
    "words": FieldInfo(type=f"keyword{MIXED}text"),
    "place": FieldInfo(type="geo_point"),
}
GIVEN = {"name": "kb", "index": "kb-*", "text_fields": ["body"], "access": "public"}


def check(*indices: str, **fields: Any) -> None:
    check_spec(SourceSpec.model_validate({**GIVEN, **fields}), FIELDS, NAMES, indices)


def mistake(*indices: str, **fields: Any) -> str:
    with pytest.raises(InputError) as told:
        check(*indices, **fields)
    return told.value.message


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"id_field": "no"},
        {"id_field": "number"},
        {"text_fields": ["title", "body.raw", "parts.text", "words"]},
        {"title_field": "number"},
        {"updated_field": "updated_at"},
        {"access": "field", "access_field": "groups"},
        {"access": "field", "access_field": "number"},
        {"metadata_fields": ["meta", "parts", "labels", "labels.a.b", "number", "place"]},
        {"url_field": "no"},
        {"text_fields": ["labels.note"]},
    ],
)
def test_what_fits_is_taken(fields: dict[str, Any]) -> None:
    check("kb-1", **fields)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"text_fields": ["bodi"]}, "text_fields: there is no field 'bodi' (did you mean 'body'"),
        ({"title_field": "titel"}, "title_field: there is no field 'titel' (did you mean 'title'"),
        ({"text_fields": ["number"]}, "text_fields: 'number' is long, not keyword or"),
        ({"text_fields": ["meta"]}, "'meta' is an object (object), not a value; its fields: meta."),
        ({"text_fields": ["parts"]}, "its fields: parts.at, parts.text"),
        ({"updated_field": "no"}, "updated_field: 'no' is keyword, not date or date_nanos (such"),
        ({"updated_field": "no"}, "(such are: updated_at)"),
        ({"updated_field": "when"}, "'when' is date or keyword, not date"),
        ({"updated_field": "parts.at"}, "'parts.at' stands in a nested object"),
        ({"updated_field": "labels.at"}, "'labels.at' is a key of a flattened field"),
        ({"id_field": "body"}, "id_field: 'body' is text, not byte or"),
        ({"id_field": "nr"}, "id_field: there is no field 'nr'"),
        ({"access": "field", "access_field": "place"}, "access_field: 'place' is geo_point, not"),
        ({"metadata_fields": ["nothing.x"]}, "metadata_fields: there is no field 'nothing.x'"),
        ({"url_field": "number"}, "url_field: 'number' is long"),
        ({"title_field": "other.title"}, "(did you mean 'meta.title' or 'title'?)"),
    ],
)
def test_what_does_not_fit_is_named(fields: dict[str, Any], told: str) -> None:
    assert told in mistake(**fields)


def test_all_mistakes_stand_in_one_message() -> None:
    told = mistake(
        text_fields=["body", "bodi"], updated_field="no", metadata_fields=["x"], index="resin-*"
    )
    assert told.startswith("source 'kb' does not fit index 'resin-*': ")
    assert [part.split(":")[0] for part in told.split(": ", 1)[1].split("; ")] == [
        "it would read what resin-es itself wrote (resin-cache, resin-cache-v1, resin-documents)",
        "text_fields",
        "updated_field",
        "metadata_fields",
    ]


@pytest.mark.parametrize(
    "index", ["resin-units", "resin-documents-v3", "*", "res*", "kb, resin-passages", "*-units*"]
)
def test_our_own_indices_are_no_source(index: str) -> None:
    assert "resin-es itself wrote" in mistake(index=index)


@pytest.mark.parametrize("index", ["kb", "kb-*", "resin", "resin-other-units", "kb,-resin-units"])
def test_other_indices_are(index: str) -> None:
    assert own_indices(index, NAMES) == []


def test_our_own_index_behind_a_foreign_alias_is_no_source() -> None:
    assert "resin-units-v2" in mistake("kb-1", "resin-units-v2", index="harmless")


def test_without_a_near_name_none_is_offered() -> None:
    assert near("zzz", ["title", "body"]) == ""
    assert near("", []) == ""


@given(st.text(), st.lists(st.text(), max_size=5))
def test_only_known_names_are_offered(name: str, known: list[str]) -> None:
    told = near(name, known)
    assert told == "" or any(repr(one) in told for one in known)


# ------------------------------------------------------------------ plain values


def test_one_field_may_stand_without_a_list() -> None:
    found = spec_from({**GIVEN, "text_fields": "body", "metadata_fields": "lang"})
    assert (found.text_fields, found.metadata_fields) == (("body",), ("lang",))


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        ({**GIVEN, "texts": "x"}, "there is no field 'texts' (did you mean 'text_fields'?)"),
        ({**GIVEN, "slices": 0}, "slices: "),
        ({**GIVEN, "access": "everyone"}, "access: "),
        ({**GIVEN, "access": "field"}, "access_field goes with access 'field'"),
        ({**GIVEN, "access_field": "groups"}, "access_field goes with access 'field'"),
        ({**GIVEN, "name": False}, "name: "),
        ({}, "name: Field required; index: Field required; text_fields: Field required; access"),
        ({**GIVEN, "text_fields": []}, "text_fields: "),
    ],
)
def test_wrong_values_are_named_with_their_place(given_: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as raised:
        spec_from(given_, "sources.yml")
    assert raised.value.message.startswith("sources.yml: ")
    assert told in raised.value.message


# ------------------------------------------------------------------ warnings


def test_what_is_most_likely_not_meant_is_told() -> None:
    spec = SourceSpec.model_validate(
        {**GIVEN, "access": "field", "access_field": "groups", "updated_field": "updated_at"}
    )
    assert warnings_of(spec, 10, Lacking(text=1, access=2, updated=3), 9) == [
        "1 document has no text and will count as empty",
        "2 documents name no group in 'groups': only an admin may read what nobody is named for",
        "3 documents have no 'updated_at': only a full sync sees their changes",
    ]
    assert warnings_of(spec, 10, Lacking(text=0, access=0, updated=0), 9) == []


def test_an_empty_index_and_texts_that_are_not_there_are_told() -> None:
    spec = SourceSpec.model_validate({**GIVEN})
    assert warnings_of(spec, 0, Lacking(), 0) == [
        "index 'kb-*' holds no document yet",
        "without updated_field every sync goes through the whole index",
    ]
    assert warnings_of(spec, 5, Lacking(), 0)[0].startswith("no document looked at has text")
