"""eval over sets of one's own as people write them: without gold, with a slip, with a book in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resin_es.testing.command import CommandLine

pytestmark = pytest.mark.e2e

EEL = {"id": "eel", "title": "Eels", "text": "Eels live in rivers. They breed in the sea."}
BOOK = {"id": "book", "title": "Floods", "text": "Floods close the canal. " * 500}
ASKED = {"id": "q1", "question": "Where do eels breed?", "answer": "in the sea"}
GOLD = [{"document": "eel", "quote": "They breed in the sea."}]


@pytest.fixture(scope="module", autouse=True)
def _removed(cli: CommandLine) -> Iterator[None]:
    yield
    cli.run("eval", "remove", "--yes")


def written(folder: Path, documents: list[dict[str, Any]], *questions: dict[str, Any]) -> Path:
    folder.mkdir()
    for name, rows in (("documents", documents), ("questions", list(questions))):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def test_without_gold_there_is_no_recall_and_no_zero(cli: CommandLine, tmp_path: Path) -> None:
    data = written(tmp_path / "bare", [EEL], ASKED)
    asked = ("eval", "own", "--data", data, "--out", tmp_path / "run", "--systems", "bm25")
    ran = cli.run(*asked, "--answers", "--json")
    [section] = ran.json["datasets"]
    assert (section["questions"], section["with_gold"], section["headline"]) == (1, 0, [])
    for row in section["rows"]:
        assert set(row["gold_recall"].values()) == {None}
        assert row["mrr"] is None
        assert row["answers"]["f1"] is not None
    shown = cli.run(*asked, "--answers")
    assert "1 questions, 0 with gold" in shown.stdout
    assert "None comes with gold sentences" in (tmp_path / "run/report.html").read_text("utf-8")


def test_a_slip_in_a_field_s_name_is_refused_before_anything_is_indexed(
    cli: CommandLine, tmp_path: Path
) -> None:
    data = written(tmp_path / "slip", [EEL], ASKED, {**ASKED, "id": "q2", "golds": GOLD})
    refused = cli.run("eval", "own", "--data", data, "--out", tmp_path / "run", code=2)
    assert "questions.jsonl, line 2: unknown field 'golds'" in refused.stderr
    assert "Did you mean 'gold'?" in refused.stderr


def test_a_document_over_the_limit_is_named_and_what_it_holds_counts_as_not_found(
    cli: CommandLine, tmp_path: Path
) -> None:
    other = {"id": "q2", "question": "What closes the canal?", "gold": [{"document": "book"}]}
    data = written(tmp_path / "books", [EEL, BOOK], {**ASKED, "gold": GOLD}, other)
    ran = cli.under(RESIN_MAX_DOCUMENT_BYTES="5000").run(
        "eval", "own", "--data", data, "--out", tmp_path / "run", "--systems", "bm25", "--json"
    )
    assert "Left out of every row" in ran.stderr
    assert "document 'book' has 12,006 bytes, over the limit of 5,000" in ran.stderr
    [section] = ran.json["datasets"]
    assert (section["documents"], section["with_gold"]) == (1, 2)
    assert section["facts"]["left out"] == "1 over RESIN_MAX_DOCUMENT_BYTES"
    for row in section["rows"]:
        assert row["gold_recall"]["500"] == 0.5, row["system"]
    resin = next(row for row in section["rows"] if row["system"] == "resin")
    assert resin["failures"]["500"]["not_indexed"] == 1
