"""A team's own evaluation set: ``documents.jsonl`` and ``questions.jsonl`` in one folder.

- ``documents.jsonl``: what ``resin-es index`` reads, so ``id``, ``title``, ``text``, and
  ``metadata``, ``url``, ``updated_at`` where there are any. It has to be there also where the
  documents are indexed already: every row of a run is fed the same corpus.
- ``questions.jsonl``: ``id``, ``question``; and where known ``answer``, ``aliases`` (other right
  answers), ``kind`` (a class of your own, reported apart) and ``gold``, a list of
  ``{"document": id, "quote": "…"}``, ``{"document": id, "start": 0, "end": 9}`` (characters of
  the text, end exclusive) or ``{"document": id}``, which any sentence of the document satisfies.

Other fields are left alone, unless one is spelt almost like one of these that is lacking: it is
refused, since what it says would be lost. ``docs/evaluation-data.md`` shows an example.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from resin_es.errors import InputError
from resin_es.evaluation.datasets.building import dataset, over, split_document, whole
from resin_es.evaluation.datasets.lines import Row, read_jsonl
from resin_es.evaluation.values import EvalDataset, EvalDocument, EvalQuestion, GoldSentence, Span
from resin_es.extract.folding import locate

DOCUMENTS, QUESTIONS = "documents.jsonl", "questions.jsonl"
_KEPT = ("metadata", "url", "updated_at")
_DOCUMENT_FIELDS = ("id", "title", "text", *_KEPT, "access", "passages", "unmarked")
_QUESTION_FIELDS = ("id", "question", "answer", "aliases", "kind", "gold")
_GOLD_FIELDS = ("document", "quote", "start", "end")


def find(path: Path) -> tuple[Path, ...]:
    """Raises InputError where one of the two files is missing."""
    missing = [name for name in (DOCUMENTS, QUESTIONS) if not (path / name).is_file()]
    if missing:
        raise InputError(
            f"{path} lacks {' and '.join(missing)}.",
            hint="docs/evaluation-data.md shows what the two files hold.",
        )
    return (path,)


def load_documents(path: Path, max_bytes: int | None = None) -> tuple[EvalDocument, ...]:
    """``record`` holds metadata, url and updated_at. Raises InputError, RecordError."""
    return tuple(
        split_document(
            row.key("id"),
            row.text("title", ""),
            row.text("text"),
            {name: row.fields[name] for name in _KEPT if row.fields.get(name) is not None},
            max_bytes=max_bytes,
        )
        for row in _rows(path / DOCUMENTS, _DOCUMENT_FIELDS, "id", "text")
    )


def load(path: Path, *, max_bytes: int | None = None) -> EvalDataset:
    """Raises InputError, RecordError."""
    documents = load_documents(path, max_bytes)
    by_id = {document.id: document for document in documents}
    questions = [
        EvalQuestion(
            id=row.key("id"),
            question=row.text("question"),
            answer=row.text("answer", ""),
            aliases=row.strings("aliases"),
            kind=row.text("kind", ""),
            gold=tuple(_gold(entry, by_id, max_bytes) for entry in row.rows("gold")),
        )
        for row in _rows(path / QUESTIONS, _QUESTION_FIELDS, "id", "question")
    ]
    name = path.resolve().name
    return dataset(name, documents, questions, str(path), max_bytes=max_bytes)


def _rows(path: Path, known: Sequence[str], *required: str) -> Iterator[Row]:
    for row in read_jsonl(path):
        row.refuse_slips(known)
        row.need(*required)
        yield row


def _gold(entry: Row, documents: Mapping[str, EvalDocument], max_bytes: int | None) -> GoldSentence:
    entry.refuse_slips(_GOLD_FIELDS)
    unknown = sorted(set(entry.fields) - set(_GOLD_FIELDS))
    if unknown:
        known = ", ".join(_GOLD_FIELDS)
        raise entry.error(f"unknown field {unknown[0]!r}.", hint=f"Known: {known}.")
    key = entry.key("document")
    if key not in documents:
        raise entry.error(f"document {key!r} is not in {DOCUMENTS}.")
    document = documents[key]
    if over(document.title, document.text, max_bytes):
        return GoldSentence(id=key, places=(whole(document),))  # left out: nobody finds it
    places = _places(entry, document)
    name = f"{key}@{places[0].start}-{places[0].end}" if _is_narrow(entry.fields) else key
    return GoldSentence(id=name, places=places)


def _is_narrow(fields: Mapping[str, Any]) -> bool:
    return bool(set(fields) - {"document"})


def _places(entry: Row, document: EvalDocument) -> tuple[Span, ...]:
    if "quote" in entry.fields:
        return (_quoted(entry, document),)
    if _is_narrow(entry.fields):
        start, end = entry.number("start"), entry.number("end")
        if not 0 <= start < end <= len(document.text):
            raise entry.error(
                f"{start} to {end} is no part of {document.id!r}, which has "
                f"{len(document.text):,} characters."
            )
        return (Span(document_id=document.id, start=start, end=end),)
    if not document.sentences:
        raise entry.error(f"document {document.id!r} has no text.")
    return tuple(sentence.span for sentence in document.sentences)


def _quoted(entry: Row, document: EvalDocument) -> Span:
    quote = entry.text("quote")
    verbatim = document.text.find(quote) if quote.strip() else -1
    if verbatim >= 0:  # spares folding, which takes seconds where a document is a book
        return Span(document_id=document.id, start=verbatim, end=verbatim + len(quote))
    found = locate(quote, document.text)
    if found is None:
        raise entry.error(
            f"its quote is not in the text of {document.id!r}.",
            hint="Case, white space, dashes and quotation marks do not matter; words do.",
        )
    return Span(document_id=document.id, start=found[0], end=found[1])
