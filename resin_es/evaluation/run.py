"""One run: every system gets the same questions at the same budgets (design, section 7)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Protocol

from resin_es.errors import InputError
from resin_es.evaluation.align import found_gold, merge_spans
from resin_es.evaluation.datasets import EvalDataset, EvalQuestion, Span
from resin_es.evaluation.metrics import full_recall, gold_recall
from resin_es.model.base import CHARS_PER_TOKEN, Frozen
from resin_es.ports import Progress

BUDGETS = (500, 1000, 2000)


class EvalSystem(Protocol):
    """Anything that answers a question with evidence."""

    @property
    def name(self) -> str: ...

    def evidence(self, question: str, budget: int) -> Sequence[Span]:
        """Spans of the indexed documents' texts, at most ``budget`` tokens of four characters.

        Raises ResinError.
        """
        ...


class QuestionResult(Frozen):
    """One question at one budget: which gold sentences were found, and the evidence's size."""

    question_id: str
    budget: int
    found: tuple[bool, ...]
    tokens: int


class SystemResult(Frozen):
    """One row. ``over_budget`` counts evidence larger than allowed: a row with any is not
    comparable. ``seconds`` is the time for all questions at all budgets."""

    system: str
    recall: Mapping[int, float]
    full: Mapping[int, float]
    mean_tokens: Mapping[int, float]
    over_budget: int
    seconds: float
    questions: tuple[QuestionResult, ...]


class EvalResult(Frozen):
    """All rows of one run over one data set."""

    dataset: str
    documents: int
    questions: int
    budgets: tuple[int, ...]
    systems: tuple[SystemResult, ...]


def evaluate(
    dataset: EvalDataset,
    systems: Sequence[EvalSystem],
    budgets: Sequence[int] = BUDGETS,
    limit: int | None = None,
    progress: Progress | None = None,
) -> EvalResult:
    """Run ``systems`` over the first ``limit`` questions (all by default), in file order.

    Systems run one after the other, so that each has the machine for itself while timed.
    Raises InputError on an empty run, and whatever a system raises: a run with holes in it
    would not be comparable.
    """
    questions = tuple(islice(dataset.questions, limit))
    if not questions or not budgets or min(budgets) < 1:
        raise InputError(
            f"nothing to evaluate: {len(questions)} questions of {dataset.name}, budgets "
            f"{list(budgets)}.",
            hint="Give at least one question and only positive budgets.",
        )
    rows = []
    for number, system in enumerate(systems):
        offset = number * len(questions)
        total = len(questions) * len(systems)
        rows.append(_run(system, questions, tuple(budgets), progress, offset, total))
    return EvalResult(
        dataset=dataset.name,
        documents=len(dataset.documents),
        questions=len(questions),
        budgets=tuple(budgets),
        systems=tuple(rows),
    )


def _run(
    system: EvalSystem,
    questions: Sequence[EvalQuestion],
    budgets: tuple[int, ...],
    progress: Progress | None,
    offset: int,
    total: int,
) -> SystemResult:
    results: list[QuestionResult] = []
    seconds = 0.0
    for number, question in enumerate(questions, 1):
        for budget in budgets:
            started = time.perf_counter()
            evidence = system.evidence(question.question, budget)
            seconds += time.perf_counter() - started
            results.append(_judge(question, budget, evidence))
        if progress is not None:
            progress.update(offset + number, total, system.name)
    return _row(system.name, results, budgets, seconds)


def _judge(question: EvalQuestion, budget: int, evidence: Sequence[Span]) -> QuestionResult:
    merged = merge_spans(evidence)
    characters = sum(end - start for spans in merged.values() for start, end in spans)
    return QuestionResult(
        question_id=question.id,
        budget=budget,
        found=found_gold(question, evidence),
        tokens=-(-characters // CHARS_PER_TOKEN),
    )


def _row(
    name: str, results: Sequence[QuestionResult], budgets: tuple[int, ...], seconds: float
) -> SystemResult:
    at = {budget: [r for r in results if r.budget == budget] for budget in budgets}
    return SystemResult(
        system=name,
        recall={budget: gold_recall([r.found for r in rows]) for budget, rows in at.items()},
        full={budget: full_recall([r.found for r in rows]) for budget, rows in at.items()},
        mean_tokens={b: sum(r.tokens for r in rows) / len(rows) for b, rows in at.items()},
        over_budget=sum(r.tokens > r.budget for r in results),
        seconds=seconds,
        questions=tuple(results),
    )
