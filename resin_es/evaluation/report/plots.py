"""Plots as inline SVG: numbers in, text out. The same numbers give the same bytes.

Okabe and Ito's colours, told apart by marker and dash as well, so that neither a printer nor
colour blindness takes a line away. Labels are drawn as they are, never read as formulas.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

from resin_es.errors import UsageError
from resin_es.evaluation.values import Stage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Given = ParamSpec("_Given")

INK, FAINT = "#1b1f24", "#d5d9de"
HERO = "#0072B2"
COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6b6b6b", "#8c6d31", "#000000")
MARKERS = ("s", "^", "D", "v", "P", "X", "<", ">")
DASHES = ("--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)), "--")
COLOURS_OF_BUDGETS = ("#4292c6", "#0b559f", "#08306b", "#6b6b6b", "#1b1f24")
SHADES = ("#9ecae1", "#4292c6", "#084594", "#6b6b6b", "#1b1f24")
"""A budget each, light to dark."""
STAGE_COLOURS = {
    "not_indexed": "#6b6b6b",
    "not_retrieved": "#D55E00",
    "not_selected": "#E69F00",
    "not_used": "#56B4E9",
}

_RC: dict[str, Any] = {
    "svg.hashsalt": "resin-es",
    "svg.fonttype": "path",
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "text.parse_math": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


class Line(NamedTuple):
    """A line of a chart: x and y pairs; ``hero`` is drawn thick, on top."""

    label: str
    points: Sequence[tuple[float, float]]
    hero: bool = False


class Bar(NamedTuple):
    """A bar, or a stack of parts, by name."""

    label: str
    values: Mapping[str, float]


class Range(NamedTuple):
    """A difference and its interval."""

    label: str
    value: float
    low: float
    high: float


def missing_matplotlib() -> UsageError:
    """What an HTML report without matplotlib ends in."""
    return UsageError(
        "the report's plots need matplotlib, which is not installed.",
        hint="pip install 'resin-es[eval]', or take the JSON results.",
    )


def _drawn(draw: Callable[_Given, str]) -> Callable[_Given, str]:
    """Draw under the report's own style, whatever the user's says. Raises UsageError where
    matplotlib is not installed."""

    @wraps(draw)
    def styled(*args: _Given.args, **kwargs: _Given.kwargs) -> str:
        try:
            from matplotlib import style
        except ImportError as error:
            raise missing_matplotlib() from error
        with style.context(["default", _RC]):
            return draw(*args, **kwargs)

    return styled


@_drawn
def budget_curve(lines: Sequence[Line], budgets: Sequence[int]) -> str:
    """Recall (percent) over evidence budgets, evenly spaced."""
    places = {budget: float(number) for number, budget in enumerate(budgets)}
    moved = [line._replace(points=[(places[int(x)], y) for x, y in line.points]) for line in lines]
    figure, axes = _start(5.9, 3.2)
    _lines(axes, moved)
    axes.set_xticks(list(places.values()), [f"{budget:,}" for budget in budgets])
    axes.margins(x=0.08)
    axes.set_xlabel("evidence budget (tokens of four characters)")
    axes.set_ylabel("gold sentences found, %")
    _legend_beside(axes, lines)
    return _svg(figure, "budget", "Gold sentences found at each evidence budget, a line a system")


@_drawn
def k_curve(lines: Sequence[Line]) -> str:
    """Recall (percent) over candidates kept per hop, a line a budget."""
    figure, axes = _start(5.9, 3.2)
    _lines(axes, lines, COLOURS_OF_BUDGETS)
    axes.set_xticks(sorted({x for line in lines for x, _ in line.points}))
    axes.set_xlabel("passages kept per hop (k)")
    axes.set_ylabel("gold sentences found, %")
    _legend_beside(axes, lines)
    return _svg(figure, "k", "Gold sentences found by number of passages kept per hop")


@_drawn
def size_curve(lines: Sequence[Line], budgets: Sequence[int]) -> str:
    """Recall (percent) over mean evidence size, a point a budget."""
    figure, axes = _start(5.9, 3.2)
    _lines(axes, lines)
    for budget in budgets:
        axes.axvline(budget, color=FAINT, linewidth=1.2, zorder=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("evidence handed over (mean tokens)")
    axes.set_ylabel("gold sentences found, %")
    _legend_beside(axes, lines)
    return _svg(figure, "size", "Gold sentences found against the size of the evidence")


@_drawn
def grouped_bars(bars: Sequence[Bar], name: str = "kinds") -> str:
    """Recall (percent) in horizontal bars, one a budget within each group."""
    parts = list(bars[0].values)
    figure, axes = _start(5.9, 0.9 + len(bars) * (0.19 * len(parts) + 0.14))
    thick = 0.8 / len(parts)
    for number, part in enumerate(parts):
        places = [row + number * thick - 0.4 + thick / 2 for row in range(len(bars))]
        values = [bar.values[part] for bar in bars]
        colour = SHADES[number % len(SHADES)]
        axes.barh(places, values, height=thick * 0.9, color=colour, label=part)
        for place, value in zip(places, values, strict=True):
            axes.text(value + 0.8, place, f"{value:.1f}", va="center", fontsize=7)
    axes.set_xlim(0, 108)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("gold sentences found, %")
    _rows(axes, [bar.label for bar in bars])
    _legend_beside(axes)
    return _svg(figure, name, "Gold sentences found with each kind of address alone")


@_drawn
def failure_bars(bars: Sequence[Bar], names: Mapping[Stage, str]) -> str:
    """Gold sentences lost, stacked by stage, a bar a budget; ``names`` are the stages' words."""
    figure, axes = _start(5.9, 1.0 + 0.42 * len(bars))
    left = [0.0] * len(bars)
    widest = max((sum(bar.values.values()) for bar in bars), default=0.0) or 1.0
    for stage, words in names.items():
        values = [bar.values.get(stage, 0.0) for bar in bars]
        colour = STAGE_COLOURS.get(stage, INK)
        axes.barh(range(len(bars)), values, left=left, color=colour, height=0.66, label=words)
        for row, value in enumerate(values):
            if value / widest > 0.04:
                place = left[row] + value / 2
                axes.text(place, row, f"{value:.0f}", ha="center", va="center", fontsize=8)
        left = [before + value for before, value in zip(left, values, strict=True)]
    axes.set_xlim(0, widest * 1.02)
    axes.set_xlabel("gold sentences lost")
    _rows(axes, [bar.label for bar in bars])
    _legend_beside(axes)
    return _svg(figure, "failures", "Gold sentences lost, by stage, at each evidence budget")


