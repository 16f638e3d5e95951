"""The published figures, number by number against the paper's own text."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from resin_es.evaluation.systems.published import (
    PAPER_ABLATIONS,
    published_ablations,
    published_rows,
)

ROOT = Path(__file__).resolve().parents[3]
DOMAINS = ("medicine", "computer_science", "business", "biology", "psychology")


@pytest.fixture(scope="module")
def paper() -> str:
    shared = Path(os.environ.get("RESIN_SHARED_DATA") or ROOT.parent / "shared")
    path = shared / "paper" / "resin.txt"
    if not path.is_file():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"needs the paper's text: {path}")
    return path.read_text("utf-8")


def figures(paper: str, table: int) -> dict[str, list[str]]:
    """Method → its cells, from the table's Markdown: method names and numbers alone."""
    part = paper.split(f"\nTable {table}:", 1)[1]
    block = re.search(r"(?:^\|.*\n)+", part, re.MULTILINE)
    assert block is not None
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in block[0].splitlines()]
    return {row[0]: row[1:] for row in rows if re.fullmatch(r"\d+\.\d\d", row[-1])}


@pytest.mark.parametrize(("table", "scopes"), [(3, DOMAINS), (4, ("ms_marco", "qasc"))])
def test_every_figure_of_the_tables_stands_as_printed(
    paper: str, table: int, scopes: tuple[str, ...]
) -> None:
    rows = [row for row in published_rows() if row.source.endswith(f"table {table}")]
    ours: dict[str, list[str]] = {}
    for row in rows:
        numbers = (row.f1, row.context_recall, row.answer_relevancy)
        ours.setdefault(row.system, []).extend(f"{number:.2f}" for number in numbers)
    assert ours == figures(paper, table)
    assert len(ours) == 11
    assert [row.scope for row in rows] == list(scopes) * 11


def test_the_paper_prints_one_overall_row(paper: str) -> None:
    (row,) = published_rows("holisqa")
    assert row.f1 is None
    said = f"achieves {row.context_recall:.2f} context recall and {row.answer_relevancy:.2f} answer"
    assert said in paper


def test_ablations_are_the_papers(paper: str) -> None:
    flat = paper.replace("$", "")
    k = {row.variant: row for row in published_ablations("k")}
    recall = {number: row.context_recall for number, row in k.items()}
    assert f"CR rises from {recall['1']} at k=1 to {recall['5']} at k=5" in flat
    assert f"and {recall['10']} at k=10." in flat
    assert f"CR is {recall['15']} at k=15 and {recall['20']} at k=20." in flat
    assert k["10"].answer_relevancy == k["15"].answer_relevancy
    assert f"reaching {k['10'].answer_relevancy} at both k=10 and k=15" in flat
    assert f"declining to {k['20'].answer_relevancy} at k=20" in flat
    kinds = {row.variant: row for row in published_ablations("kind")}
    assert f"obtains {_pair(kinds['all'])}." in flat
    assert f"entity-fact is strongest ({_pair(kinds['entity-fact'])})" in flat
    assert f"causal-edge ({_pair(kinds['causal-edge'])})" in flat
    full, none = published_ablations("decomposition")
    assert f"| Full Resin | {full.answer_relevancy:.2f} | {full.context_recall:.2f} |" in flat
    assert f"hop decomposition | {none.answer_relevancy:.2f} | {none.context_recall:.2f} |" in flat


def _pair(row: object) -> str:
    return f"{row.answer_relevancy} AR and {row.context_recall} CR"  # type: ignore[attr-defined]


def test_a_number_the_paper_does_not_print_is_none() -> None:
    kinds = {row.variant: row for row in PAPER_ABLATIONS if row.study == "kind"}
    assert set(kinds) == {
        "all",
        "entity-fact",
        "type-property",
        "entity-type",
        "relation",
        "causal-edge",
        "rule",
    }
    for kind in ("type-property", "entity-type", "relation", "rule"):
        assert kinds[kind].context_recall is None
        assert kinds[kind].answer_relevancy is None


@pytest.mark.parametrize("name", ["biology", "holisqa/biology", "Biology", "../x/biology/"])
def test_a_data_set_is_found_by_its_name(name: str) -> None:
    rows = published_rows(name)
    assert [row.system for row in rows][-2:] == ["CausalRAG2", "Resin"]
    assert {row.scope for row in rows} == {"biology"}


def test_nothing_is_published_of_other_data_sets() -> None:
    assert published_rows("hotpotqa") == ()
    assert published_rows("MS MARCO") == published_rows("ms_marco") != ()
