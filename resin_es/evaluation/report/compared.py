"""Rows compared with RESIN: differences, and its lead over the best baseline. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from resin_es.evaluation.intervals import Interval
from resin_es.evaluation.measures import compare
from resin_es.evaluation.report.values import Difference, Headline, RowReport
from resin_es.evaluation.values import EvalQuestion, EvalResult

HERO = "resin"
"""The system that the others are compared with."""


def has_row(results: Iterable[EvalResult], system: str) -> bool:
    return all(
        any(row.system == system and row.questions for row in result.systems) for result in results
    )


def with_gold(asked: Iterable[EvalQuestion]) -> int:
    """How many of the questions have gold: recall is over these."""
    return sum(bool(question.gold) for question in asked)


def against(
    results: Sequence[EvalResult], system: str, budgets: Iterable[int], seed: int
) -> dict[int, Difference]:
    """Gold recall of ``system`` minus RESIN's, by budget, over the data sets with gold; empty
    for RESIN itself, and where no data set has any."""
    held = [result for result in results if with_gold(result.asked)]
    if system == HERO or not held or not has_row(results, HERO):
        return {}
    return {
        budget: _difference(compare(held, HERO, system, "recall", budget, seed=seed))
        for budget in budgets
    }


def _difference(interval: Interval) -> Difference:
    return Difference(
        difference=_plain(interval.difference),
        low=_plain(interval.low),
        high=_plain(interval.high),
        questions=interval.n,
        level=interval.level,
    )


def _plain(value: float) -> float:
    """Without the noise of adding floats, which would set an interval off zero."""
    return round(value, 9) + 0.0


def headline(
    results: Sequence[EvalResult], rows: Sequence[RowReport], seed: int
) -> tuple[Headline, ...]:
    """RESIN beside the best row of the group ``baseline``, at each budget where there is gold to
    find."""
    resin = next((row for row in rows if row.system == HERO and not row.skipped), None)
    if resin is None:
        return ()
    baselines = [row for row in rows if row.group == "baseline" and not row.skipped]
    lines = []
    held = [result for result in results if with_gold(result.asked)]
    for budget, recall in resin.gold_recall.items():
        if recall is None:
            continue
        best = max(baselines, key=lambda row: row.gold_recall[budget] or 0.0, default=None)
        if best is None or budget not in best.against_resin:
            lines.append(Headline(budget=budget, resin=recall))
            continue
        lead = compare(held, best.system, HERO, "recall", budget, seed=seed)
        lines.append(
            Headline(
                budget=budget,
                resin=recall,
                baseline=best.label,
                baseline_recall=best.gold_recall[budget],
                lead=_difference(lead),
            )
        )
    return tuple(lines)
