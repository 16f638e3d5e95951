"""Plots: well-formed, the same every time, and no place for other people's markup."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

from resin_es.errors import UsageError
from resin_es.evaluation.report import build_report, plots
from resin_es.evaluation.report.charts import charts
from resin_es.evaluation.report.plots import Bar, Line, Range
from tests.unit.evaluation.report.made_up import made_up

HOSTILE = "$\\frac{1}{ <script>alert(1)</script> & ]]> --> 'x\" "
LINES = [
    Line("RESIN", [(500, 87.0), (1000, 90.0)], hero=True),
    Line(HOSTILE, [(500, 80.0), (1000, 85.0)]),
]
BARS = [Bar(HOSTILE, {"500": 60.0, "1,000": 70.0}), Bar("rule", {"500": 1.0, "1,000": 0.0})]

DRAWN: dict[str, Callable[[], str]] = {
    "budget": lambda: plots.budget_curve(LINES, (500, 1000)),
    "size": lambda: plots.size_curve(LINES, (500, 1000)),
    "k": lambda: plots.k_curve([Line(HOSTILE, [(1, 70.0), (5, 80.0)])]),
    "kinds": lambda: plots.grouped_bars(BARS),
    "failures": lambda: plots.failure_bars(
        [Bar(HOSTILE, {"not_retrieved": 4.0})], {"not_retrieved": HOSTILE, "not_used": "x"}
    ),
    "forest": lambda: plots.forest({HOSTILE: [Range(HOSTILE, -3.0, -4.0, -2.0)]}),
}


@pytest.mark.parametrize("name", DRAWN)
def test_well_formed_labelled_and_the_same_twice(name: str) -> None:
    svg = DRAWN[name]()
    assert svg == DRAWN[name]()
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    assert root.get("role") == "img"
    assert root.get("aria-label")
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert "script" not in names
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert all(one.startswith(f"{name}-") for one in ids if one)
    pointed = re.findall(r'(?:href="#|url\(#)([^")]+)', svg)
    assert set(pointed) <= set(ids)


def test_other_numbers_give_another_plot() -> None:
    other = [LINES[0], LINES[1]._replace(points=[(500, 80.0), (1000, 86.0)])]
    assert plots.budget_curve(other, (500, 1000)) != DRAWN["budget"]()


def test_no_date_and_no_program() -> None:
    assert not re.search(r"dc:date|Matplotlib|<metadata", DRAWN["budget"]())


def test_a_users_own_style_changes_nothing() -> None:
    import matplotlib

    before = DRAWN["budget"]()
    with matplotlib.rc_context({"lines.linewidth": 9.0, "axes.facecolor": "red"}):
        assert DRAWN["budget"]() == before


def test_the_charts_of_a_run() -> None:
    (section,) = build_report([made_up(questions=12)]).datasets
    assert list(charts(section)) == ["budget", "forest", "k", "kinds", "failures", "size"]


def test_no_figures_no_chart() -> None:
    run = made_up(questions=6)
    only = run.model_copy(update={"systems": run.systems[1:2], "budgets": (500,)})
    assert charts(build_report([only]).datasets[0]) == {}


def test_without_matplotlib_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def refusing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(UsageError, match=r"resin-es\[eval\]"):
        DRAWN["budget"]()
