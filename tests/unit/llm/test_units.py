"""The unit extractor's request, to the letter, and what is made of its output."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.extract.normalize import normalize
from resin_es.llm.units import WireUnit, units_call, units_from, units_schema
from resin_es.model import (
    UNIT_KINDS,
    CausalEdge,
    EntityFact,
    Modality,
    Polarity,
    ReaderIdentity,
    Rule,
    UnitDraft,
)
from resin_es.ports import ModelCall, PassageInput
from resin_es.prompts import prompt
from tests.unit.llm.offline import TRAM, fact, passage

FARE = fact("Harbour Line", "costs", "2.40 marens", "costs 2.40 marens", "S2")


def test_the_request_to_the_letter() -> None:
    item = passage(*TRAM[:2], main_entity="Harbour Line", entity_type="tram")
    assert units_call(item, "m") == ModelCall(
        stage="units",
        model="m",
        prompt_version=prompt("units").version,
        system=prompt("units").text,
        user=(
            'ARTICLE_METADATA: {"title": "Trams", "main_entity": "Harbour Line", '
            '"entity_type": "tram"}\n'
            "ARTICLE_CHUNK: <<<\n"
            "S1: The Harbour Line (HL) is a tram with 9 cars.\n"
            "S2: A single ride costs 2.40 marens on weekdays.\n"
            ">>>"
        ),
        output=units_schema(),
        max_tokens=4_096 + 8 * 25,
    )


def test_the_room_grows_with_the_passage_and_ends() -> None:
    assert units_call(passage(*TRAM * 500), "m").max_tokens == 16_000


def test_the_schema_is_closed_and_small() -> None:
    schema = units_schema()
    item = schema["properties"]["units"]["items"]
    assert schema["additionalProperties"] is item["additionalProperties"] is False
    assert item["properties"]["kind"]["enum"] == list(UNIT_KINDS)
    assert item["properties"]["modality"]["enum"] == [one.value for one in Modality]
    assert set(item["properties"]) == set(WireUnit.model_fields)
    optional = set(item["properties"]) - set(item["required"])
    assert len(optional) <= 24, "what structured outputs allow"
    assert "default" not in json.dumps(schema)


def test_the_example_of_the_prompt_is_read_and_stands_on_its_text() -> None:
    text = prompt("units").text
    (answer,) = (line for line in text.splitlines() if line.startswith('{"units"'))
    rows = text.split("<<<\n")[1].split("\n>>>")[0].splitlines()
    item = passage(*(row.partition(": ")[2] for row in rows))
    reading = units_from(json.loads(answer), item)
    assert (reading.rejects, len(reading.drafts)) == ((), 6)
    assert {draft.claim.kind for draft in reading.drafts} == set(UNIT_KINDS) - {"type-property"}
    identity = ReaderIdentity(model="m", prompt_version="1")
    units, rejects = normalize(reading.drafts, item.passage, item.sentences, "doc", "v", identity)
    assert (len(units), rejects) == (6, ())


def test_labels_become_ids_and_fields_of_other_kinds_go() -> None:
    item = passage(*TRAM)
    unit = {**FARE, "sentences": ["S2", "s2", 3], "conclusion": "x", "scope": " on\nweekdays "}
    (draft,) = units_from({"units": [unit]}, item).drafts
    ids = [sentence.id for sentence in item.sentences]
    claim = EntityFact(
        subject="Harbour Line",
        surface_predicate="costs",
        object="2.40 marens",
        scope="on weekdays",
        confidence=0.9,
    )
    quote = "costs 2.40 marens"
    assert draft == UnitDraft(claim=claim, quote=quote, sentence_ids=(ids[1], ids[2]))


def test_the_shapes_of_a_rule_and_of_a_causal_edge() -> None:
    rule = {
        **FARE,
        "kind": "rule",
        "subject": "trams",
        "conditions": ["snow falls", ""],
        "conclusion": "trams turn round at Mill Square",
    }
    edge = {
        **FARE,
        "kind": "Causal_Edge",
        "subject": "wet leaves",
        "object": "",
        "source_state": "wet leaves",
        "target_state": "longer braking distance",
        "modality": "POSSIBLE",
        "polarity": "negative",
    }
    one, two = (draft.claim for draft in units_from({"units": [rule, edge]}, passage(*TRAM)).drafts)
    assert isinstance(one, Rule)
    assert one.conditions == ("snow falls",)
    assert isinstance(two, CausalEdge)
    assert (two.modality, two.polarity, two.object) == (
        Modality.POSSIBLE,
        Polarity.NEGATIVE,
        "",
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "opinion"}, "wrong-kind"),
        ({"kind": None}, "wrong-kind"),
        ({"sentences": ["S5"]}, "unknown-sentence"),
        ({"sentences": ["S2", "S0"]}, "unknown-sentence"),
        ({"sentences": ["the second"]}, "unknown-sentence"),
        ({"sentences": [True]}, "unknown-sentence"),
        ({"sentences": []}, "no-sentence"),
        ({"sentences": None}, "no-sentence"),
        ({"quote": " \u200b"}, "empty-quote"),
        ({"subject": ""}, "missing-field"),
        ({"object": None}, "missing-field"),
        ({"predicate": ["costs"]}, "missing-field"),
        ({"kind": "rule", "conclusion": "x"}, "missing-field"),
        ({"kind": "rule", "conditions": ["x"]}, "missing-field"),
        ({"kind": "causal-edge", "source_state": "x"}, "missing-field"),
        ({"modality": "certain"}, "wrong-value"),
        ({"polarity": 1}, "wrong-value"),
    ],
)
def test_a_bad_unit_is_turned_down_alone(change: dict[str, Any], reason: str) -> None:
    bad = {**FARE, **change}
    reading = units_from({"units": [bad, FARE]}, passage(*TRAM))
    assert len(reading.drafts) == 1
    assert [(reject.reason, reject.draft) for reject in reading.rejects] == [(reason, bad)]
    assert reading.failure is None


@pytest.mark.parametrize(
    ("said", "meant"), [(2, 1.0), (0, 0.05), (-1, 0.05), ("high", 1.0), (None, 1.0), (0.4, 0.4)]
)
def test_confidence_is_brought_into_range(said: Any, meant: float) -> None:
    (draft,) = units_from({"units": [{**FARE, "confidence": said}]}, passage(*TRAM)).drafts
    assert draft.claim.confidence == meant


@pytest.mark.parametrize("unit", ["text", 3, None, [1]])
def test_what_is_no_object_is_turned_down(unit: Any) -> None:
    (reject,) = units_from([unit], passage(*TRAM)).rejects
    assert (reject.reason, reject.draft) == ("wrong-shape", {"said": unit})


@pytest.mark.parametrize("data", [None, "x", 1, {}, {"units": {}}, {"unit": []}])
def test_no_list_of_units_is_a_failure(data: Any) -> None:
    reading = units_from(data, passage(*TRAM))
    assert reading.failure is not None
    assert reading.faults == {"wrong-shape": 1}


def test_nothing_to_state_is_no_failure() -> None:
    assert units_from({"units": []}, passage(*TRAM)).failure is None


def test_a_quote_from_broken_delimiters_is_found() -> None:
    item = passage("The mark <<<<<<< HEAD starts\u202e a conflict.")
    assert "S1: The mark < < < < < < < HEAD starts a conflict." in units_call(item, "m").user
    unit = fact("mark", "starts", "a conflict", "mark < < < < < < < HEAD starts a conflict")
    reading = units_from({"units": [unit]}, item)
    identity = ReaderIdentity(model="m", prompt_version="1")
    units, rejects = normalize(reading.drafts, item.passage, item.sentences, "d", "v", identity)
    assert rejects == ()
    assert units[0].quote == "mark <<<<<<< HEAD starts\u202e a conflict"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*FARE]), inner),
    max_leaves=10,
)


@given(st.fixed_dictionaries({}, optional={name: JSON | st.just(FARE[name]) for name in FARE}))
def test_no_json_breaks_it(unit: dict[str, Any]) -> None:
    item: PassageInput = passage(*TRAM)
    reading = units_from({"units": [unit]}, item)
    assert len(reading.drafts) + len(reading.rejects) == 1
    for draft in reading.drafts:
        assert set(draft.sentence_ids) <= {sentence.id for sentence in item.sentences}
