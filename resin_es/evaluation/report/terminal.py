"""The report in the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from resin_es.evaluation.report.compared import HERO
from resin_es.evaluation.report.values import Report, RowReport, Section
from resin_es.evaluation.report.words import (
    NO_GOLD,
    asked,
    dollars,
    interval,
    number,
    percent,
    plain,
    points,
    seconds,
    stages_of,
    tokens,
)

HEADS = {
    "baseline": "Baselines",
    "known": "Known way",
    "resin": "RESIN",
    "ablation": "Ablations",
    "external": "External",
}

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


def tables(report: Report) -> list[Table]:
    """All tables of a run, data set by data set, the mean last: that is what a terminal shows
    when it comes to rest."""
    sections = (*report.datasets, *((report.mean,) if report.mean else ()))
    return [table for section in sections for table in section_tables(section)]


def section_tables(section: Section) -> list[Table]:
    """What was found, its rank, size and time, how far from RESIN, where it was lost, what
    others published; tables without a row are left out."""
    made = [found_table(section), size_table(section), against_table(section)]
    made += [lost_table(section), published_table(section)]
    return [table for table in made if table.row_count]


def found_table(section: Section) -> Table:
    """Recall, full recall and documents at each budget."""
    table = _table(f"{section.name}: {asked(section, 'questions')}, in percent")
    for words in ("found", "all", "docs"):
        for budget in section.budgets:
            table.add_column(f"{words}\n{tokens(budget)}", justify="right", no_wrap=True)
    for group, row in _grouped(section):
        if row is None:
            table.add_row(_text(HEADS.get(group, group), "dim italic"))
        elif not row.skipped:
            shares = (row.gold_recall, row.full_recall, row.all_documents)
            cells = (percent(share[budget]) for share in shares for budget in section.budgets)
            table.add_row(_name(row), *cells, style=_style(row))
    table.caption = (
        "found: gold sentences in the evidence; all: questions with all of them; docs: "
        "questions with a sentence of every gold document."
    )
    if not section.with_gold:
        table.caption = NO_GOLD
    skipped = [f"{row.label} ({row.skipped})" for row in section.rows if row.skipped]
    if skipped:
        table.caption += "\nNot run: " + plain("; ".join(skipped))
    return table


def size_table(section: Section) -> Table:
    """MRR, evidence size at each budget, time, and what models cost."""
    table = _table(f"{section.name}: rank, size, time")
    table.add_column("MRR\n%", justify="right", no_wrap=True)
    for budget in section.budgets:
        table.add_column(f"tokens\n{tokens(budget)}", justify="right", no_wrap=True)
    for words in ("seconds\np50", "model\ncalls", "cost\n"):
        table.add_column(words, justify="right", no_wrap=True)
    for _, row in _grouped(section):
        if row is not None and not row.skipped:
            sizes = (tokens(row.mean_tokens[budget]) for budget in section.budgets)
            time = seconds(row.seconds)
            paid = (f"{row.spent.calls:,}", dollars(row.spent.dollars))
            table.add_row(_name(row), percent(row.mrr), *sizes, time, *paid, style=_style(row))
    return table


def against_table(section: Section) -> Table:
    """Each row minus RESIN with its interval; the head says by how much RESIN leads."""
    table = _table(f"{section.name}: found, minus RESIN's, in points [95% interval]")
    for budget in section.budgets:
        table.add_column(tokens(budget), justify="right", no_wrap=True)
    for line in section.headline:
        if line.lead is not None:
            told = f"{points(line.lead.difference)} [{points(line.lead.low)}, "
            told += f"{points(line.lead.high)}]: {line.lead.verdict}"
            caption = f"RESIN at {tokens(line.budget)} over {plain(line.baseline)}: {told}"
            table.caption = f"{table.caption}\n{caption}" if table.caption else caption
    for row in section.rows:
        if row.against_resin:
            cells = (_text(interval(row.against_resin[budget])) for budget in section.budgets)
            table.add_row(_name(row), *cells)
    return table


def lost_table(section: Section) -> Table:
    """RESIN's missed gold sentences by stage."""
    table = _table(f"{section.name}: lost by RESIN")
    row = section.row(HERO)
    if row is None or not row.failures:
        return table
    for budget in row.failures:
        table.add_column(tokens(budget), justify="right")
    for stage, words in stages_of(row).items():
        counts = (f"{row.failures[budget].get(stage, 0):,}" for budget in row.failures)
        table.add_row(words, *counts)
    return table


def published_table(section: Section) -> Table:
    """Figures of others, labelled so."""
    table = _table(f"{section.name}: published, not measured here, in percent")
    for words in ("F1", "context\nrecall", "answer\nrelevancy"):
        table.add_column(words, justify="right", no_wrap=True)
    table.add_column("\nsource", overflow="fold")
    for row in section.published:
        figures = (number(v) for v in (row.f1, row.context_recall, row.answer_relevancy))
        table.add_row(_text(row.system), *figures, _text(row.source))
    return table


# ---------------------------------------------------------------- shared


def _grouped(section: Section) -> Iterable[tuple[str, RowReport | None]]:
    """A head (None) before each group's rows; groups in the report's order."""
    order = [*HEADS, *sorted({row.group for row in section.rows} - HEADS.keys())]
    for group in order:
        rows = [row for row in section.rows if row.group == group]
        if any(not row.skipped for row in rows) and group != "resin":
            yield group, None
        for row in rows:
            yield group, row


def _table(title: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        title=_text(title),
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("", overflow="fold", min_width=12)
    return table


def _name(row: RowReport) -> Text:
    over = f" (over budget: {row.over_budget})" if row.over_budget else ""
    return _text(f"{row.label}{over}")


def _style(row: RowReport) -> str:
    return "bold" if row.group == "resin" else ""


def _text(words: str, style: str = "") -> Text:
    """A data set's or a user's words are no markup."""
    from rich.text import Text

    return Text(plain(words), style=style)
