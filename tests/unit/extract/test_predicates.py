"""Canonical predicates: inflections and synonyms meet, directions stay apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.extract.predicates import LEXICON, canonical_predicate, lemma
from resin_es.model import UNIT_KINDS


@pytest.mark.parametrize(
    ("canonical", "wordings"),
    [
        ("price", ["costs", "cost", "is priced at", "has a fare of", "fare", "Price"]),
        ("located-in", ["is located in", "located in", "lies in", "is in", "was situated in"]),
        ("is-a", ["is a", "was an", "is one of", "is a type of"]),
        ("increase", ["increases", "has increased", "significantly raised", "may raise",
                      "up-regulates", "upregulated", "does not increase"]),
        ("cause", ["causes", "led to", "may lead to", "results in"]),
        ("caused-by", ["is caused by", "are caused by", "results from", "is due to"]),
        ("require", ["requires", "required", "depends on", "must require"]),
        ("provide", ["provides", "provided", "is providing"]),
        ("control", ["controls", "controlled", "controlling"]),
        ("regulated-by", ["is regulated by", "was regulated by"]),
        ("express", ["expresses", "expressed", "expressing"]),
        ("monitor", ["monitors", "monitored"]),
        ("contribute-to", ["contributes to", "contributed to", "also contributes to"]),
        ("be", ["is", "are", "was"]),
        ("have", ["has", "had"]),
        ("运行", ["运行"]),
    ],
)  # fmt: skip
def test_wordings_meet(canonical: str, wordings: list[str]) -> None:
    assert {canonical_predicate(wording, "relation") for wording in wordings} == {canonical}


def test_membership_is_always_is_a() -> None:
    assert canonical_predicate("is", "entity-type") == "is-a"
    assert canonical_predicate("serves as", "entity-type") == "is-a"


@pytest.mark.parametrize("kind", UNIT_KINDS)
def test_without_words_the_kind_decides(kind: str) -> None:
    assert canonical_predicate("", kind)  # type: ignore[arg-type]


def test_no_wording_stands_for_two_predicates() -> None:
    for canonical, wordings in LEXICON.items():
        for wording in wordings:
            assert canonical_predicate(wording, "relation") == canonical, wording


@given(st.text(st.characters(), max_size=80))
def test_a_predicate_is_a_slug(surface: str) -> None:
    predicate = canonical_predicate(surface, "relation")
    assert 0 < len(predicate) <= 60
    assert not any(map(str.isspace, predicate))
    assert predicate == canonical_predicate(surface, "relation")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("stopped", "stop"), ("playing", "play"), ("regulated", "regulate"), ("carries", "carry"),
        ("inhibited", "inhibit"), ("required", "require"), ("passes", "pass"), ("grew", "grow"),
        ("described", "describe"), ("treated", "treat"), ("bus", "bus"), ("red", "red"),
        ("increasing", "increase"), ("contained", "contain"), ("determines", "determine"),
    ],
)  # fmt: skip
def test_lemma(word: str, expected: str) -> None:
    assert lemma(word) == expected
