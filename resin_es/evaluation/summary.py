"""A row's findings in figures, overall and by kind of question. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from resin_es.evaluation.measures import per_question, value_of
from resin_es.evaluation.metrics import (
    document_recall,
    full_recall,
    gold_recall,
    known_mean,
    mean,
    mean_reciprocal_rank,
    recall_at,
)
from resin_es.evaluation.values import (
    AnswerFinding,
    EvalQuestion,
    EvalResult,
    Judgement,
    QuestionResult,
    Spent,
    SystemResult,
)
from resin_es.model.base import Frozen

__all__ = [
    "RANKS",
    "AnswerSummary",
    "BudgetSummary",
    "JudgedSummary",
    "RankSummary",
    "RowSummary",
    "SliceSummary",
    "per_question",
    "percentile",
    "summarise",
    "summarise_all",
    "total_spent",
]

RANKS = (1, 2, 5, 10, 20)
"""Ranks at which recall of a system's own list is given."""


class BudgetSummary(Frozen):
    """All questions of a row at one budget. Shares in [0, 1]; seconds per question.

    ``full`` is the share of questions with all gold sentences, ``all_documents`` with all gold
    documents; like both recalls they are of the questions ``with_gold``, and None where there
    are none. ``over_budget`` counts evidence larger than allowed: a row with any is not
    comparable.
    """

    questions: int
    with_gold: int
    recall: float | None
    full: float | None
    documents: float | None
    all_documents: float | None
    mean_tokens: float
    mean_passages: float
    mean_hops: float
    over_budget: int
    seconds_p50: float
    seconds_p95: float
    spent: Spent


class RankSummary(Frozen):
    """A row's own list, before any budget: recall within the first k items, by k, and MRR. None
    where no question has gold."""

    recall: Mapping[int, float | None]
    documents: Mapping[int, float | None]
    mrr: float | None
    document_mrr: float | None


class JudgedSummary(Frozen):
    """Mean of the judge's scores; failed calls are left out and counted. None: nothing judged."""

    mean: float | None
    judged: int
    failed: int


class AnswerSummary(Frozen):
    """Composed answers, at the largest budget that has any. ``f1`` and ``exact`` are over the
    ``referenced`` ones, questions with a known answer, and None without any; ``answered`` is the
    share that did not say that the evidence lacks an answer."""

    answers: int
    referenced: int
    f1: float | None
    exact: float | None
    answered: float
    relevancy: JudgedSummary
    context_recall: JudgedSummary


class SliceSummary(Frozen):
    """Some of a row's questions, or all."""

    budgets: Mapping[int, BudgetSummary]
    ranks: RankSummary
    answers: AnswerSummary | None = None


class RowSummary(Frozen):
    """One row: overall and, where the data set has kinds, by kind in alphabetical order."""

    system: str
    label: str
    group: str
    skipped: str = ""
    overall: SliceSummary
    by_kind: Mapping[str, SliceSummary]


def summarise_all(result: EvalResult) -> tuple[RowSummary, ...]:
    """Every row of a run."""
    return tuple(summarise(row, result.asked, result.budgets) for row in result.systems)


def summarise(
    row: SystemResult, asked: Sequence[EvalQuestion], budgets: Sequence[int]
) -> RowSummary:
    """``asked`` are the run's questions (``EvalResult.asked``), ``budgets`` its budgets."""
    kinds = {question.id: question.kind for question in asked}
    referenced = frozenset(question.id for question in asked if question.answer)

    def slice_of(results: Sequence[QuestionResult]) -> SliceSummary:
        return _slice(results, budgets, referenced)

    return RowSummary(
        system=row.system,
        label=row.label,
        group=row.group,
        skipped=row.skipped,
        overall=slice_of(row.questions),
        by_kind=_by_kind(row.questions, kinds, slice_of),
    )


def _by_kind(
    results: Sequence[QuestionResult],
    kinds: Mapping[str, str],
    slice_of: Callable[[Sequence[QuestionResult]], SliceSummary],
) -> dict[str, SliceSummary]:
    names = sorted({kinds.get(result.question_id, "") for result in results} - {""})
    return {
        name: slice_of([one for one in results if kinds.get(one.question_id) == name])
        for name in names
    }


def _slice(
    results: Sequence[QuestionResult], budgets: Sequence[int], referenced: frozenset[str]
) -> SliceSummary:
    at = {budget: [one for one in results if one.budget == budget] for budget in budgets}
    composed = [rows for _, rows in sorted(at.items()) if any(one.answer for one in rows)]
    return SliceSummary(
        budgets={budget: _at_budget(rows) for budget, rows in at.items()},
        ranks=_ranks(at[max(at)] if at else ()),
        answers=_answers(composed[-1], referenced) if composed else None,
    )


def _at_budget(results: Sequence[QuestionResult]) -> BudgetSummary:
    found = [one.found for one in results]
    documents = [one.documents_found for one in results]
    seconds = [one.seconds for one in results]
    return BudgetSummary(
        questions=len(results),
        with_gold=sum(bool(flags) for flags in found),
        recall=gold_recall(found),
        full=full_recall(found),
        documents=document_recall(documents),
        all_documents=full_recall(documents),
        mean_tokens=mean(one.tokens for one in results),
        mean_passages=mean(one.passages for one in results),
        mean_hops=mean(one.hops for one in results),
        over_budget=sum(one.tokens > one.budget for one in results),
        seconds_p50=percentile(seconds, 0.5),
        seconds_p95=percentile(seconds, 0.95),
        spent=total_spent(one.spent for one in results),
    )


def _ranks(results: Sequence[QuestionResult]) -> RankSummary:
    ranks = [one.ranks for one in results]
    documents = [one.document_ranks for one in results]
    return RankSummary(
        recall={k: recall_at(ranks, k) for k in RANKS},
        documents={k: recall_at(documents, k) for k in RANKS},
        mrr=mean_reciprocal_rank(ranks),
        document_mrr=mean_reciprocal_rank(documents),
    )


def _answers(results: Sequence[QuestionResult], referenced: frozenset[str]) -> AnswerSummary:
    answers = [one.answer for one in results if one.answer is not None]
    compared = [one for one in results if one.answer is not None and one.question_id in referenced]
    return AnswerSummary(
        answers=len(answers),
        referenced=len(compared),
        f1=known_mean(value_of("f1", one) for one in compared),
        exact=known_mean(value_of("exact", one) for one in compared),
        answered=mean(float(answer.found) for answer in answers),
        relevancy=_judged(answers, lambda answer: answer.relevancy),
        context_recall=_judged(answers, lambda answer: answer.context_recall),
    )


def _judged(
    answers: Sequence[AnswerFinding], judgement: Callable[[AnswerFinding], Judgement | None]
) -> JudgedSummary:
    judgements = [one for answer in answers if (one := judgement(answer)) is not None]
    scores = [one.score for one in judgements if one.score is not None]
    return JudgedSummary(
        mean=known_mean(scores),
        judged=len(scores),
        failed=len(judgements) - len(scores),
    )


def total_spent(spent: Iterable[Spent]) -> Spent:
    """Calls, tokens and dollars added up."""
    total = Spent()
    for one in spent:
        total = total.plus(one)
    return total


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` of ``values`` lie, between neighbours where it falls
    between them; 0 of none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
