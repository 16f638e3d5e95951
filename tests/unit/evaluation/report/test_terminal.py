"""Tables in the terminal: every row, exact numbers, no markup or control of other people's."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from resin_es.evaluation.report import build_report, tables
from resin_es.evaluation.report.values import Difference
from resin_es.evaluation.report.words import interval, percent, plain, points, seconds
from tests.unit.evaluation.report.made_up import ROWS, made_up, without_gold


def shown(*runs: object, width: int = 120) -> str:
    console = Console(width=width, file=io.StringIO(), record=True)
    for table in tables(build_report(list(runs))):  # type: ignore[arg-type]
        console.print(table)
    return console.export_text()


def test_every_row_and_its_numbers() -> None:
    run = made_up(questions=20)
    report = build_report([run])
    text = shown(run)
    for system, label, _, _ in ROWS:
        row = report.datasets[0].row(system)
        assert row is not None
        lines = [line for line in text.splitlines() if line.strip().startswith(label)]
        assert any(
            all(percent(row.gold_recall[budget]) in line for budget in (500, 1000, 2000))
            for line in lines
        )
        if row.against_resin:
            assert any(interval(row.against_resin[500]) in line for line in lines)
    assert "GraphRAG local (needs a model endpoint" in text
    assert "published, not measured here" in text
    assert "lost by RESIN" in text


def test_nothing_is_cut_off_in_eighty_columns() -> None:
    text = shown(made_up(questions=20), width=80)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_mean_comes_last() -> None:
    text = shown(made_up("one", questions=6), made_up("two", questions=6))
    assert text.index("one: 6 questions") < text.index("two: 6 questions")
    assert text.index("two: 6 questions") < text.index("Mean of 2 data sets: 12 questions")


def test_without_gold_recall_is_a_dash_and_the_table_says_why() -> None:
    text = shown(without_gold(made_up("bare", questions=4)))
    assert "bare: 4 questions, 0 with gold" in text
    assert "None comes with gold sentences" in text
    found, rank = (line.split() for line in text.splitlines() if line.split()[:1] == ["RESIN"])
    assert found[1:] == ["–"] * 9
    assert rank[1] == "–", "MRR"


def test_some_questions_without_gold_are_counted_apart() -> None:
    text = shown(without_gold(made_up("some", questions=4), "q0"))
    assert "some: 4 questions, 3 with gold, in percent" in text
    assert "None comes with gold" not in text


@pytest.mark.parametrize("hostile", ["[/bold]", "[red]", "\x1b[2J\x07", "\r\n\n"])
def test_a_data_set_s_words_are_no_markup_and_no_control(hostile: str) -> None:
    text = shown(made_up("fish", questions=3, hostile=hostile))
    assert "\x1b" not in text
    assert "\x07" not in text
    if hostile.startswith("["):
        assert f"fish{hostile}" in text


@given(st.text())
def test_plain_is_one_printable_line(text: str) -> None:
    assert plain(text).isprintable()
    assert plain(plain(text)) == plain(text)


def test_numbers_in_words() -> None:
    assert (percent(0.8934), percent(None), percent(1.0)) == ("89.3", "–", "100.0")
    assert [points(x) for x in (0.031, -0.031, 0.0004, -0.0004)] == ["+3.1", "−3.1", "0.0", "0.0"]
    assert [seconds(x) for x in (0.0241, 0.5, 12.34, None)] == ["0.024", "0.50", "12.3", "–"]
    shown_as = interval(Difference(difference=-0.031, low=-0.04, high=-0.022, questions=9))
    assert shown_as == "−3.1 [−4.0, −2.2]"
