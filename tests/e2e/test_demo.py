"""The demo corpus through the front door."""

from __future__ import annotations

import json
from typing import Any

import pytest

from resin_es.demo import demo_documents_path, demo_questions_path
from resin_es.testing.command import CommandLine


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n") if line]


DOCUMENTS = {row["id"]: row for row in rows(demo_documents_path().read_text(encoding="utf-8"))}
QUESTIONS = rows(demo_questions_path().read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def told(cli: CommandLine) -> dict[str, Any]:
    """All questions asked, by the command itself."""
    found: dict[str, Any] = cli.run("demo", "--all", "--json").json
    return found


def test_the_corpus_goes_in_whole(told: dict[str, Any]) -> None:
    report = told["index"]
    assert report["documents"] == report["new"] == len(DOCUMENTS)
    assert report["problems"] == report["failures"] == []


def test_every_question_is_answered_by_citations(told: dict[str, Any]) -> None:
    assert [one["question"] for one in told["answers"]] == [one["question"] for one in QUESTIONS]
    for answer in told["answers"]:
        assert answer["found"], answer["question"]
        assert answer["citations"], answer["question"]
        for citation in answer["citations"]:
            document = DOCUMENTS[citation["document_id"]]
            assert citation["quote"] in document["text"]
            assert citation["title"] == document["title"]
            assert citation["void"] == ""


def test_the_evidence_of_most_questions_holds_every_document(
    cli: CommandLine, told: dict[str, Any], tmp_path: Any
) -> None:
    """Even with vectors that know no meaning; the real ones are measured elsewhere."""
    path = tmp_path / "q.jsonl"
    path.write_text("".join(json.dumps({"id": q["id"], "question": q["question"]}) + "\n"
                            for q in QUESTIONS))  # fmt: skip
    lines = cli.run("retrieve", "--questions", path, "--source", "demo").lines
    whole = [
        set(question["documents"]) <= {one["document_id"] for one in line["evidence"]}
        for question, line in zip(QUESTIONS, lines, strict=True)
    ]
    assert sum(whole) / len(whole) >= 0.8


def test_three_answers_and_how_to_ask_ones_own(cli: CommandLine, told: dict[str, Any]) -> None:
    outcome = cli.run("demo")
    assert f"{len(DOCUMENTS)} unchanged" in outcome.stdout
    headline = [one for one in QUESTIONS if one.get("headline")]
    assert len(headline) == 3
    for one in headline:
        assert one["question"] in outcome.stdout
    assert outcome.stdout.count("[1]") >= 3
    assert "resin-es ask" in outcome.everything
