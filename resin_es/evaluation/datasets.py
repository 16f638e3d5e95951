"""Evaluation sets: questions whose gold evidence is known as character spans of documents.

HolisQA [4, A.1] comes as a folder per domain with ``articles.jsonl``, ``sentences.jsonl`` and
``qa.jsonl``. Its sentences are cut by the data set; what is indexed is the article's text and
is cut by our own splitter. So gold sentences become character spans of that text, and evidence
is compared with them by position (see ``align``). Gold stays on this side: nothing here goes
into an index, a plan or a query but the question's own words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from resin_es.errors import InputError, RecordError
from resin_es.evaluation.values import (
    EvalDataset,
    EvalDocument,
    EvalQuestion,
    GoldSentence,
    SourceSentence,
    Span,
)

ARTICLES, SENTENCES, QUESTIONS = "articles.jsonl", "sentences.jsonl", "qa.jsonl"


def domain_folders(folder: Path) -> tuple[Path, ...]:
    """The domains of a HolisQA folder by name, or the folder itself where it is a domain.

    Raises InputError where it is neither.
    """
    if _is_domain(folder):
        return (folder,)
    found = tuple(sorted(path for path in folder.glob("*") if _is_domain(path)))
    if not found:
        raise InputError(
            f"{folder} is no HolisQA folder: neither it nor a folder in it holds "
            f"{ARTICLES}, {SENTENCES} and {QUESTIONS}.",
            hint="Name the folder of one domain, or the one above.",
        )
    return found


def _is_domain(path: Path) -> bool:
    return all((path / name).is_file() for name in (ARTICLES, SENTENCES, QUESTIONS))


def load_holisqa(folder: Path) -> tuple[EvalDataset, ...]:
    """Every domain of ``folder`` with documents and questions.

    Raises InputError where the folder is none, RecordError on a broken line.
    """
    return tuple(_load_domain(domain) for domain in domain_folders(folder))


def load_documents(domain: Path) -> tuple[EvalDocument, ...]:
    """The articles of one domain. A text is its sentences in ``sent_idx`` order, one space
    between them. Raises RecordError."""
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in _records(domain / SENTENCES, ("sentence_id", "article_id", "sent_idx", "text")):
        rows.setdefault(row["article_id"], []).append(row)
    return tuple(
        _document(article, sorted(rows.get(article["article_id"], ()), key=_position))
        for article in _records(domain / ARTICLES, ("article_id", "title"))
    )


def _position(row: Mapping[str, Any]) -> int:
    return int(row["sent_idx"])


def _document(article: Mapping[str, Any], rows: list[Mapping[str, Any]]) -> EvalDocument:
    key = article["article_id"]
    sentences = []
    start = 0
    for row in rows:
        end = start + len(row["text"])
        span = Span(document_id=key, start=start, end=end)
        sentences.append(SourceSentence(id=row["sentence_id"], span=span, text=row["text"]))
        start = end + 1
    return EvalDocument(
        id=key,
        title=article["title"],
        text=" ".join(row["text"] for row in rows),
        sentences=tuple(sentences),
        record=article,
    )


def _load_domain(domain: Path) -> EvalDataset:
    documents = load_documents(domain)
    sentences = {s.id: s for document in documents for s in document.sentences}
    places: dict[str, list[Span]] = {}
    for sentence in sentences.values():
        places.setdefault(folded(sentence.text), []).append(sentence.span)
    required = ("qa_id", "question", "context_sentence_ids")
    questions = [
        EvalQuestion(
            id=row["qa_id"],
            question=row["question"],
            answer=row.get("answer", ""),
            gold=tuple(
                _gold(sentences, places, key, f"{domain / QUESTIONS}, question {row['qa_id']}")
                for key in row["context_sentence_ids"]
            ),
        )
        for row in _records(domain / QUESTIONS, required)
    ]
    return EvalDataset(name=domain.name, documents=documents, questions=tuple(questions))


def folded(text: str) -> str:
    """What makes two sentences the same one: their words, white space aside."""
    return " ".join(text.split())


def _gold(
    sentences: Mapping[str, SourceSentence],
    places: Mapping[str, list[Span]],
    key: str,
    where: str,
) -> GoldSentence:
    if key not in sentences:
        raise RecordError(f"gold sentence {key!r} is in no article.", where=where)
    own = sentences[key]
    others = (span for span in places[folded(own.text)] if span != own.span)
    return GoldSentence(id=key, places=(own.span, *others))


def _records(path: Path, required: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    """The objects of a JSONL file, empty lines skipped. Raises RecordError, InputError."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _record(line, required, f"{path}, line {number}")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8.") from error


def _record(line: str, required: tuple[str, ...], where: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise RecordError(f"is not JSON ({error}).", where=where) from error
    if not isinstance(row, dict):
        raise RecordError("is not a JSON object.", where=where)
    missing = [name for name in required if name not in row]
    if missing:
        raise RecordError(f"lacks {', '.join(missing)}.", where=where)
    return row
