"""A run: every question at every budget, rows side by side, and both reports."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pytest
from rich.console import Console

from resin_es.errors import InputError, StoreUnavailable
from resin_es.evaluation.datasets import EvalDataset, EvalQuestion, GoldSentence, Span
from resin_es.evaluation.report import as_dict, as_table
from resin_es.evaluation.run import EvalResult, evaluate


def span(document: str, start: int, end: int) -> Span:
    return Span(document_id=document, start=start, end=end)


def question(key: str, *spans: Span) -> EvalQuestion:
    gold = tuple(GoldSentence(id=f"{key}-{n}", places=(s,)) for n, s in enumerate(spans))
    return EvalQuestion(id=key, question=f"{key}?", gold=gold)


DATASET = EvalDataset(
    name="fish",
    documents=(),
    questions=(
        question("q1", span("a", 0, 20), span("a", 20, 40)),
        question("q2", span("b", 0, 20)),
        question("q3", span("c", 0, 20)),
    ),
)


class Fixed:
    """Hands out the first ``budget`` tokens of documents a and b."""

    name = "fixed"

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def evidence(self, question: str, budget: int) -> Sequence[Span]:
        self.asked.append((question, budget))
        document = "a" if question == "q1?" else "b"
        return [span(document, 0, budget * 4)]


class Wasteful:
    name = "wasteful"

    def evidence(self, question: str, budget: int) -> Sequence[Span]:
        return [span("a", 0, budget * 4), span("a", 2, budget * 4 + 1)]


class Recorder:
    def __init__(self) -> None:
        self.calls: list[tuple[int, int | None, str]] = []

    def update(self, done: int, total: int | None, description: str) -> None:
        self.calls.append((done, total, description))


@pytest.fixture
def result() -> EvalResult:
    return evaluate(DATASET, [Fixed(), Wasteful()], budgets=(5, 10))


def test_recall_and_full_share_per_budget(result: EvalResult) -> None:
    fixed = result.systems[0]
    assert fixed.recall == {5: 0.5, 10: pytest.approx(2 / 3)}
    assert fixed.full == {5: pytest.approx(1 / 3), 10: pytest.approx(2 / 3)}
    assert fixed.mean_tokens == {5: 5.0, 10: 10.0}
    assert fixed.over_budget == 0
    assert [(q.question_id, q.budget) for q in fixed.questions[:2]] == [("q1", 5), ("q1", 10)]
    assert fixed.questions[0].found == (True, False)


def test_evidence_over_budget_is_counted_once_per_character(result: EvalResult) -> None:
    wasteful = result.systems[1]
    assert wasteful.over_budget == 6
    assert wasteful.questions[0].tokens == 6


def test_every_question_at_every_budget_up_to_the_limit() -> None:
    system, recorder = Fixed(), Recorder()
    run = evaluate(DATASET, [system], budgets=(5, 10), limit=2, progress=recorder)
    assert run.questions == 2
    assert system.asked == [("q1?", 5), ("q1?", 10), ("q2?", 5), ("q2?", 10)]
    assert recorder.calls == [(1, 2, "fixed"), (2, 2, "fixed")]


@pytest.mark.parametrize(("budgets", "limit"), [((), None), ((0,), None), ((5,), 0)])
def test_an_empty_run_is_refused(budgets: tuple[int, ...], limit: int | None) -> None:
    with pytest.raises(InputError, match="nothing to evaluate"):
        evaluate(DATASET, [Fixed()], budgets=budgets, limit=limit)


def test_an_error_of_a_system_is_not_a_zero() -> None:
    class Down:
        name = "down"

        def evidence(self, question: str, budget: int) -> Sequence[Span]:
            raise StoreUnavailable("gone")

    with pytest.raises(StoreUnavailable):
        evaluate(DATASET, [Down()])


def test_json_report(result: EvalResult) -> None:
    report = as_dict([result])
    (dataset,) = report["datasets"]
    assert dataset["dataset"] == "fish"
    assert (dataset["questions"], dataset["budgets"]) == (3, [5, 10])
    row = dataset["systems"][0]
    assert row["system"] == "fixed"
    assert row["gold_recall"] == {"5": 0.5, "10": 0.6667}
    assert row["full_recall"] == {"5": 0.3333, "10": 0.6667}
    assert "questions" not in row
    detailed = as_dict([result], questions=True)["datasets"][0]["systems"][0]["questions"]
    assert detailed[0] == {"id": "q1", "budget": 5, "found": [True, False], "tokens": 5}
    assert json.loads(json.dumps(report)) == report


def test_table_report(result: EvalResult) -> None:
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(as_table(result))
    text = console.export_text()
    assert "fish: 3 questions" in text
    assert "0.500" in text
    assert "wasteful (over budget: 6)" in text
