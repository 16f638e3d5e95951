"""The searchable sentence: every part that the claim has, no part twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.extract.statement import statement
from resin_es.model import CausalEdge, Claim, EntityFact, EntityType, Passage, Relation, Rule


def passage(main_entity: str = "") -> Passage:
    return Passage(
        id="p", document_key="k", text="x", sentence_ids=("s",), offsets=((0, 1),),
        main_entity=main_entity,
    )  # fmt: skip


def claim(kind: type[Claim], **fields: object) -> Claim:
    return kind.model_validate(fields)


FACT = {"subject": "Harbour Line", "surface_predicate": "costs", "object": "$4"}
EDGE = {"subject": "congestion", "source_state": "heavy congestion", "target_state": "late buses"}
RULE = {"subject": "Harbour Line", "conditions": ("it snows",), "conclusion": "buses replace it"}


@pytest.mark.parametrize(
    ("kind", "fields", "main", "expected"),
    [
        (EntityFact, FACT, "", "Harbour Line costs $4."),
        (EntityFact, FACT, "Harbour Line", "Harbour Line costs $4."),
        (EntityFact, FACT, "Old Quay", "Harbour Line costs $4."),
        (EntityFact, {**FACT, "entity_type": "tram line"}, "",
         "Harbour Line (tram line) costs $4."),
        (EntityFact, {**FACT, "entity_type": "line"}, "", "Harbour Line costs $4."),
        (EntityFact, {**FACT, "scope": "on Sundays"}, "", "Harbour Line costs $4, on Sundays."),
        (EntityFact, {**FACT, "conditions": ("paid in cash",)}, "",
         "Harbour Line costs $4, if paid in cash."),
        (EntityFact, {**FACT, "conditions": ("unless it rains",)}, "",
         "Harbour Line costs $4, unless it rains."),
        (EntityFact, {**FACT, "polarity": "negative"}, "", "Harbour Line does not cost $4."),
        (EntityFact, {**FACT, "surface_predicate": "does not cost", "polarity": "negative"}, "",
         "Harbour Line does not cost $4."),
        (EntityFact, {**FACT, "surface_predicate": "is", "polarity": "negative"}, "",
         "Harbour Line is not $4."),
        (EntityFact, {**FACT, "subject": "No line", "polarity": "negative"}, "",
         "No line costs $4."),
        (EntityFact, {**FACT, "modality": "possible"}, "", "Harbour Line may cost $4."),
        (EntityFact, {**FACT, "surface_predicate": "is", "modality": "required"}, "",
         "Harbour Line must be $4."),
        (EntityFact, {**FACT, "subject": "HL", "aliases": ("Harbour Line",)}, "",
         "Harbour Line (HL) costs $4."),
        (EntityFact, {**FACT, "surface_predicate": "price", "object": "price of $4"}, "",
         "Harbour Line price of $4."),
        (EntityType, {"subject": "Harbour Line", "object": "express"}, "",
         "Harbour Line is an express."),
        (Relation, {**FACT, "surface_predicate": "serves", "object": "Old\n Quay."}, "",
         "Harbour Line serves Old Quay."),
        (CausalEdge, EDGE, "", "heavy congestion causes late buses."),
        (CausalEdge, {**EDGE, "surface_predicate": "leads to"}, "",
         "heavy congestion leads to late buses."),
        (CausalEdge, {**EDGE, "surface_predicate": "enhances", "target_state": "enhanced skills"},
         "", "heavy congestion enhances skills."),
        (EntityFact, {**FACT, "surface_predicate": "failed to cost", "polarity": "negative"}, "",
         "Harbour Line failed to cost $4."),
        (EntityFact, {**FACT, "surface_predicate": "aims at", "modality": "planned"}, "",
         "Harbour Line aims at $4."),
        (EntityFact, {**FACT, "subject": "Its fare"}, "Old Quay", "Old Quay: Its fare costs $4."),
        (EntityFact, {**FACT, "subject": "The results"}, "Old Quay",
         "Old Quay: The results costs $4."),
        (CausalEdge, {**EDGE, "surface_predicate": "were delayed by"}, "",
         "late buses were delayed by heavy congestion."),
        (CausalEdge, {**EDGE, "surface_predicate": "due to"}, "",
         "late buses due to heavy congestion."),
        (CausalEdge, {**EDGE, "subject": "Old Quay"}, "",
         "Old Quay: heavy congestion causes late buses."),
        (CausalEdge, {**EDGE, "object": "Line 7"}, "",
         "heavy congestion causes Line 7: late buses."),
        (Rule, RULE, "", "Harbour Line: If it snows, buses replace it."),
        (Rule, {**RULE, "conditions": ("when it snows", "it is dark")}, "",
         "Harbour Line: When it snows and it is dark, buses replace it."),
        (Rule, {**RULE, "conclusion": "Harbour Line stops", "polarity": "negative"}, "",
         "If it snows, not Harbour Line stops."),
    ],
)  # fmt: skip
def test_statement(kind: type[Claim], fields: dict[str, object], main: str, expected: str) -> None:
    assert statement(claim(kind, **fields), passage(main)) == expected


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(str.strip)


@given(TEXT, TEXT, TEXT, TEXT, TEXT)
def test_it_is_one_line_and_always_the_same(
    subject: str, predicate: str, value: str, scope: str, main: str
) -> None:
    made = claim(
        EntityFact, subject=subject, surface_predicate=predicate, object=value, scope=scope
    )
    first = statement(made, passage(main))
    assert first == statement(made, passage(main))
    assert len(first.splitlines()) == 1
    assert first.endswith(".")
