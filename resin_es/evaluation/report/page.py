"""The report as one HTML file: no script, no network. A data set's text is data: everything is
escaped but the plots that are drawn here, and the page forbids scripts besides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from resin_es.errors import UsageError
from resin_es.evaluation.report import words
from resin_es.evaluation.report.ablations import STUDIES
from resin_es.evaluation.report.charts import charts
from resin_es.evaluation.report.compared import HERO
from resin_es.evaluation.report.values import Ablation, Report, RowReport, Section

if TYPE_CHECKING:
    from jinja2 import Environment

TITLE = "How much of the answer's evidence each system finds"


def render_page(report: Report, *, title: str = TITLE) -> str:
    """The whole page. Raises UsageError where jinja2 or matplotlib is not installed."""
    from_jinja = _environment()
    from markupsafe import Markup

    sections = [
        {
            "data": section,
            "charts": {
                # drawn by us: matplotlib escapes the labels in it
                name: chart._replace(svg=Markup(_own_ids(chart.svg, number)))
                for name, chart in charts(section).items()
            },
        }
        for number, section in enumerate(report.sections, start=1)
    ]
    return from_jinja.get_template("page.html").render(
        title=title,
        measured=words.measured(report.datasets),
        sections=sections,
        commands=list(dict.fromkeys(_command(section) for section in report.datasets)),
        groups=words.GROUPS,
        no_gold=words.NO_GOLD,
        stages=words.STAGES,
        explained=words.STAGES_EXPLAINED,
    )


def _command(section: Section) -> str:
    """What ran it (the fact ``command``), or at least its rows and settings."""
    systems = ",".join(row.system for row in section.rows)
    budgets = ",".join(str(budget) for budget in section.budgets)
    seed = section.facts.get("seed", "0")
    made = f"resin-es eval … --systems {systems} --budgets {budgets} --seed {seed}"
    return section.facts.get("command", made)


def _own_ids(svg: str, section: int) -> str:
    """Ids of a plot that no other section's plot has."""
    for mark in ('id="', 'href="#', "url(#"):
        svg = svg.replace(mark, f"{mark}s{section}-")
    return svg


def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise UsageError(
            "the HTML report needs jinja2, which is not installed.",
            hint="pip install 'resin-es[eval]', or take the JSON results.",
        ) from error
    made = Environment(
        loader=PackageLoader("resin_es.evaluation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(_FILTERS)
    return made


def _best(section: Section) -> dict[int, set[str]]:
    """By budget, the systems with the highest figure of the main table; none without figures."""
    rows = section.group("baseline", "known", "resin", "external")
    best = {}
    for budget in section.budgets:
        figures = {row.system: row.gold_recall[budget] for row in rows}
        highest = max((one for one in figures.values() if one is not None), default=-1.0)
        best[budget] = {system for system, one in figures.items() if one == highest}
    return best


def _studies(lines: Sequence[Ablation]) -> list[tuple[str, list[Ablation]]]:
    """Ablations by study, with the study's words."""
    grouped = ((name, [line for line in lines if line.study == name]) for name in STUDIES)
    return [(STUDIES[name], held) for name, held in grouped if held]


def _hero(section: Section) -> RowReport | None:
    return section.row(HERO)


_FILTERS: dict[str, Any] = {
    "asked": words.asked,
    "best": _best,
    "dollars": words.dollars,
    "hero": _hero,
    "interval": words.interval,
    "number": words.number,
    "percent": words.percent,
    "points": words.points,
    "seconds": words.seconds,
    "stages_of": words.stages_of,
    "studies": _studies,
    "tokens": words.tokens,
}
