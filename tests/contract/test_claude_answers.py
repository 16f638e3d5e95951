"""Questions over the real SDK on a scripted server: whatever goes wrong with a plan, an answer or
a local answer stays there, is named, and the rest goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest
from pydantic import SecretStr

from resin_es.adapters.ledger import MemoryLedger
from resin_es.adapters.limits import LimitsRateLimiter
from resin_es.errors import BudgetSpent, ModelError
from resin_es.llm.composer import ModelComposer
from resin_es.llm.metered import MeteredModel
from resin_es.llm.planner import ModelPlanner
from resin_es.llm.solver import HopSolver
from resin_es.model import Principal, Trace
from resin_es.ports.language import Stage
from resin_es.query.engine import QueryEngine
from resin_es.query.values import Answered, Asked
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.model_server import ModelServer, claude_says
from resin_es.testing.scripted_claude import (
    BROKEN,
    EMPTY,
    NOT_JSON,
    OVERLOADED,
    REFUSED,
    Fault,
    ScriptedClaude,
    Told,
    truncated,
)
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)

ANYONE = Principal()
QUESTION = "What is the fare of Bus 14 and who sets the fare of Bus 14?"
GOOD = "The fare of Bus 14 is 3 crowns."


class World:
    """An engine over two documents, its model on a scripted server."""

    def __init__(self, claude: ScriptedClaude, url: str, cap: float | None) -> None:
        from resin_es.adapters.anthropic.client import AnthropicModel
        from resin_es.adapters.anthropic.options import AnthropicOptions

        options = AnthropicOptions(
            key=SecretStr("k"), url=url, timeout=5.0, retries=0, prices={"m": (1.0, 100.0)}
        )
        limiter = LimitsRateLimiter(None, None)
        self.claude = claude
        self.client = AnthropicModel(options)
        self.model = MeteredModel(self.client, limiter, MemoryLedger(), cap=cap)
        bus = ScriptedDocument("bus", [[GOOD, "Dogs ride free."]], title="Bus 14")
        board = ScriptedDocument("board", [["The board sets the fare of Bus 14."]])
        found = [bus.hit(0, 0, dense=1.9), board.hit(0, 0, dense=1.8)]
        self.store = ScriptedStore([bus, board], found)
        self.engine = QueryEngine(
            self.store,
            HashEmbedder(8),
            ModelPlanner(self.model, name="m"),
            ModelComposer(self.model, name="m"),
        )

    def ask(self, stream: bool = False) -> Asked:
        *_, last = self.engine.ask_events(QUESTION, ANYONE, stream=stream)
        assert isinstance(last, Answered)
        return last.result

    def kept(self) -> Trace:
        (trace,) = self.store.traces.values()
        return trace


@contextmanager
def world(
    faults: Mapping[tuple[Stage, int], Fault] | None = None, cap: float | None = None
) -> Iterator[World]:
    claude = ScriptedClaude(faults=faults)
    with ModelServer(claude) as server:
        here = World(claude, server.url, cap)
        yield here
        here.client.close()


def plans(change: Callable[[list[dict[str, Any]]], Any]) -> Fault:
    """The right plan with its hops changed."""
    return lambda said: {**said, "hops": change(said["hops"])}  # type: ignore[dict-item]


def test_all_is_well_and_counted() -> None:
    with world() as here:
        asked = here.ask()
    assert [hop.subquestion for hop in asked.retrieval.plan.hops] == [
        "What is the fare of Bus 14?", "who sets the fare of Bus 14?",
    ]  # fmt: skip
    assert asked.retrieval.plan.fallback == ""
    assert asked.answer.found
    assert asked.answer.notes == ()
    assert all(statement.citations for statement in asked.answer.statements)
    assert dict(here.claude.calls) == {"plan": 1, "compose": 1}
    tokens = asked.trace.tokens
    paid = [sum(usage.values()) for usage in here.claude.usages]
    assert [tokens["plan"], tokens["compose"]] == paid
    spent = sum(one.dollars for one in here.model.spending.values())
    assert tokens["plan_dollars"] + tokens["compose_dollars"] == pytest.approx(spent)
    assert spent > 0


BAD_PLANS: dict[str, tuple[Fault, str]] = {
    "nine hops": (plans(lambda hops: [{**hops[0], "id": f"h{n}"} for n in range(9)]), "9 hops"),
    "no hops": (plans(lambda hops: []), "no hops"),
    "circular": (
        plans(lambda hops: [{**hops[0], "depends_on": ["h2"]}, {**hops[1], "depends_on": ["h1"]}]),
        "no hop before it",
    ),
    "truncated": (truncated, "cut off"),
    "refused": (REFUSED, "declined"),
    "empty": (EMPTY, "empty"),
    "an error of the endpoint": (BROKEN, "Internal server error"),
}


@pytest.mark.parametrize("name", BAD_PLANS)
def test_a_bad_plan_makes_the_question_the_only_hop_and_the_answer_comes(name: str) -> None:
    fault, reason = BAD_PLANS[name]
    with world({("plan", 1): fault}) as here:
        asked = here.ask()
    assert [hop.subquestion for hop in asked.trace.plan.hops] == [QUESTION]
    assert reason in asked.trace.plan.fallback
    assert asked.answer.found
    assert here.claude.calls["compose"] == 1
    assert here.claude.calls["plan"] == 1


def test_a_plan_that_is_no_json_by_any_way_falls_back_and_all_ways_are_paid_for() -> None:
    with world({("plan", n): NOT_JSON for n in (1, 2, 3)}) as here:
        asked = here.ask()
    assert "not JSON" in asked.trace.plan.fallback
    assert asked.answer.found
    use = asked.retrieval.plan.use
    assert use is not None
    assert use.calls == here.claude.calls["plan"] == 3


STREAMS = pytest.mark.parametrize("stream", [False, True])


@STREAMS
def test_citations_of_what_was_not_given_are_taken_out(stream: bool) -> None:
    said = Told(f"{GOOD} [1.1] The tram costs 9 crowns [7.1].")
    with world({("compose", 1): said}) as here:
        asked = here.ask(stream)
    assert [s.citations for s in asked.answer.statements] == [(1,), ()]
    assert asked.answer.statements[1].rejected == ("[7.1]",)
    assert asked.answer.citations[0].quote == GOOD
    assert here.kept().statements[1].rejected == ("[7.1]",)


@STREAMS
def test_an_answer_that_was_cut_off_keeps_its_complete_sentences(stream: bool) -> None:
    said = Told(f"{GOOD} [1.1] The board sets the f", "max_tokens")
    with world({("compose", 1): said}) as here:
        asked = here.ask(stream)
    assert [s.text for s in asked.answer.statements] == [f"{GOOD} [1]"]
    assert "cut off" in asked.answer.notes[0]


@STREAMS
def test_what_the_evidence_does_not_hold_is_named(stream: bool) -> None:
    with world({("compose", 1): Told("NOT IN THE EVIDENCE: the night fare")}) as here:
        asked = here.ask(stream)
    assert not asked.answer.found
    assert asked.answer.missing == ("the night fare",)


@STREAMS
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (REFUSED, "declined"),
        (EMPTY, "empty"),
        (BROKEN, "Internal server error"),
        (OVERLOADED, "overloaded"),
    ],
)
def test_no_answer_is_an_error_that_leaves_the_evidence(
    fault: Fault, reason: str, stream: bool
) -> None:
    with world({("compose", 1): fault}) as here:
        with pytest.raises(ModelError) as caught:
            here.ask(stream)
        assert here.claude.calls["compose"] == 1
    assert reason in caught.value.message
    trace = here.kept()
    assert trace.id in caught.value.hint
    assert [p.document_key for p in trace.passages if not p.reason]


def test_a_stream_that_breaks_off_is_no_answer() -> None:
    broken = claude_says(f"{GOOD} [1.1]")._replace(drops_after=6)
    with world({("compose", 1): broken}) as here, pytest.raises(ModelError) as caught:
        here.ask(stream=True)
    trace = here.kept()
    assert trace.id in caught.value.hint
    assert trace.found is None
    assert GOOD not in trace.model_dump_json()


def test_no_money_for_a_plan_is_an_error_before_any_call() -> None:
    with world(cap=0.0) as here:
        with pytest.raises(BudgetSpent):
            here.ask()
        assert here.claude.requests == []


def test_local_answers_fail_one_by_one_and_are_asked_again_alone() -> None:
    with world({("solve", 1): REFUSED}) as here:
        trace = here.ask().trace
        solver = HopSolver(here.model, name="m")
        shown, _ = here.engine.solve(trace.id, ANYONE, solver)
        first, second = (h.solution for h in shown.hops if h.solution)
        assert "declined" in first.problem
        assert second.found
        shown, _ = here.engine.solve(trace.id, ANYONE, solver)
        assert here.claude.calls["solve"] == 3
    assert all(h.solution.found for h in shown.hops if h.solution)
