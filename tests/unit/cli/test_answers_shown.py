"""What a terminal shows of an answer and a trace that a language model had a hand in."""

from __future__ import annotations

import io
import json
from typing import Any

from rich.console import Console
from rich.progress import TextColumn

from resin_es.cli.live import LiveBars
from resin_es.cli.render import answer_to_json, print_answer
from resin_es.cli.render_trace import print_shown_trace
from resin_es.llm.solver import HopSolver
from resin_es.query.values import Answered, Asked
from resin_es.testing.scripted_language import ScriptedLanguageModel, data_reply, text_reply
from tests.unit.llm.city import PLAN, QUESTION, STAFF, by_stage, engine, world

SAID = (
    "A ride costs three crowns [1.1]. Nobody checks tickets [9.9].\n"
    "NOT IN THE EVIDENCE: the night fare"
)


def asked(**answers: Any) -> tuple[Any, Asked]:
    answers = {"plan": data_reply(PLAN, dollars=0.25), "compose": text_reply(SAID), **answers}
    asking = engine(world(), ScriptedLanguageModel(by_stage(**answers)), rules=False)
    *_, last = asking.ask_events(QUESTION, STAFF)
    assert isinstance(last, Answered)
    return asking, last.result


def shown(printing: Any, *values: Any) -> str:
    out = Console(file=io.StringIO(), width=200, highlight=False)
    printing(out, *values)
    text = out.file.getvalue()
    assert isinstance(text, str)
    return text


def test_uncited_sentences_rejects_missing_needs_and_cost_are_seen() -> None:
    _, result = asked()
    text = shown(print_answer, result)
    assert "  A ride costs three crowns. [1]\n" in text
    assert "  Nobody checks tickets. [uncited]\n" in text
    assert "note: 1 of 2 sentences carry no valid citation." in text
    assert "note: Citations that name no sentence given, taken out (1): [9.9]" in text
    assert text.count("not in the evidence: the night fare") == 1
    assert "answerer: " in text
    assert "$0.2500" in text
    assert "9.9]." not in text


def test_an_answer_that_is_not_held_says_so_once() -> None:
    _, result = asked(compose="NOT IN THE EVIDENCE: the night fare")
    text = shown(print_answer, result)
    assert "  The evidence does not say.\n" in text
    assert text.lower().count("not in the evidence: the night fare") == 1


def test_a_plan_that_fell_back_or_was_mended_says_so_beside_the_answer() -> None:
    _, result = asked(plan="no plan")
    assert "fallback to the whole question: ModelError: the plan is not JSON" in shown(
        print_answer, result
    )
    _, result = asked(plan=PLAN | {"mode": "spiral"})
    assert "plan: The planner's mode 'spiral' does not exist" in shown(print_answer, result)


def test_the_json_of_an_answer_has_all_of_it() -> None:
    _, result = asked()
    told = json.loads(json.dumps(answer_to_json(result)))
    assert told["statements"][1] == {
        "text": "Nobody checks tickets. [uncited]", "citations": [], "rejected": ["[9.9]"],
    }  # fmt: skip
    assert told["missing"] == ["the night fare"]
    assert len(told["notes"]) == 2
    assert told["use"]["tokens"] == 10 + len(SAID)
    assert told["plan"]["use"]["dollars"] == 0.25
    assert told["remarks"] == []


def test_a_trace_shows_words_rejects_models_tokens_and_local_answers() -> None:
    asking, result = asked()
    solver = HopSolver(
        ScriptedLanguageModel(
            [
                {"answer": "Three crowns.", "found": True, "records": [1, 7]},
                {"answer": "Nothing says who.", "found": False, "records": []},
            ]
        ),
        name="answerer",
    )
    trace, _ = asking.solve(result.trace.id, STAFF, solver)
    text = shown(print_shown_trace, trace)
    for told in (
        "A ride costs three crowns. [1]\n",
        "Nobody checks tickets. [uncited]\n",
        "cited, but not given: [9.9]",
        "not in the evidence: the night fare",
        "composer answerer/1-",
        "plan_dollars 0.25",
        "local answer (answerer/1-",
        "  Three crowns.\n",
        "rests on Bus 14: The fare of Bus 14 is 3 crowns.",
        "named, but not given: [7]",
        "not found: Nothing says who.",
    ):
        assert told in text
    assert "$0" not in text  # a model without a price is not shown as free
    assert "compose_dollars" not in text


def test_text_that_is_written_grows_under_the_bars_and_cannot_command_the_terminal() -> None:
    out = Console(file=io.StringIO(), width=40, height=10, force_terminal=True)
    bars = LiveBars(TextColumn("{task.description}"), console=out, auto_refresh=False)
    with bars:
        for number in range(30):
            bars.write(f"piece \x1b]0;{number}\x07\n")
        pieces = [str(part) for part in bars.get_renderables()]
    assert pieces[-1].splitlines()[-1] == "piece ]0;29"
    assert len(pieces[-1].splitlines()) <= 7
    assert "\x07" not in out.file.getvalue()  # type: ignore[attr-defined]
