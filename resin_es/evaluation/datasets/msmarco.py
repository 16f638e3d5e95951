"""MS MARCO question answering, v2.1 and v1.1 (Bajaj et al., 2016).

A query has ``query_id``, ``query``, ``query_type``, ``answers``, ``wellFormedAnswers`` (v2.1; a
list, or the text ``[]`` for none) and about ten ``passages`` (``passage_text``, ``url``,
``is_selected``). v2.1 is released as one JSON object of columns, each mapping a row number to
its value, or converted to one query a line; v1.1 as one query a line.
https://microsoft.github.io/MSMARCO-Question-Answering, "Data Format"

Gold is marked by passage: a gold sentence is a whole selected passage, and half of its characters
must be in evidence. Queries whose answer is "No Answer Present." have no answer; what was
selected for them counts all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from resin_es.evaluation.datasets.building import Corpus, dataset, whole
from resin_es.evaluation.datasets.lines import (
    Row,
    as_row,
    files_in,
    read_first_json,
    read_jsonl,
)
from resin_es.evaluation.values import EvalDataset, EvalDocument, EvalQuestion, GoldSentence

NO_ANSWER = "No Answer Present."
_NEEDED = ("query_id", "query", "passages")
_COLUMNS = (*_NEEDED, "query_type", "answers", "wellFormedAnswers")


def find(path: Path) -> tuple[Path, ...]:
    """Raises InputError."""
    return files_in(path, "*.json", "*.jsonl", what="MS MARCO files (*.json, *.jsonl)")


def load_documents(path: Path) -> tuple[EvalDocument, ...]:
    """Raises InputError, RecordError."""
    return _read(path)[0]


def load(path: Path, *, max_bytes: int | None = None) -> EvalDataset:
    """One file. Raises InputError, RecordError."""
    documents, questions = _read(path, max_bytes)
    return dataset(path.stem, documents, questions, str(path), max_bytes=max_bytes)


def _read(
    path: Path, max_bytes: int | None = None
) -> tuple[tuple[EvalDocument, ...], list[EvalQuestion]]:
    corpus = Corpus(max_bytes)
    questions = [_question(row, corpus) for row in _rows(path)]
    return corpus.documents, questions


def _rows(path: Path) -> Iterator[Row]:
    if path.suffix == ".jsonl":
        return read_jsonl(path, *_NEEDED)
    value, more = read_first_json(path)
    if more:
        return read_jsonl(path, *_NEEDED)
    return _columns(as_row(value, str(path)))


def _columns(table: Row) -> Iterator[Row]:
    """Rows out of columns. A table whose columns are plain values is a single row."""
    table.need(*_NEEDED)
    if not isinstance(table.fields["query"], dict):
        yield table
        return
    columns = {
        name: as_row(table.fields[name], f"{table.where}, {name}").fields
        for name in _COLUMNS
        if name in table.fields
    }
    for number in columns["query"]:
        fields = {name: column[number] for name, column in columns.items() if number in column}
        row = Row(fields, f"{table.where}, row {number}")
        row.need(*_NEEDED)
        yield row


def _question(row: Row, corpus: Corpus) -> EvalQuestion:
    gold: dict[str, GoldSentence] = {}
    for passage in row.rows("passages"):
        url = passage.text("url", "")
        document = corpus.add_text("", passage.text("passage_text"), {"url": url} if url else {})
        if passage.fields.get("is_selected") in (1, True) and document.text.strip():
            gold[document.id] = GoldSentence(id=document.id, places=(whole(document),))
    answers = [*_answers(row, "answers"), *_answers(row, "wellFormedAnswers")]
    return EvalQuestion(
        id=row.key("query_id"),
        question=row.text("query"),
        answer=answers[0] if answers else "",
        aliases=tuple(answers[1:]),
        kind=row.text("query_type", ""),
        gold=tuple(gold.values()),
    )


def _answers(row: Row, name: str) -> tuple[str, ...]:
    if row.fields.get(name) == "[]":
        return ()
    return tuple(text for text in row.strings(name) if text.strip() not in ("", NO_ANSWER))
