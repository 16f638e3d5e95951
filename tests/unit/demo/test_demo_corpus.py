"""The demo corpus holds together: gold documents exist, quotes stand in them, kinds are covered."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from resin_es.demo import demo_documents_path, demo_questions_path
from resin_es.model.unit import UNIT_KINDS


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


DOCUMENTS = {record["id"]: record for record in _records(demo_documents_path())}
QUESTIONS = _records(demo_questions_path())
BY_ID = {question["id"]: question for question in QUESTIONS}


def test_the_corpus_has_its_size_and_unique_ids() -> None:
    assert 36 <= len(DOCUMENTS) <= 48
    assert len(DOCUMENTS) == len(_records(demo_documents_path()))
    assert len({document["text"] for document in DOCUMENTS.values()}) == len(DOCUMENTS)
    assert len(BY_ID) == len(QUESTIONS) >= 16


@pytest.mark.parametrize("record", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_has_the_fields_that_index_takes(record: dict[str, Any]) -> None:
    fields = {"id", "title", "text", "metadata", "access", "url", "updated_at"}
    assert set(record) == fields
    assert record["access"] == ["*"]
    assert set(record["metadata"]) == {"category", "year"}
    assert record["title"]
    assert record["updated_at"].endswith("Z")
    sentences = re.split(r"(?<=[a-z0-9]\.) (?=[A-Z])", record["text"])
    assert 3 <= len(sentences) <= 9


@pytest.mark.parametrize("question", QUESTIONS, ids=BY_ID)
def test_gold_documents_exist_and_hold_their_quotes(question: dict[str, Any]) -> None:
    assert len(set(question["documents"])) >= 2
    assert {fact["document"] for fact in question["facts"]} == set(question["documents"])
    for fact in question["facts"]:
        assert fact["quote"] in DOCUMENTS[fact["document"]]["text"]


@pytest.mark.parametrize("question", QUESTIONS, ids=BY_ID)
def test_no_single_document_holds_the_evidence(question: dict[str, Any]) -> None:
    quotes = [fact["quote"] for fact in question["facts"]]
    for document in DOCUMENTS.values():
        assert not all(quote in document["text"] for quote in quotes)


COMPUTED = {
    "bus-or-metro": {"33", "50"},
    "petrel-in-frost": {"160"},
    "halden-allowance": {"48"},
}
"""Numbers of an answer that its documents give the parts of, and that no document states."""


@pytest.mark.parametrize("question", QUESTIONS, ids=BY_ID)
def test_the_numbers_of_an_answer_stand_in_its_gold_documents(question: dict[str, Any]) -> None:
    source = " ".join(DOCUMENTS[key]["text"] for key in question["documents"])
    stated = set(re.findall(r"\d[\d,]*\d|\d", f"{source} {question['question']}"))
    asked = set(re.findall(r"\d[\d,]*\d|\d", question["answer"]))
    assert asked - COMPUTED.get(question["id"], set()) <= stated


def test_computed_numbers_are_stated_nowhere() -> None:
    for question, numbers in COMPUTED.items():
        source = " ".join(DOCUMENTS[key]["text"] for key in BY_ID[question]["documents"])
        assert not numbers & set(re.findall(r"\d+", source))


def test_bus_or_metro_has_one_right_answer() -> None:
    """Recomputed from the documents: only the metro meets deadline and budget."""

    def parts(document: str) -> tuple[int, int]:
        text = DOCUMENTS[document]["text"]
        minutes = sum(int(n) for n in re.findall(r"takes (\d+) minutes", text))
        fare = re.search(r"fare of [^.]* is (\d+) crowns", text)
        assert fare is not None
        return minutes, int(fare.group(1))

    assert parts("route-bus-14") == (50, 3)
    assert parts("route-metro-b") == (33, 5)
    assert "within 45 minutes" in BY_ID["bus-or-metro"]["question"]


def test_every_unit_kind_is_asked_for() -> None:
    asked = {kind for question in QUESTIONS for kind in question["kinds"]}
    assert asked == set(UNIT_KINDS)


def test_three_headline_questions() -> None:
    assert [q["id"] for q in QUESTIONS if q.get("headline")] == [
        "bus-or-metro",
        "why-line-b-stopped",
        "wheelchair-heron",
    ]


@pytest.mark.parametrize(
    ("question", "bridges"),
    [
        ("hospital-tram-brake", ["Tram 3", "Heron", "Tern"]),
        ("ferry-director-school", ["Harbour Authority", "Ines Calder"]),
    ],
)
def test_a_bridge_is_not_named_by_its_question(question: str, bridges: list[str]) -> None:
    for bridge in bridges:
        assert bridge not in BY_ID[question]["question"]
        assert any(bridge in fact["quote"] for fact in BY_ID[question]["facts"])
