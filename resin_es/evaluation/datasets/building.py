"""Documents from sentences or from whole texts, and a corpus from questions' own paragraphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from resin_es.errors import InputError
from resin_es.evaluation.datasets.places import with_all_places
from resin_es.evaluation.values import (
    EvalDataset,
    EvalDocument,
    EvalQuestion,
    SourceSentence,
    Span,
)
from resin_es.extract.sentences import split_sentences
from resin_es.model.base import content_id


def joined_document(
    key: str,
    title: str,
    sentences: Iterable[tuple[str, str]],
    record: Mapping[str, Any] | None = None,
) -> EvalDocument:
    """A document whose sentences (id, text) are the data set's own. Its text is the sentences
    with one space between them; blank ones are left out, since nobody can find them."""
    found: list[SourceSentence] = []
    start = 0
    for sentence_id, text in sentences:
        if text.strip():
            span = Span(document_id=key, start=start, end=start + len(text))
            found.append(SourceSentence(id=sentence_id, span=span, text=text))
            start = span.end + 1
    return EvalDocument(
        id=key,
        title=title,
        text=" ".join(sentence.text for sentence in found),
        sentences=tuple(found),
        record=record or {},
    )


def split_document(
    key: str, title: str, text: str, record: Mapping[str, Any] | None = None
) -> EvalDocument:
    """A document that its data set does not cut: sentences by our own splitter, ``key#0`` on."""
    sentences = tuple(
        SourceSentence(
            id=f"{key}#{number}",
            span=Span(document_id=key, start=start, end=end),
            text=text[start:end],
        )
        for number, (start, end) in enumerate(split_sentences(text))
    )
    return EvalDocument(id=key, title=title, text=text, sentences=sentences, record=record or {})


def whole(document: EvalDocument) -> Span:
    """The document's text from its first character to its last."""
    return Span(document_id=document.id, start=0, end=len(document.text))


class Corpus:
    """One corpus out of paragraphs that come with their questions, many of them more than once:
    equal (title, text) is one document, whose id is made of them."""

    def __init__(self) -> None:
        self._documents: dict[str, EvalDocument] = {}

    def add_sentences(self, title: str, sentences: Sequence[str]) -> EvalDocument:
        """A paragraph that its data set cuts into sentences; outer white space is dropped."""
        texts = [sentence.strip() for sentence in sentences]
        key = content_id(title, *texts, length=20)
        if key not in self._documents:
            numbered = ((f"{key}#{number}", text) for number, text in enumerate(texts))
            self._documents[key] = joined_document(key, title, numbered)
        return self._documents[key]

    def add_text(
        self, title: str, text: str, record: Mapping[str, Any] | None = None
    ) -> EvalDocument:
        """A paragraph as it is, cut by our own splitter; ``record`` counts the first time."""
        key = content_id(title, text, length=20)
        if key not in self._documents:
            self._documents[key] = split_document(key, title, text, record)
        return self._documents[key]

    @property
    def documents(self) -> tuple[EvalDocument, ...]:
        """In the order in which they came first."""
        return tuple(self._documents.values())


def dataset(
    name: str, documents: Sequence[EvalDocument], questions: Sequence[EvalQuestion], where: str
) -> EvalDataset:
    """A data set with its gold at every place. ``where`` is its folder or file.

    Raises InputError where two documents or two questions have one id: findings are kept by it.
    """
    for what, ids in (
        ("documents", (one.id for one in documents)),
        ("questions", (one.id for one in questions)),
    ):
        repeated = [key for key, count in Counter(ids).items() if count > 1]
        if repeated:
            raise InputError(f"{where}: several {what} have the id {repeated[0]!r}.")
    return EvalDataset(
        name=name, documents=tuple(documents), questions=with_all_places(documents, questions)
    )
