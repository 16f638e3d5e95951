"""Hops of a kept trace, solved on demand."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.errors import BudgetSpent, InputError, ModelError, ModelUnavailable
from resin_es.llm.solver import HopSolver
from resin_es.model import Principal
from resin_es.testing.scripted_language import Answer, ScriptedLanguageModel, data_reply, text_reply
from resin_es.testing.scripted_store import ScriptedStore
from tests.unit.llm.city import (
    ANYONE,
    PLAN,
    QUESTION,
    SAID,
    STAFF,
    board,
    bus,
    by_stage,
    engine,
    world,
)

SOLVED = {"answer": "It costs 3 crowns.", "found": True, "records": [1]}


def asked(store: ScriptedStore, *answers: Answer, who: Principal = STAFF) -> tuple[Any, Any, Any]:
    """An engine, the id of a trace of two hops, and the model that is to solve them."""
    model = ScriptedLanguageModel(by_stage(plan=PLAN, compose=SAID))
    asking = engine(store, model, rules=False)
    _, _, trace = asking.ask(QUESTION, who)
    solving = ScriptedLanguageModel(list(answers))
    return asking, trace.id, solving


def test_each_hop_is_solved_from_its_own_candidates_and_kept() -> None:
    store = world()
    second = data_reply({**SOLVED, "answer": "The board.", "records": [2, 9]}, dollars=0.5)
    asking, name, model = asked(store, SOLVED, second)
    shown, notes = asking.solve(name, STAFF, HopSolver(model, name="answerer"))
    assert notes == ()
    first, last = model.calls
    assert first.user == (
        "HOP: 1\nSUBQUESTION: <<<\nWhat is the fare of Bus 14?\n>>>\n"
        "TARGET: <<<\nBus 14\n>>>\nTYPE: attribute\nDEPENDS_ON: none\nRECORDS: <<<\n"
        "[1] (entity-fact, sentence) Bus 14: The fare of Bus 14 is 3 crowns.\n"
        "[2] (sentence) Board: The board sets the fare of Bus 14.\n>>>"
    )
    assert "DEPENDS_ON: 1\n" in last.user
    assert "It costs 3 crowns." not in last.user, "a local answer reached another hop"
    assert SAID not in first.user + last.user
    hops = {hop.id: hop.solution for hop in shown.hops}
    assert hops["h1"].text == "It costs 3 crowns."
    assert hops["h1"].solver.startswith("answerer/1-")
    assert [one.text for one in hops["h1"].evidence] == ["The fare of Bus 14 is 3 crowns."]
    assert hops["h2"].rejected == ("[9]",)
    assert hops["h2"].use.dollars == 0.5
    assert {hop.id for hop in shown.hops if hop.solution} == {"h1", "h2"}
    assert asking.trace(name, STAFF) == shown


def test_what_was_solved_is_not_paid_for_again() -> None:
    asking, name, model = asked(world(), SOLVED, SOLVED)
    first, _ = asking.solve(name, STAFF, HopSolver(model, name="answerer"))
    again, _ = asking.solve(name, STAFF, HopSolver(model, name="answerer"))
    assert again == first
    assert len(model.calls) == 2
    other = ScriptedLanguageModel([SOLVED, SOLVED])
    asking.solve(name, STAFF, HopSolver(other, name="another"))
    assert len(other.calls) == 2


def test_a_hop_that_fails_says_so_and_the_others_are_solved() -> None:
    asking, name, model = asked(world(), text_reply("no JSON", dollars=0.5), SOLVED, SOLVED)
    shown, _ = asking.solve(name, STAFF, HopSolver(model, name="answerer"))
    assert "not JSON" in shown.hops[0].solution.problem
    assert shown.hops[0].solution.use.dollars == 0.5
    assert shown.hops[1].solution is None or shown.hops[1].solution.text
    again, _ = asking.solve(name, STAFF, HopSolver(model, name="answerer"))
    assert len(model.calls) == 3, "the failed hop alone is asked again"
    assert again.hops[0].solution.text == "It costs 3 crowns."


@pytest.mark.parametrize(
    "error", [ModelUnavailable("no key."), BudgetSpent("spent.", spent=1.0, cap=1.0)]
)
def test_no_key_or_money_ends_it_with_what_was_solved_kept(error: ModelError) -> None:
    store = world()
    asking, name, model = asked(store, SOLVED, error)
    with pytest.raises(type(error)):
        asking.solve(name, STAFF, HopSolver(model, name="answerer"))
    kept = [hop.solution.text for hop in asking.trace(name, STAFF).hops if hop.solution]
    assert kept == ["It costs 3 crowns."]


def test_a_solver_sees_only_what_this_reader_may_read() -> None:
    store = world()
    asking, name, model = asked(store, SOLVED, SOLVED)
    store.change(bus().key, access=("board",))
    asking.solve(name, STAFF, HopSolver(model, name="answerer"))
    assert model.calls
    for call in model.calls:
        assert "crowns" not in call.user
        assert "[1] (sentence) Board: " in call.user


def test_without_a_readable_candidate_no_call_is_made() -> None:
    store = world()
    asking, name, model = asked(store)
    store.change(bus().key, access=("board",))
    store.change(board().key, passages=())
    shown, _ = asking.solve(name, STAFF, HopSolver(model, name="answerer"))
    assert model.calls == []
    assert all("can be read" in h.solution.problem for h in shown.hops if h.solution)


def test_a_local_answer_goes_with_the_right_to_its_evidence() -> None:
    store = world()
    asking, name, model = asked(store, SOLVED, text_reply("crowns, not JSON"))
    asking.solve(name, STAFF, HopSolver(model, name="answerer"))
    store.change(bus().key, access=("board",))
    shown = asking.trace(name, STAFF)
    solution = next(hop.solution for hop in shown.hops if hop.id == "h1")
    assert (solution.state, solution.text) == ("withheld", "")
    assert "crowns" not in shown.model_dump_json()


def test_a_trace_that_may_not_be_written_is_shown_solved_all_the_same() -> None:
    store = world()
    asking, name, model = asked(store, SOLVED, SOLVED)
    store.refuse_traces = True
    shown, notes = asking.solve(name, STAFF, HopSolver(model, name="answerer"))
    assert "not kept" in notes[0]
    assert any(hop.solution and hop.solution.text for hop in shown.hops)


def test_a_trace_of_others_is_not_solved() -> None:
    asking, name, model = asked(world())
    with pytest.raises(InputError):
        asking.solve(name, ANYONE, HopSolver(model, name="answerer"))
    assert model.calls == []
