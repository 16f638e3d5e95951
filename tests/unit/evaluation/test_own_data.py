"""A team's own documents and questions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.errors import DocumentTooLarge, InputError, RecordError
from resin_es.evaluation.align import documents_found, found_gold
from resin_es.evaluation.convert import convert
from resin_es.evaluation.datasets import building, load
from resin_es.evaluation.datasets.building import split_document
from resin_es.evaluation.slices import sliced
from resin_es.evaluation.values import EvalDataset, Span

TEXT = "Eels swim. They live \u201clong\u201d lives. Nobody knows why."
DOCUMENTS = [
    {"id": "eel", "title": "Eels", "text": TEXT, "metadata": {"year": 2024}, "access": ["staff"]},
    {"id": 2, "text": "Carp swim too."},
]


def write(folder: Path, *gold: Any, **fields: Any) -> Path:
    folder.mkdir(exist_ok=True)
    question = {"id": "q", "question": "Who swims?", "gold": list(gold), **fields}
    for name, rows in (("documents", DOCUMENTS), ("questions", [question])):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def only(folder: Path) -> EvalDataset:
    (dataset,) = load("own", folder)
    return dataset


def test_gold_by_quote_by_characters_and_by_document(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "team",
        {"document": "eel", "quote": 'they LIVE "long"'},
        {"document": "eel", "start": 0, "end": 10},
        {"document": "2"},
        answer="eels",
        aliases=["the eel"],
        kind="easy",
    )
    dataset = only(folder)
    assert (dataset.name, [d.id for d in dataset.documents]) == ("team", ["eel", "2"])
    (question,) = dataset.questions
    assert (question.answer, question.aliases, question.kind) == ("eels", ("the eel",), "easy")
    quote, span, document = question.gold
    assert TEXT[quote.places[0].start : quote.places[0].end] == "They live \u201clong\u201d"
    assert span.places == (Span(document_id="eel", start=0, end=10),)
    assert document.id == "2"
    assert question.gold_sentence_ids == ("eel@11-27", "eel@0-10", "2")


def test_a_gold_document_is_found_by_any_of_its_sentences(tmp_path: Path) -> None:
    dataset = only(write(tmp_path, {"document": "eel"}))
    (question,) = dataset.questions
    for sentence in dataset.documents[0].sentences:
        assert found_gold(question, [sentence.span]) == (True,)
        assert documents_found(question, [sentence.span]) == (True,)
    assert found_gold(question, [Span(document_id="2", start=0, end=14)]) == (False,)


def test_questions_may_have_no_answer_and_no_gold(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "questions.jsonl").write_text('{"id": 1, "question": "Why?"}\n', encoding="utf-8")
    (question,) = only(folder).questions
    assert (question.id, question.answer, question.gold) == ("1", "", ())


@pytest.mark.parametrize(
    ("gold", "reason"),
    [
        ({"document": "eel", "quote": "Eels fly."}, "its quote is not in the text of 'eel'"),
        ({"document": "eel", "quote": ""}, "its quote is not in the text"),
        ({"document": "eel", "start": 5, "end": 500}, "5 to 500 is no part of 'eel'"),
        ({"document": "eel", "start": 5}, "end is no whole number"),
        ({"document": "cod"}, r"document 'cod' is not in documents\.jsonl"),
        ({"document": "eel", "qoute": "x"}, "unknown field 'qoute'.*mean 'quote'"),
        ({"document": "eel", "words": "x"}, "unknown field 'words'.*Known: document, quote"),
        ("eel", "is not a JSON object"),
    ],
)
def test_broken_gold_is_named(tmp_path: Path, gold: Any, reason: str) -> None:
    with pytest.raises(RecordError, match=rf"questions\.jsonl, line 1, gold\[0\]: {reason}"):
        load("own", write(tmp_path, gold))


@pytest.mark.parametrize(
    ("name", "row", "said"),
    [
        ("questions", {"golds": []}, "unknown field 'golds'. Did you mean 'gold'?"),
        ("questions", {"Gold": []}, "unknown field 'Gold'. Did you mean 'gold'?"),
        ("questions", {"gold": None, "golden": []}, "'golden'. Did you mean 'gold'?"),
        ("questions", {"answers": ["x"]}, "unknown field 'answers'. Did you mean 'answer'?"),
        ("questions", {"alias": ["x"]}, "unknown field 'alias'. Did you mean 'aliases'?"),
        ("documents", {"titel": "Eels"}, "unknown field 'titel'. Did you mean 'title'?"),
        ("documents", {"metdata": {}}, "unknown field 'metdata'. Did you mean 'metadata'?"),
    ],
)
def test_a_slip_of_the_pen_is_refused_with_its_line_and_the_name_meant(
    tmp_path: Path, name: str, row: dict[str, Any], said: str
) -> None:
    folder = write(tmp_path)
    path = folder / f"{name}.jsonl"
    needed = {"id": 9, "question": "Why?"} if name == "questions" else {"id": 9, "text": "Why."}
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(needed | row) + "\n")
    number = len(path.read_text(encoding="utf-8").splitlines())
    with pytest.raises(RecordError, match=re.escape(f"{name}.jsonl, line {number}: ")) as refused:
        load("own", folder)
    assert said in str(refused.value)


def test_a_needed_field_that_is_misspelt_is_named_not_only_missed(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "questions.jsonl").write_text('{"id": 1, "quesiton": "Why?"}\n', encoding="utf-8")
    with pytest.raises(RecordError, match=r"line 1: unknown field 'quesiton'.*'question'"):
        load("own", folder)


def test_fields_of_one_s_own_may_stay(tmp_path: Path) -> None:
    folder = write(tmp_path, {"document": "eel"}, difficulty=3, answer="eels", answers=["eels"])
    path = folder / "documents.jsonl"
    own = json.dumps({"id": "x", "uid": 7, "text": "Tench.", "authors": [], "passages": []})
    path.write_text(f"{path.read_text(encoding='utf-8')}{own}\n", encoding="utf-8")
    dataset = only(folder)
    assert [one.id for one in dataset.documents] == ["eel", "2", "x"]
    assert dataset.questions[0].answer == "eels"


def test_a_document_over_the_limit_is_left_out_and_named_and_never_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut: list[str] = []

    def splitting(text: str) -> list[tuple[int, int]]:
        cut.append(text)
        return [(0, len(text))]

    monkeypatch.setattr(building, "split_sentences", splitting)
    folder = write(tmp_path, {"document": "eel", "quote": "They live"}, {"document": "2"})
    (dataset,) = load("own", folder, max_bytes=40)
    assert cut == ["Carp swim too."]
    assert [one.id for one in dataset.documents] == ["2"]
    size = len(TEXT.encode()) + len("Eels")
    [said] = dataset.left_out
    assert said == (
        f"{folder}: document 'eel' has {size} bytes, over the limit of 40 "
        "(RESIN_MAX_DOCUMENT_BYTES)."
    )
    lost, there = dataset.questions[0].gold
    everything = Span(document_id="eel", start=0, end=len(TEXT))
    assert (lost.id, lost.places) == ("eel", (everything,)), "it counts, and nobody finds it"
    assert there.places[0].document_id == "2"
    (smaller,) = load("own", folder, max_bytes=size)
    assert (len(smaller.documents), smaller.left_out) == (2, ())


def test_a_set_without_a_document_small_enough_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentTooLarge, match=r"No document is left.*'eel'.*limit of 5.*raise"):
        load("own", write(tmp_path), max_bytes=5)


def test_a_slice_still_tells_what_was_left_out(tmp_path: Path) -> None:
    (dataset,) = load("own", write(tmp_path, {"document": "2"}), max_bytes=40)
    assert sliced(dataset, questions=1, documents=1).left_out == dataset.left_out != ()


@pytest.mark.parametrize("name", ["documents.jsonl", "questions.jsonl"])
def test_both_files_have_to_be_there(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path)
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"lacks {name}"):
        load("own", folder)


def test_ids_that_repeat_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path)
    path = folder / "documents.jsonl"
    path.write_text(path.read_text(encoding="utf-8") * 2, encoding="utf-8")
    with pytest.raises(InputError, match="several documents have the id 'eel'"):
        load("own", folder)


def test_records_to_index_keep_what_an_index_takes(tmp_path: Path) -> None:
    first, second = convert("own", write(tmp_path))
    assert first == {"id": "eel", "title": "Eels", "text": TEXT, "metadata": {"year": 2024}}
    assert second == {"id": "2", "title": "", "text": "Carp swim too."}


@given(st.text(max_size=200))
def test_sentences_of_a_document_are_where_they_say(text: str) -> None:
    document = split_document("d", "", text)
    for sentence in document.sentences:
        assert document.text[sentence.span.start : sentence.span.end] == sentence.text != ""