@_drawn
def forest(panels: Mapping[str, Sequence[Range]]) -> str:
    """Differences in points with their intervals: a panel a budget, a line a row; the rows of
    all panels are the same."""
    labels = [item.label for item in next(iter(panels.values()))]
    figure = _figure(5.9, 0.9 + 0.29 * len(labels))
    all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (title, ranges) in zip(all_axes, panels.items(), strict=True):
        _forest_panel(axes, title, ranges)
    _rows(all_axes[0], labels)
    return _svg(figure, "forest", "Differences to RESIN in points, with 95% intervals")


def _forest_panel(axes: Axes, title: str, ranges: Sequence[Range]) -> None:
    axes.axvline(0, color=INK, linewidth=0.9)
    for row, item in enumerate(ranges):
        sure = item.low > 0 or item.high < 0
        colour = HERO if sure else "#6b6b6b"
        axes.plot([item.low, item.high], [row, row], color=colour, linewidth=1.6)
        face = colour if sure else "white"
        axes.plot([item.value], [row], "o", color=colour, markersize=4.5, markerfacecolor=face)
    axes.set_title(title, fontsize=9)
    axes.set_xlabel("points")
    axes.margins(x=0.08)
    axes.locator_params(axis="x", nbins=4)


# ---------------------------------------------------------------- shared


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _start(width: float, height: float) -> tuple[Figure, Axes]:
    figure = _figure(width, height)
    return figure, figure.subplots()


def _lines(axes: Axes, lines: Sequence[Line], colours: Sequence[str] = COLOURS) -> None:
    others = [line for line in lines if not line.hero]
    for number, line in enumerate(others):
        xs, ys = zip(*line.points, strict=True) if line.points else ((), ())
        axes.plot(
            xs,
            ys,
            color=colours[number % len(colours)],
            marker=MARKERS[number % len(MARKERS)],
            linestyle=DASHES[number % len(DASHES)],
            linewidth=1.3,
            markersize=4.5,
            label=line.label,
        )
    for line in lines:
        if line.hero:
            xs, ys = zip(*line.points, strict=True)
            axes.plot(xs, ys, color=HERO, marker="o", linewidth=2.6, label=line.label, zorder=5)


def _rows(axes: Axes, labels: Sequence[str]) -> None:
    """One label a row, the first one on top; long ones are cut."""
    axes.set_yticks(range(len(labels)), [_cut(label) for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _cut(label: str, longest: int = 30) -> str:
    return label if len(label) <= longest else label[: longest - 1].rstrip() + "…"


def _legend_beside(axes: Axes, lines: Sequence[Line] = ()) -> None:
    """Outside, so that it never covers a line; lines in the order of their right-hand ends."""
    handles, labels = axes.get_legend_handles_labels()
    ends = {line.label: -line.points[-1][1] for line in lines if line.points}
    order = sorted(range(len(labels)), key=lambda number: ends.get(labels[number], 0.0))
    axes.legend(
        [handles[number] for number in order],
        [_cut(labels[number], 26) for number in order],
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0.0,
        fontsize=7.5,
        handlelength=2.4,
    )


def _svg(figure: Figure, name: str, title: str) -> str:
    """The figure without prolog, date or program; its ids start with ``name``, so that several
    figures can stand in one page."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata=_NO_METADATA, transparent=True)
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    label = html.escape(title, quote=True)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
