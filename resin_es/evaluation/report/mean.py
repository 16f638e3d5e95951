"""The plain mean over data sets, as a section of its own. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from resin_es.evaluation.metrics import known_mean, mean
from resin_es.evaluation.report.ablations import ablations
from resin_es.evaluation.report.compared import against, headline
from resin_es.evaluation.report.values import AnswerReport, RowReport, Section
from resin_es.evaluation.summary import total_spent
from resin_es.evaluation.values import EvalResult, Stage


def mean_section(results: Sequence[EvalResult], sections: Sequence[Section], seed: int) -> Section:
    """The plain mean over data sets: each has the same weight, however many questions. Recall is
    the mean over those that have gold."""
    budgets = tuple(b for b in sections[0].budgets if all(b in s.budgets for s in sections))
    names = [row.system for row in sections[0].rows if all(s.row(row.system) for s in sections)]
    rows = []
    for name in names:
        held = [row for section in sections for row in section.rows if row.system == name]
        row = _mean_row(held, budgets)
        compared = against(results, name, budgets, seed)
        rows.append(row.model_copy(update={"against_resin": compared}))
    return Section(
        name=f"Mean of {len(sections)} data sets",
        documents=sum(section.documents for section in sections),
        questions=sum(section.questions for section in sections),
        with_gold=sum(section.with_gold for section in sections),
        budgets=budgets,
        headline=headline(results, rows, seed),
        rows=tuple(rows),
        ablations=ablations(rows),
    )


def _mean_row(rows: Sequence[RowReport], budgets: Sequence[int]) -> RowReport:
    first = rows[0]

    def by(field: Callable[[RowReport], Mapping[int, float | None]]) -> dict[int, float | None]:
        keys = [key for key in field(first) if all(key in field(row) for row in rows)]
        return {key: known_mean(field(row)[key] for row in rows) for key in keys}

    def recall(field: Callable[[RowReport], Mapping[int, float | None]]) -> dict[int, float | None]:
        return {key: value for key, value in by(field).items() if key in budgets}

    def at(field: Callable[[RowReport], Mapping[int, float]]) -> dict[int, float]:
        return {budget: mean(field(row)[budget] for row in rows) for budget in budgets}

    return RowReport(
        system=first.system,
        label=first.label,
        group=first.group,
        about=first.about,
        gold_recall=recall(lambda row: row.gold_recall),
        full_recall=recall(lambda row: row.full_recall),
        document_recall=recall(lambda row: row.document_recall),
        all_documents=recall(lambda row: row.all_documents),
        gold_recall_at=by(lambda row: row.gold_recall_at),
        document_recall_at=by(lambda row: row.document_recall_at),
        mrr=known_mean(row.mrr for row in rows),
        document_mrr=known_mean(row.document_mrr for row in rows),
        mean_tokens=at(lambda row: row.mean_tokens),
        mean_passages=at(lambda row: row.mean_passages),
        mean_hops=at(lambda row: row.mean_hops),
        seconds_p50=at(lambda row: row.seconds_p50),
        seconds_p95=at(lambda row: row.seconds_p95),
        over_budget=sum(row.over_budget for row in rows),
        spent=total_spent(row.spent for row in rows),
        answers=_mean_answers([row.answers for row in rows]),
        failures=_summed([row.failures for row in rows], budgets),
    )


def _mean_answers(answers: Sequence[AnswerReport | None]) -> AnswerReport | None:
    held = [one for one in answers if one is not None]
    if not held or len(held) < len(answers):
        return None
    return AnswerReport(
        answers=sum(one.answers for one in held),
        referenced=sum(one.referenced for one in held),
        f1=known_mean(one.f1 for one in held),
        exact=known_mean(one.exact for one in held),
        answered=mean(one.answered for one in held),
        relevancy=known_mean(one.relevancy for one in held),
        context_recall=known_mean(one.context_recall for one in held),
        judge_failures=sum(one.judge_failures for one in held),
    )


def _summed(
    counts: Sequence[Mapping[int, Mapping[Stage, int]]], budgets: Sequence[int]
) -> dict[int, dict[Stage, int]]:
    if not any(counts):
        return {}
    return {
        budget: {
            stage: sum(one.get(budget, {}).get(stage, 0) for one in counts)
            for stage in dict.fromkeys(chain.from_iterable(one.get(budget, {}) for one in counts))
        }
        for budget in budgets
    }
