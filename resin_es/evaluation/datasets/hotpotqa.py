"""HotpotQA (Yang et al., 2018), in two shapes.

- A selection over one corpus: a folder with ``documents.jsonl`` (id, title, sentences) and
  ``qa.jsonl`` (id, type, question, answer, gold_sentences: pairs of document id and sentence
  number).
- The public distractor files: a list of questions, each with ``_id``, ``question``, ``answer``,
  ``type``, ``context`` (pairs of title and sentences) and ``supporting_facts`` (pairs of title
  and sentence number). https://github.com/hotpotqa/hotpot, "Data Format" in its README.

Sentences come with their leading space; here they are stripped and joined by one. The public
files name a few sentences beyond their paragraph's end, and blank ones: nobody can find those,
so they are no gold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from resin_es.evaluation.datasets.building import Corpus, dataset, joined_document
from resin_es.evaluation.datasets.lines import Row, as_row, files_in, read_json, read_jsonl
from resin_es.evaluation.values import EvalDataset, EvalDocument, EvalQuestion, GoldSentence

DOCUMENTS, QUESTIONS = "documents.jsonl", "qa.jsonl"


def find(path: Path) -> tuple[Path, ...]:
    """The folder itself where it is a selection, else its distractor files. Raises InputError."""
    if (path / DOCUMENTS).is_file() and (path / QUESTIONS).is_file():
        return (path,)
    return files_in(path, "*.json", what=f"HotpotQA files ({DOCUMENTS} and {QUESTIONS}, or *.json)")


def load_documents(path: Path) -> tuple[EvalDocument, ...]:
    """Raises InputError, RecordError."""
    if path.is_dir():
        return _selected_documents(path)
    return _distractor(path)[0]


def load(path: Path, *, max_bytes: int | None = None) -> EvalDataset:
    """A selection's folder or a distractor file. Raises InputError, RecordError."""
    if path.is_dir():
        documents = _selected_documents(path)
        by_id = {document.id: document for document in documents}
        rows = read_jsonl(path / QUESTIONS, "id", "question", "gold_sentences")
        questions = [_selected(row, by_id) for row in rows]
    else:
        documents, questions = _distractor(path)
    return dataset(path.stem, documents, questions, str(path), max_bytes=max_bytes)


def _selected_documents(folder: Path) -> tuple[EvalDocument, ...]:
    return tuple(
        joined_document(
            row.key("id"),
            row.text("title"),
            (
                (f"{row.key('id')}#{number}", text.strip())
                for number, text in enumerate(row.strings("sentences"))
            ),
        )
        for row in read_jsonl(folder / DOCUMENTS, "id", "title", "sentences")
    )


def _selected(row: Row, documents: Mapping[str, EvalDocument]) -> EvalQuestion:
    gold: list[GoldSentence] = []
    for key, number in _pairs(row, "gold_sentences"):
        if key not in documents:
            raise row.error(f"gold document {key!r} is not in {DOCUMENTS}.")
        gold.extend(_gold(documents[key], number))
    return EvalQuestion(
        id=row.key("id"),
        question=row.text("question"),
        answer=row.text("answer", ""),
        kind=row.text("type", ""),
        gold=tuple(gold),
    )


def _distractor(path: Path) -> tuple[tuple[EvalDocument, ...], list[EvalQuestion]]:
    corpus = Corpus()
    questions = [_distractor_question(row, corpus) for row in _rows(path)]
    return corpus.documents, questions


def _rows(path: Path) -> Iterator[Row]:
    value = read_json(path)
    whole = Row({"questions": value}, str(path))
    for number, item in enumerate(whole.items("questions")):
        row = as_row(item, f"{path}, question {number}")
        row.need("_id", "question", "context")
        yield row


def _distractor_question(row: Row, corpus: Corpus) -> EvalQuestion:
    own: dict[str, EvalDocument] = {}
    for item in row.items("context"):
        if not _is_paragraph(item):
            raise row.error("context is no list of pairs of title and sentences.")
        own.setdefault(item[0], corpus.add_sentences(item[0], item[1]))
    gold: list[GoldSentence] = []
    for title, number in _pairs(row, "supporting_facts"):
        if title not in own:
            raise row.error(
                f"the paragraph of supporting fact {title!r} is not in its context.",
                hint="The distractor files hold all gold paragraphs, the fullwiki files do not.",
            )
        gold.extend(_gold(own[title], number))
    return EvalQuestion(
        id=row.key("_id"),
        question=row.text("question"),
        answer=row.text("answer", ""),
        kind=row.text("type", ""),
        gold=tuple(gold),
    )


def _is_paragraph(item: Any) -> bool:
    return (
        isinstance(item, list)
        and len(item) == 2
        and isinstance(item[0], str)
        and isinstance(item[1], list)
        and all(isinstance(sentence, str) for sentence in item[1])
    )


def _pairs(row: Row, name: str) -> list[tuple[str, int]]:
    pairs: list[tuple[str, int]] = []
    for item in row.items(name):
        match item:
            case [str(key), int(number)]:
                pairs.append((key, number))
            case _:
                raise row.error(f"{name} is no list of pairs of a name and a sentence number.")
    return list(dict.fromkeys(pairs))


def _gold(document: EvalDocument, number: int) -> list[GoldSentence]:
    wanted = f"{document.id}#{number}"
    return [
        GoldSentence(id=sentence.id, places=(sentence.span,))
        for sentence in document.sentences
        if sentence.id == wanted
    ]
