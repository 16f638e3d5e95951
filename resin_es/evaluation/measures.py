"""One number a question, by name: what is compared between rows, with its interval. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from resin_es.errors import InputError
from resin_es.evaluation.intervals import RESAMPLES, Interval, paired_bootstrap
from resin_es.evaluation.metrics import reciprocal_rank
from resin_es.evaluation.values import (
    AnswerFinding,
    EvalQuestion,
    EvalResult,
    Judgement,
    QuestionResult,
    SystemResult,
)

Measure = Callable[[QuestionResult], float | None]
"""A question's value; None where it has none (no gold, no answer, a judge that failed)."""

ANSWER_MEASURES = frozenset({"f1", "exact"})
"""Measures that need a known answer beside the composed one."""


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None


def _all(flags: Sequence[bool]) -> float | None:
    return float(all(flags)) if flags else None


def _of_answer(value: Callable[[AnswerFinding], float | None]) -> Measure:
    return lambda result: None if result.answer is None else value(result.answer)


def _score(judgement: Judgement | None) -> float | None:
    return None if judgement is None else judgement.score


MEASURES: Mapping[str, Measure] = {
    "recall": lambda result: _share(result.found),
    "full": lambda result: _all(result.found),
    "documents": lambda result: _share(result.documents_found),
    "all_documents": lambda result: _all(result.documents_found),
    "mrr": lambda result: reciprocal_rank(result.ranks),
    "document_mrr": lambda result: reciprocal_rank(result.document_ranks),
    "f1": _of_answer(lambda answer: answer.f1),
    "exact": _of_answer(lambda answer: answer.exact),
    "answered": _of_answer(lambda answer: float(answer.found)),
    "relevancy": _of_answer(lambda answer: _score(answer.relevancy)),
    "context_recall": _of_answer(lambda answer: _score(answer.context_recall)),
    "tokens": lambda result: float(result.tokens),
    "seconds": lambda result: result.seconds,
}
"""The measures by name; ``recall@5`` and ``documents@5`` (any k) are known besides."""


def value_of(metric: str, result: QuestionResult) -> float | None:
    """Raises InputError where no measure has that name."""
    if metric in MEASURES:
        return MEASURES[metric](result)
    name, _, k = metric.partition("@")
    if name in ("recall", "documents") and k.isdecimal() and int(k) > 0:
        ranks = result.ranks if name == "recall" else result.document_ranks
        return _share([0 < rank <= int(k) for rank in ranks])
    raise InputError(
        f"unknown measure {metric!r}.",
        hint=f"Known: {', '.join(MEASURES)}, recall@K, documents@K.",
    )


def values_by_question(
    row: SystemResult, metric: str, budget: int, asked: Sequence[EvalQuestion] = ()
) -> dict[str, float]:
    """The row's value for every question that has one, by question id, in the row's order.

    With ``asked``, questions without a known answer are left out of answer measures.
    """
    unknown = {question.id for question in asked if not question.answer}
    skipped = unknown if metric in ANSWER_MEASURES else frozenset()
    return {
        result.question_id: value
        for result in row.questions
        if result.budget == budget
        and result.question_id not in skipped
        and (value := value_of(metric, result)) is not None
    }


def per_question(
    row: SystemResult, metric: str, budget: int, asked: Sequence[EvalQuestion] = ()
) -> list[float]:
    """``values_by_question`` without the ids. Raises InputError on an unknown measure."""
    return list(values_by_question(row, metric, budget, asked).values())


def compare(
    results: Sequence[EvalResult],
    a: str,
    b: str,
    metric: str,
    budget: int,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """How much better row ``b`` is than row ``a``, over the runs' data sets, each with the same
    weight, by the questions that have a value in both rows.

    Raises InputError on an unknown measure, or a data set without a question to compare by;
    KeyError where a run lacks a row.
    """
    strata_a: list[list[float]] = []
    strata_b: list[list[float]] = []
    for result in results:
        first = values_by_question(result.row(a), metric, budget, result.asked)
        second = values_by_question(result.row(b), metric, budget, result.asked)
        shared = [key for key in first if key in second]
        if not shared:
            raise InputError(
                f"{result.dataset}: no question has {metric} at {budget} in both {a} and {b}."
            )
        strata_a.append([first[key] for key in shared])
        strata_b.append([second[key] for key in shared])
    return paired_bootstrap(strata_a, strata_b, resamples=resamples, seed=seed)
