"""Results → report: summaries side by side, differences with intervals, the mean. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.evaluation.report.ablations import ablations, k_of, kind_of
from resin_es.evaluation.report.compared import HERO, against, has_row, headline, with_gold
from resin_es.evaluation.report.lost import examples, stage_counts
from resin_es.evaluation.report.mean import mean_section
from resin_es.evaluation.report.values import (
    AnswerReport,
    PublishedFigures,
    Report,
    RowReport,
    Section,
    SliceReport,
)
from resin_es.evaluation.subsets import SUBSETS, subset
from resin_es.evaluation.summary import (
    AnswerSummary,
    RankSummary,
    SliceSummary,
    summarise,
    total_spent,
)
from resin_es.evaluation.values import EvalResult, SystemResult

_ON_SUBSETS = (HERO, "kind=causal-edge", "entities")
"""Rows that a subset was made for: the filters, beside no filter."""


def build_report(results: Sequence[EvalResult], *, seed: int = 0) -> Report:
    """The report of a run. ``seed`` is that of the intervals. Rows that some data set lacks, or
    skipped, stand in no mean."""
    sections = tuple(_section(result, seed) for result in results)
    return Report(
        datasets=sections, mean=mean_section(results, sections, seed) if len(sections) > 1 else None
    )


# ---------------------------------------------------------------- one data set


def _section(result: EvalResult, seed: int) -> Section:
    rows = tuple(_row(row, result, seed) for row in result.systems)
    return Section(
        name=result.dataset,
        documents=result.documents,
        questions=len(result.asked),
        with_gold=with_gold(result.asked),
        budgets=result.budgets,
        headline=headline([result], rows, seed),
        rows=rows,
        by_kind=_kinds(result),
        subsets=_subsets(result),
        ablations=ablations(rows),
        examples=examples(result, HERO),
        published=tuple(PublishedFigures(**row.model_dump()) for row in result.published),
        facts=result.facts,
    )


def _row(row: SystemResult, result: EvalResult, seed: int) -> RowReport:
    if row.skipped:
        return RowReport(
            system=row.system,
            label=row.label,
            group=row.group,
            about=row.about,
            skipped=row.skipped,
        )
    summary = summarise(row, result.asked, result.budgets)
    return reported(row, summary.overall).model_copy(
        update={
            "against_resin": against([result], row.system, result.budgets, seed),
            "failures": stage_counts(row, result.budgets),
        }
    )


def reported(row: SystemResult, summary: SliceSummary) -> RowReport:
    """A row's figures, without what compares it with others."""
    at = summary.budgets
    ranks: RankSummary = summary.ranks
    return RowReport(
        system=row.system,
        label=row.label,
        group=row.group,
        about=row.about,
        gold_recall={budget: one.recall for budget, one in at.items()},
        full_recall={budget: one.full for budget, one in at.items()},
        document_recall={budget: one.documents for budget, one in at.items()},
        all_documents={budget: one.all_documents for budget, one in at.items()},
        gold_recall_at=ranks.recall,
        document_recall_at=ranks.documents,
        mrr=ranks.mrr,
        document_mrr=ranks.document_mrr,
        mean_tokens={budget: one.mean_tokens for budget, one in at.items()},
        mean_passages={budget: one.mean_passages for budget, one in at.items()},
        mean_hops={budget: one.mean_hops for budget, one in at.items()},
        seconds_p50={budget: one.seconds_p50 for budget, one in at.items()},
        seconds_p95={budget: one.seconds_p95 for budget, one in at.items()},
        over_budget=sum(one.over_budget for one in at.values()),
        spent=total_spent(one.spent for one in at.values()),
        answers=_answers(summary.answers),
    )


def _answers(summary: AnswerSummary | None) -> AnswerReport | None:
    if summary is None:
        return None
    return AnswerReport(
        answers=summary.answers,
        referenced=summary.referenced,
        f1=summary.f1,
        exact=summary.exact,
        answered=summary.answered,
        relevancy=summary.relevancy.mean,
        context_recall=summary.context_recall.mean,
        judge_failures=summary.relevancy.failed + summary.context_recall.failed,
    )


def _kinds(result: EvalResult) -> tuple[SliceReport, ...]:
    """The rows by the data set's own kinds of question, where it has several."""
    names = sorted({question.kind for question in result.asked} - {""})
    if len(names) < 2:
        return ()
    run = [row for row in result.systems if not row.skipped and not _single(row.system)]
    summaries = [(row, summarise(row, result.asked, result.budgets)) for row in run]
    return tuple(
        SliceReport(
            name=name,
            questions=sum(question.kind == name for question in result.asked),
            with_gold=with_gold(one for one in result.asked if one.kind == name),
            rows=tuple(reported(row, summary.by_kind[name]) for row, summary in summaries),
        )
        for name in names
    )


def _single(system: str) -> bool:
    """Whether a row is one k or one kind of unit: rows that say nothing about questions."""
    return k_of(system) is not None or bool(kind_of(system))


def _subsets(result: EvalResult) -> tuple[SliceReport, ...]:
    """The filters beside no filter, over the questions that they were made for."""
    if not any(has_row([result], system) for system in _ON_SUBSETS[1:]):
        return ()
    slices = []
    for name, one in SUBSETS.items():
        part = subset(result, name)
        rows = [row for row in part.systems if row.system in _ON_SUBSETS and row.questions]
        if part.asked and rows:
            slices.append(
                SliceReport(
                    name=name,
                    about=one.about,
                    questions=len(part.asked),
                    with_gold=with_gold(part.asked),
                    rows=tuple(
                        reported(row, summarise(row, part.asked, part.budgets).overall)
                        for row in rows
                    ),
                )
            )
    return tuple(slices)
