"""HolisQA [4.2, A.1]: a folder per domain with ``articles.jsonl``, ``sentences.jsonl`` and
``qa.jsonl``, as released with CausalRAG2 (Wang et al., 2026).

Its sentences are cut by the data set; what is indexed is the article's text and is cut by our
own splitter. So gold sentences become character spans of that text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resin_es.errors import InputError, RecordError
from resin_es.evaluation.datasets.building import dataset, joined_document
from resin_es.evaluation.datasets.lines import Row, read_jsonl
from resin_es.evaluation.values import (
    EvalDataset,
    EvalDocument,
    EvalQuestion,
    GoldSentence,
    SourceSentence,
)

ARTICLES, SENTENCES, QUESTIONS = "articles.jsonl", "sentences.jsonl", "qa.jsonl"

_OWN = frozenset({"article_id", "title", "publication_date", "openalex_id"})
"""Fields of an article that become fields of the record itself."""
_LOCAL = frozenset({"abstract_path"})
"""Fields that mean something only where the data set was made."""


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


def load_documents(domain: Path) -> tuple[EvalDocument, ...]:
    """The articles of one domain. A text is its sentences in ``sent_idx`` order, one space
    between them; ``record`` is the article as released. Raises RecordError."""
    return _documents(domain, _sentence_rows(domain))


def _sentence_rows(domain: Path) -> list[Row]:
    required = ("sentence_id", "article_id", "sent_idx", "text")
    return list(read_jsonl(domain / SENTENCES, *required))


def _documents(domain: Path, rows: list[Row]) -> tuple[EvalDocument, ...]:
    by_article: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.number("sent_idx")):
        by_article.setdefault(row.key("article_id"), []).append(row)
    return tuple(
        joined_document(
            article.key("article_id"),
            article.text("title"),
            (
                (row.key("sentence_id"), row.text("text"))
                for row in by_article.get(article.key("article_id"), ())
            ),
            article.fields,
        )
        for article in read_jsonl(domain / ARTICLES, "article_id", "title")
    )


def load_domain(domain: Path, *, max_bytes: int | None = None) -> EvalDataset:
    """One domain. A gold sentence that is blank is left out. Raises InputError, RecordError."""
    rows = _sentence_rows(domain)
    documents = _documents(domain, rows)
    sentences = {s.id: s for document in documents for s in document.sentences}
    blank = {row.key("sentence_id") for row in rows if not row.text("text").strip()}
    questions = [
        EvalQuestion(
            id=row.key("qa_id"),
            question=row.text("question"),
            answer=row.text("answer", ""),
            gold=tuple(
                _gold(sentences, key, f"{domain / QUESTIONS}, question {row.key('qa_id')}")
                for key in row.strings("context_sentence_ids")
                if key not in blank
            ),
        )
        for row in read_jsonl(domain / QUESTIONS, "qa_id", "question", "context_sentence_ids")
    ]
    return dataset(domain.name, documents, questions, str(domain), max_bytes=max_bytes)


def load_holisqa(folder: Path) -> tuple[EvalDataset, ...]:
    """Every domain of ``folder`` with documents and questions.

    Raises InputError where the folder is none, RecordError on a broken line.
    """
    return tuple(load_domain(domain) for domain in domain_folders(folder))


def _gold(sentences: Mapping[str, SourceSentence], key: str, where: str) -> GoldSentence:
    if key not in sentences:
        raise RecordError(f"gold sentence {key!r} is in no article.", where=where)
    return GoldSentence(id=key, places=(sentences[key].span,))


def index_fields(document: EvalDocument) -> dict[str, Any]:
    """Metadata, url (at OpenAlex) and updated_at (the publication date) of an article."""
    fields = document.record
    found: dict[str, Any] = {
        "metadata": {
            name: value
            for name, value in fields.items()
            if name not in _OWN | _LOCAL and value not in (None, "")
        }
    }
    if fields.get("openalex_id"):
        found["url"] = fields["openalex_id"]
    if fields.get("publication_date"):
        found["updated_at"] = f"{fields['publication_date']}T00:00:00Z"
    return found
