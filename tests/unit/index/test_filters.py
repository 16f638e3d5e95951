"""Filters: access in every list, exact clauses only, and nothing unknown gets through."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.errors import FilterError
from resin_es.index.filters import (
    FIELDS,
    KINDS,
    Filters,
    access_clauses,
    address_filter,
    check_metadata,
    document_filter,
    entity_names,
    make_filters,
)
from resin_es.model import Principal

NOBODY = Principal()
RED = Principal(groups=frozenset({"red", "blue"}))
ADMIN = Principal(admin=True)
PUBLIC = {"terms": {"access": ["*"]}}
LINE_7 = ["Line 7", "the Line 7", "a Line 7", "an Line 7"]
ALIVE = {"bool": {"must_not": [{"term": {"status": "deleted"}}]}}


def test_without_groups_only_public_documents_are_left() -> None:
    assert access_clauses(NOBODY) == [PUBLIC]
    assert address_filter(NOBODY) == [PUBLIC]
    assert document_filter(NOBODY) == [PUBLIC, ALIVE]


def test_groups_are_alternatives_with_everyone_among_them() -> None:
    assert address_filter(RED) == [{"terms": {"access": ["*", "blue", "red"]}}]


def test_only_an_admin_goes_unfiltered() -> None:
    assert address_filter(ADMIN) == []
    assert document_filter(ADMIN) == [ALIVE]


def test_all_clauses() -> None:
    filters = Filters(
        sources=("a", "b"),
        kinds=("rule",),
        entities=("Line 7",),
        document_ids=("d1",),
        entity_types=("tram",),
        predicates=("take",),
        modalities=("asserted",),
        polarities=("negative",),
        scopes=("at night",),
        min_confidence=0.5,
        metadata={"topic": ("bus", "tram"), "deep.er": ("1",)},
    )
    assert address_filter(NOBODY, filters) == [
        PUBLIC,
        {"terms": {"source": ["a", "b"]}},
        {"terms": {"document_id": ["d1"]}},
        {"terms": {"metadata.topic": ["bus", "tram"]}},
        {"terms": {"metadata.deep.er": ["1"]}},
        {"terms": {"kind": ["rule"]}},
        {
            "bool": {
                "should": [
                    {"terms": {"subject": LINE_7}},
                    {"terms": {"aliases": LINE_7}},
                    {"terms": {"object": LINE_7}},
                ],
                "minimum_should_match": 1,
            }
        },
        {"terms": {"entity_type": ["tram"]}},
        {"terms": {"predicate": ["take"]}},
        {"terms": {"modality": ["asserted"]}},
        {"terms": {"polarity": ["negative"]}},
        {"terms": {"scope": ["at night"]}},
        {"range": {"confidence": {"gte": 0.5}}},
    ]
    assert document_filter(NOBODY, filters) == [
        PUBLIC,
        {"terms": {"source": ["a", "b"]}},
        {"terms": {"document_id": ["d1"]}},
        {"terms": {"metadata.topic": ["bus", "tram"]}},
        {"terms": {"metadata.deep.er": ["1"]}},
        ALIVE,
    ]


def test_an_entity_is_found_with_and_without_its_article() -> None:
    bare = set(entity_names(["mill"]))
    assert set(entity_names(["The mill"])) >= bare == {"mill", "the mill", "a mill", "an mill"}
    assert entity_names(["The"])[0] == "The"


def test_options_become_filters() -> None:
    assert make_filters(
        sources=["a"],
        kinds=["rule", "sentence"],
        entities=["Line 7"],
        fields=[
            "metadata.topic=bus",
            "metadata.topic = tram",
            "metadata.a=b=c",
            "min_confidence=0.5",
            "polarity=negative",
            "source=b",
        ],
    ) == Filters(
        sources=("a", "b"),
        kinds=("rule", "sentence"),
        entities=("Line 7",),
        min_confidence=0.5,
        polarities=("negative",),
        metadata={"topic": ("bus", "tram"), "a": ("b=c",)},
    )


def test_every_listed_field_is_taken() -> None:
    values = {"kind": "rule", "modality": "asserted", "polarity": "negative"}
    for field in FIELDS:
        value = values.get(field, "0.5")
        assert len(address_filter(ADMIN, make_filters(fields=[f"{field}={value}"]))) == 1, field


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": ["rules"]}, r"unknown kind 'rules'\. Did you mean rule\?"),
        ({"kinds": [""]}, "unknown kind ''"),
        ({"fields": ["colour=red"]}, r"unknown filter field 'colour'\. Fields: .*metadata\.KEY"),
        ({"fields": ["entty=x"]}, r"Did you mean entity"),
        ({"fields": ["metadata.=x"]}, "unknown filter field"),
        ({"fields": ["access=red"]}, "unknown filter field 'access'"),
        ({"fields": ["topic"]}, "not FIELD=VALUE"),
        ({"fields": ["=x"]}, "not FIELD=VALUE"),
        ({"fields": ["source="]}, "not FIELD=VALUE"),
        ({"fields": ["polarity=bad"]}, "unknown polarity 'bad'.*positive, negative"),
        ({"fields": ["min_confidence=high"]}, "not a number from 0 to 1"),
        ({"fields": ["min_confidence=nan"]}, "not a number from 0 to 1"),
        ({"fields": ["min_confidence=1.5"]}, "not a number from 0 to 1"),
        ({"fields": [f"metadata.a={'x' * 1025}"]}, "longer than 1024"),
        ({"entities": ["x" * 8192]}, "longer than 8191"),
    ],
)
def test_what_cannot_match_is_refused(options: dict[str, list[str]], message: str) -> None:
    with pytest.raises(FilterError, match=message) as told:
        make_filters(**options)
    assert told.value.exit_code == 2


def test_kinds_are_the_units_kinds_and_sentence() -> None:
    assert "sentence" in KINDS
    assert len(KINDS) == 7


def test_an_unknown_metadata_key_is_refused_with_near_ones() -> None:
    filters = make_filters(fields=["metadata.topc=bus"])
    with pytest.raises(FilterError, match=r"'topc'\. Did you mean topic\?"):
        check_metadata(filters, {"topic", "year"})
    with pytest.raises(FilterError, match="Known keys begin with: year"):
        check_metadata(filters, {"year"})
    with pytest.raises(FilterError, match="No document here has metadata"):
        check_metadata(filters, frozenset())
    check_metadata(filters, {"topc"})


def test_a_claims_field_narrows_to_units() -> None:
    assert not Filters(sources=("a",), kinds=("sentence",), metadata={"a": ("b",)}).units_only
    assert Filters(entities=("x",)).units_only
    assert Filters(min_confidence=0.0).units_only


words = st.text(min_size=1, max_size=40).filter(str.strip)


@given(
    groups=st.frozensets(words, max_size=4),
    entities=st.lists(words, max_size=3),
    values=st.lists(words, max_size=3),
)
def test_whatever_is_asked_access_stands_first_and_no_clause_is_lexical(
    groups: frozenset[str], entities: list[str], values: list[str]
) -> None:
    principal = Principal(groups=groups)
    filters = make_filters(entities=entities, fields=[f"metadata.k={value}" for value in values])
    for clauses in (address_filter(principal, filters), document_filter(principal, filters)):
        assert clauses[0] == {"terms": {"access": sorted(groups | {"*"})}}
        names = {name for clause in clauses for name in clause}
        assert names <= {"terms", "bool", "range"}
        json.dumps(clauses)


def test_callers_cannot_reach_the_next_callers_list() -> None:
    address_filter(NOBODY).clear()
    assert address_filter(NOBODY) == [PUBLIC]
