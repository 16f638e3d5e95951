"""Which plots a section has, and what each says in a line. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from resin_es.evaluation.report import plots
from resin_es.evaluation.report.ablations import k_of, kind_of
from resin_es.evaluation.report.compared import HERO
from resin_es.evaluation.report.plots import Bar, Line, Range
from resin_es.evaluation.report.values import RowReport, Section
from resin_es.evaluation.report.words import stages_of, tokens

ALL_KINDS = "kind=all"
MOST_LINES = 6
"""Beside RESIN; more cannot be told apart."""


class Chart(NamedTuple):
    """A drawn plot."""

    svg: str
    caption: str


def charts(section: Section) -> dict[str, Chart]:
    """The plots that the section has figures for, by name. Raises UsageError where matplotlib
    is not installed."""
    drawn = {name: draw(section) for name, draw in _CHARTS.items()}
    return {name: chart for name, chart in drawn.items() if chart is not None}


def _budget(section: Section) -> Chart | None:
    rows = _compared(section)
    if not rows or len(section.budgets) < 2:
        return None
    return Chart(
        plots.budget_curve(_budget_lines(rows), section.budgets),
        "Gold sentences found at each evidence budget: higher and further left is better.",
    )


def _size(section: Section) -> Chart | None:
    rows = _compared(section)
    if not rows or len(section.budgets) < 2:
        return None
    return Chart(
        plots.size_curve(_size_lines(rows), section.budgets),
        "Gold sentences found against the text really handed over; vertical lines are the budgets.",
    )


def _forest(section: Section) -> Chart | None:
    ranges = _ranges(section)
    if not ranges:
        return None
    return Chart(
        plots.forest(ranges),
        "Each row minus RESIN, in points, with its 95% interval: left of the line RESIN finds "
        "more. Hollow: the interval holds zero, so it may be chance.",
    )


def _k(section: Section) -> Chart | None:
    lines = _k_lines(section)
    if not lines:
        return None
    return Chart(
        plots.k_curve(lines),
        "Gold sentences found by how many passages a hop keeps, a line a budget.",
    )


def _kinds(section: Section) -> Chart | None:
    bars = _kind_bars(section)
    if not bars:
        return None
    return Chart(
        plots.grouped_bars(bars),
        "Gold sentences found with one kind of unit alone, with all six, and by RESIN, which "
        "searches sentences too.",
    )


def _failures(section: Section) -> Chart | None:
    hero = section.row(HERO)
    if hero is None or not hero.failures:
        return None
    return Chart(
        plots.failure_bars(_stage_bars(hero), stages_of(hero)),
        "RESIN's lost gold sentences by the stage that lost them, a bar a budget.",
    )


_CHARTS: Mapping[str, Callable[[Section], Chart | None]] = {
    "budget": _budget,
    "forest": _forest,
    "k": _k,
    "kinds": _kinds,
    "failures": _failures,
    "size": _size,
}


def _compared(section: Section) -> list[RowReport]:
    """RESIN and the best of what is no ablation, in the section's order. A row that finds
    nothing at all would only flatten the others."""
    others = [
        row
        for row in section.group("baseline", "known", "external")
        if max(_shares(row).values(), default=0.0) > 0
    ]
    best = sorted(others, key=lambda row: -sum(_shares(row).values()))[:MOST_LINES]
    chosen = {row.system for row in best} | {HERO}
    return [row for row in section.rows if row.system in chosen and _shares(row)]


def _shares(row: RowReport) -> dict[int, float]:
    """Gold recall by budget; empty for a row that was not run, and where there is no gold."""
    return {budget: share for budget, share in row.gold_recall.items() if share is not None}


def _budget_lines(rows: Sequence[RowReport]) -> list[Line]:
    return [
        Line(row.label, [(b, 100 * share) for b, share in _shares(row).items()], _hero(row))
        for row in rows
    ]


def _size_lines(rows: Sequence[RowReport]) -> list[Line]:
    return [
        Line(
            row.label,
            [(row.mean_tokens[b], 100 * share) for b, share in _shares(row).items()],
            _hero(row),
        )
        for row in rows
    ]


def _hero(row: RowReport) -> bool:
    return row.system == HERO


def _ranges(section: Section) -> dict[str, list[Range]]:
    """By budget, every row that is no ablation (those have a table of their own) and finds
    anything, in the section's order."""
    rows = [
        row
        for row in section.group("baseline", "known", "external")
        if row.against_resin and max(_shares(row).values(), default=0.0) > 0
    ]
    if not rows:
        return {}
    return {
        f"{tokens(budget)} tokens": [
            Range(row.label, 100 * d.difference, 100 * d.low, 100 * d.high)
            for row in rows
            for d in (row.against_resin[budget],)
        ]
        for budget in section.budgets
    }


def _k_lines(section: Section) -> list[Line]:
    """A line a budget; none with fewer than two k."""
    by_k = {
        k: _shares(row)
        for row in section.rows
        if (k := k_of(row.system)) is not None and _shares(row)
    }
    if len(by_k) < 2:
        return []
    return [
        Line(
            f"{tokens(budget)} tokens",
            [(k, 100 * by_k[k][budget]) for k in sorted(by_k)],
        )
        for budget in section.budgets
    ]


def _kind_bars(section: Section) -> list[Bar]:
    single = [
        row
        for row in section.rows
        if kind_of(row.system) and row.system != ALL_KINDS and _shares(row)
    ]
    if not single:
        return []
    single.sort(key=lambda row: -sum(_shares(row).values()))
    whole = [
        (words, row)
        for words, system in (("RESIN", HERO), ("all six kinds", ALL_KINDS))
        if (row := section.row(system)) is not None
    ]
    labelled = [*whole, *((kind_of(row.system), row) for row in single)]
    return [Bar(label, _by_budget(row)) for label, row in labelled]


def _by_budget(row: RowReport) -> Mapping[str, float]:
    return {f"{tokens(b)} tokens": 100 * share for b, share in _shares(row).items()}


def _stage_bars(row: RowReport) -> list[Bar]:
    return [
        Bar(f"{tokens(budget)} tokens", {stage: float(n) for stage, n in counts.items()})
        for budget, counts in row.failures.items()
    ]
