from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.errors import ModelError
from resin_es.llm.solve import local_answer_from, solve_call
from resin_es.llm.solver import HopSolver
from resin_es.ports import ModelCall
from resin_es.prompts import prompt
from resin_es.query.solving import SolverCandidate, SolverInput
from resin_es.testing.scripted_language import Answer, ScriptedLanguageModel, data_reply, text_reply
from tests.unit.llm.online import BUS, METRO

ITEM = SolverInput(
    number=2,
    subquestion="What does a ride on it cost?",
    target=("fare", "Bus 14"),
    reasoning_type="attribute",
    depends_on=(1,),
    candidates=(
        SolverCandidate(kinds=("entity-fact", "sentence"), title="Bus 14", text=BUS[0]),
        SolverCandidate(kinds=("sentence",), text=METRO[0]),
    ),
)


def wire(**fields: Any) -> dict[str, Any]:
    return {"answer": "It costs 3 crowns.", "found": True, "records": [1], **fields}


def test_the_request_holds_the_hop_and_its_candidates_and_nothing_else() -> None:
    call = solve_call(ITEM, "m")
    told = prompt("solve")
    assert call == ModelCall(
        stage="solve",
        model="m",
        prompt_version=told.version,
        system=told.text,
        user="HOP: 2\n"
        "SUBQUESTION: <<<\nWhat does a ride on it cost?\n>>>\n"
        "TARGET: <<<\nfare; Bus 14\n>>>\n"
        "TYPE: attribute\n"
        "DEPENDS_ON: 1\n"
        "RECORDS: <<<\n"
        "[1] (entity-fact, sentence) Bus 14: The fare of Bus 14 is 3 crowns.\n"
        "[2] (sentence) The fare of Metro Line B is 5 crowns.\n>>>",
        output=call.output,
        max_tokens=4096,
    )
    assert call.output is not None
    assert call.output["additionalProperties"] is False
    assert set(call.output["properties"]) == {"answer", "found", "records"}


def test_a_local_answer_names_the_records_it_rests_on() -> None:
    found = local_answer_from(wire(records=[2, 1, 2]), ITEM)
    assert (found.text, found.found, found.records) == ("It costs 3 crowns.", True, (1, 0))


@pytest.mark.parametrize("named", [0, 3, -1, 10**9, "two", 1.5, True])
def test_a_record_that_was_not_given_is_taken_out_and_told(named: Any) -> None:
    found = local_answer_from(wire(records=[1, named]), ITEM)
    assert found.records == (0,)
    assert found.rejected == (f"[{named}]",)


def test_what_rests_on_nothing_is_not_found() -> None:
    assert not local_answer_from(wire(records=[]), ITEM).found
    assert not local_answer_from(wire(records=["[7]"]), ITEM).found
    assert local_answer_from(wire(records=["[2]"]), ITEM).found


BAD: dict[str, tuple[Answer, str]] = {
    "truncated": (data_reply(wire(), truncated=True), "cut off"),
    "refused": (text_reply("No.", refused=True), "declined"),
    "empty": (text_reply(""), "empty"),
    "not JSON": (text_reply("Three crowns."), "not JSON"),
    "a list": (data_reply([1]), "not a JSON object"),
    "no words": (data_reply(wire(answer=" \u200b")), "no words"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_used_is_an_error(name: str) -> None:
    answer, reason = BAD[name]
    with pytest.raises(ModelError, match=reason):
        HopSolver(ScriptedLanguageModel([answer]), name="m").solve(ITEM)


def test_the_solver_tells_what_it_took() -> None:
    model = ScriptedLanguageModel([data_reply(wire(), dollars=0.5)])
    found = HopSolver(model, name="m").solve(ITEM)
    assert model.calls == [solve_call(ITEM, "m")]
    assert found.use is not None
    assert (found.use.dollars, found.use.prompt_version) == (0.5, prompt("solve").version)


@given(st.lists(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)))
def test_any_records_name_candidates_or_are_told(records: list[Any]) -> None:
    found = local_answer_from(wire(records=records), ITEM)
    assert set(found.records) <= {0, 1}
    assert found.found == bool(found.records)
