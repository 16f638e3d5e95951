"""The passage constructor's request, to the letter, and what is made of its output."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.extract.passages import repair
from resin_es.llm.passages import passages_call, passages_from, passages_schema
from resin_es.model import EvidenceRole, PassageDraft
from resin_es.ports import ModelCall
from resin_es.prompts import prompt
from tests.unit.llm.offline import TRAM, window


def test_the_request_to_the_letter() -> None:
    asked = window(*TRAM[:2], before=("It snowed.",), after=("The end.\nReally.",))
    assert passages_call(asked, "m") == ModelCall(
        stage="passages",
        model="m",
        prompt_version=prompt("passages").version,
        system=prompt("passages").text,
        user=(
            'ARTICLE_METADATA: {"title": "Trams"}\n'
            "ARTICLE_CHUNK: <<<\n"
            "BEFORE: It snowed.\n"
            "S1: The Harbour Line (HL) is a tram with 9 cars.\n"
            "S2: A single ride costs 2.40 marens on weekdays.\n"
            "AFTER: The end. Really.\n"
            ">>>"
        ),
        output=passages_schema(),
        max_tokens=4_096 + 2 * 96,
    )


def test_the_schema_is_closed_and_asks_for_every_field() -> None:
    schema = passages_schema()
    item = schema["properties"]["passages"]["items"]
    assert schema["additionalProperties"] is item["additionalProperties"] is False
    assert set(item["required"]) == set(item["properties"])
    assert item["properties"]["role"]["enum"] == [role.value for role in EvidenceRole]
    assert not {"$ref", "$defs", "title", "default", "minLength"} & set(_keys(schema))


def _keys(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [*node, *(key for value in node.values() for key in _keys(value))]
    return [key for one in node for key in _keys(one)] if isinstance(node, list) else []


def test_the_example_of_the_prompt_is_read_without_a_problem() -> None:
    lines = prompt("passages").text.splitlines()
    (answer,) = (line for line in lines if line.startswith('{"passages"'))
    drafts, problems = passages_from(json.loads(answer), window(*map(str, range(5))))
    assert [(draft.first, draft.last) for draft in drafts] == [(0, 1), (2, 3), (4, 4)]
    assert (problems, repair(drafts, 5)[1]) == ({}, 0)


def said(first: Any, last: Any, **fields: Any) -> dict[str, Any]:
    return {"first": first, "last": last, **fields}


def test_fields_are_taken_over() -> None:
    data = {
        "passages": [
            said(
                "S1",
                "S2",
                main_entity=" Harbour \u200bLine ",
                entity_type="tram",
                focus="x" * 300,
                role="Attribute",
            )
        ]
    }
    drafts, problems = passages_from(data, window(*TRAM))
    assert drafts == (
        PassageDraft(
            first=0,
            last=1,
            main_entity="Harbour Line",
            entity_type="tram",
            focus="x" * 240,
            role=EvidenceRole.ATTRIBUTE,
        ),
    )
    assert problems == {}


@pytest.mark.parametrize(
    ("items", "spans", "problems"),
    [
        ([said("S1", "S2"), said("S3", "S4")], [(0, 1), (2, 3)], {}),
        ([said(1, "2"), said("[s3]", "S4.")], [(0, 1), (2, 3)], {}),
        ([said("S1", "S9")], [(0, 8)], {"unknown-sentence": 1}),
        ([said("S9", "S9"), said("S1", "S1")], [(0, 0)], {"unknown-sentence": 1}),
        ([said("S0", "S2"), said("S1", "S1")], [(0, 0)], {"unknown-sentence": 1}),
        ([said("BEFORE", "S1"), said("S1", "S4")], [(0, 3)], {"unknown-sentence": 1}),
        ([said("S3", "S1"), said("S1", "S4")], [(0, 3)], {"wrong-shape": 1}),
        ([{"last": "S1"}, said("S1", "S4")], [(0, 3)], {"wrong-shape": 1}),
        (["S1-S4", said("S1", "S4")], [(0, 3)], {"wrong-shape": 1}),
        ([said("S1", "S4", role="poem")], [(0, 3)], {"unknown-role": 1}),
        ([said("S1", "S4", main_entity=7, focus=None)], [(0, 3)], {}),
        ([], [], {"no-passages": 1}),
    ],
)
def test_each_item_is_judged_by_itself(
    items: list[Any], spans: list[tuple[int, int]], problems: dict[str, int]
) -> None:
    drafts, found = passages_from({"passages": items}, window(*TRAM))
    assert [(draft.first, draft.last) for draft in drafts] == spans
    assert found == problems


@pytest.mark.parametrize("data", [None, "text", 3, {}, {"passages": "S1"}, {"passages": {}}])
def test_another_form_is_of_no_use(data: Any) -> None:
    assert passages_from(data, window(*TRAM)) == ((), {"wrong-shape": 1})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["passages", "first", "last", "role", "focus"]), inner)
    ),
    max_leaves=12,
)


@given(JSON | st.builds(lambda one: {"passages": [one]}, JSON))
def test_no_json_breaks_it(data: Any) -> None:
    drafts, problems = passages_from(data, window(*TRAM))
    assert bool(drafts) or bool(problems)
    repaired, _ = repair(drafts, len(TRAM))
    held = [at for draft in repaired for at in range(draft.first, draft.last + 1)]
    assert held == list(range(len(TRAM)))
