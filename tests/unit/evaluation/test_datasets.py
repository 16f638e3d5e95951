"""Loading HolisQA folders: text, spans, duplicates, and every way a folder can be wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from resin_es.errors import InputError, RecordError
from resin_es.evaluation.convert import convert_holisqa
from resin_es.evaluation.datasets import Span, load_holisqa

ARTICLE = {"article_id": "A1", "title": "Eels", "publication_date": "2024-05-06"}
ARTICLES = [
    {
        **ARTICLE,
        "openalex_id": "https://openalex.example/W1",
        "abstract_path": "raw/A1.txt",
        "category": "fish",
        "publication_year": 2024,
    },
    {"article_id": "A2", "title": "Eels again"},
]
SENTENCES = [
    {"sentence_id": "S2", "article_id": "A1", "sent_idx": 1, "text": "They live long."},
    {"sentence_id": "S1", "article_id": "A1", "sent_idx": 0, "text": "Eels swim."},
    {"sentence_id": "S3", "article_id": "A2", "sent_idx": 0, "text": "Eels  swim."},
]
QUESTIONS = [
    {"qa_id": "Q1", "question": "Do eels swim?", "answer": "Yes.", "context_sentence_ids": ["S1"]},
    {"qa_id": "Q2", "question": "How long?", "context_sentence_ids": ["S2", "S3"]},
]


def write_domain(folder: Path, **changes: list[Mapping[str, Any]]) -> Path:
    rows: dict[str, Any] = {
        "articles": ARTICLES,
        "sentences": SENTENCES,
        "qa": QUESTIONS,
        **changes,
    }
    folder.mkdir(parents=True)
    for name, records in rows.items():
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def test_text_is_the_sentences_in_order_and_spans_point_into_it(tmp_path: Path) -> None:
    (dataset,) = load_holisqa(write_domain(tmp_path / "fish"))
    first, second = dataset.documents
    assert dataset.name == "fish"
    assert first.text == "Eels swim. They live long."
    assert second.text == "Eels  swim."
    for document in dataset.documents:
        for sentence in document.sentences:
            assert document.text[sentence.span.start : sentence.span.end] == sentence.text


def test_gold_is_spans_with_the_places_of_equal_sentences(tmp_path: Path) -> None:
    (dataset,) = load_holisqa(write_domain(tmp_path / "fish"))
    first, second = dataset.questions
    assert (first.id, first.question, first.answer) == ("Q1", "Do eels swim?", "Yes.")
    assert first.gold_sentence_ids == ("S1",)
    assert first.gold[0].places == (
        Span(document_id="A1", start=0, end=10),
        Span(document_id="A2", start=0, end=11),
    )
    assert second.answer == ""
    assert second.gold[0].places == (Span(document_id="A1", start=11, end=26),)
    assert second.gold[1].places[0].document_id == "A2", "its own place comes first"


def test_a_folder_of_domains_loads_each_by_name(tmp_path: Path) -> None:
    write_domain(tmp_path / "b")
    write_domain(tmp_path / "a")
    (tmp_path / "notes").mkdir()
    assert [dataset.name for dataset in load_holisqa(tmp_path)] == ["a", "b"]


def test_an_article_without_sentences_is_an_empty_text(tmp_path: Path) -> None:
    (dataset,) = load_holisqa(write_domain(tmp_path / "x", sentences=[], qa=[]))
    assert [document.text for document in dataset.documents] == ["", ""]


def test_a_folder_that_is_no_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no HolisQA folder"):
        load_holisqa(tmp_path)


@pytest.mark.parametrize(
    ("line", "reason"),
    [("{", "is not JSON"), ("[1]", "is not a JSON object"), ('{"qa_id": "Q"}', "lacks question")],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, reason: str) -> None:
    folder = write_domain(tmp_path / "fish")
    path = folder / "qa.jsonl"
    path.write_text(path.read_text(encoding="utf-8") + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(RecordError, match=rf"qa\.jsonl, line 4: {reason}"):
        load_holisqa(folder)


def test_gold_that_no_article_holds_is_named(tmp_path: Path) -> None:
    question = {"qa_id": "Q9", "question": "?", "context_sentence_ids": ["S77"]}
    with pytest.raises(RecordError, match="question Q9: gold sentence 'S77' is in no article"):
        load_holisqa(write_domain(tmp_path / "fish", qa=[question]))


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    folder = write_domain(tmp_path / "fish")
    (folder / "articles.jsonl").write_bytes(b'{"article_id": "\xff"}\n')
    with pytest.raises(InputError, match=r"articles\.jsonl is not UTF-8"):
        load_holisqa(folder)


def test_converted_records_are_what_index_takes(tmp_path: Path) -> None:
    first, second = convert_holisqa(write_domain(tmp_path / "fish"))
    assert first == {
        "id": "A1",
        "title": "Eels",
        "text": "Eels swim. They live long.",
        "metadata": {"category": "fish", "publication_year": 2024},
        "url": "https://openalex.example/W1",
        "updated_at": "2024-05-06T00:00:00Z",
    }
    assert second == {"id": "A2", "title": "Eels again", "text": "Eels  swim.", "metadata": {}}


def test_conversion_never_shows_gold(tmp_path: Path) -> None:
    folder = write_domain(tmp_path / "fish")
    before = list(convert_holisqa(folder))
    (folder / "qa.jsonl").write_text("not even JSON\n", encoding="utf-8")
    assert list(convert_holisqa(folder)) == before


def test_conversion_takes_one_domain_at_a_time(tmp_path: Path) -> None:
    write_domain(tmp_path / "a")
    write_domain(tmp_path / "b")
    with pytest.raises(InputError, match=r"holds several domains \(a, b\), whose ids repeat"):
        convert_holisqa(tmp_path)
