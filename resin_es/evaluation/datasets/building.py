"""Documents from sentences or from whole texts, and a corpus from questions' own paragraphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from resin_es.errors import DocumentTooLarge, InputError
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
    key: str,
    title: str,
    text: str,
    record: Mapping[str, Any] | None = None,
    *,
    max_bytes: int | None = None,
) -> EvalDocument:
    """A document that its data set does not cut: sentences by our own splitter, ``key#0`` on.
    One over ``max_bytes`` has none: it is to be left out, and splitting it would take long."""
    if over(title, text, max_bytes):
        return EvalDocument(id=key, title=title, text=text, sentences=(), record=record or {})
    sentences = tuple(
        SourceSentence(
            id=f"{key}#{number}",
            span=Span(document_id=key, start=start, end=end),
            text=text[start:end],
        )
        for number, (start, end) in enumerate(split_sentences(text))
    )
    return EvalDocument(id=key, title=title, text=text, sentences=sentences, record=record or {})


def over(title: str, text: str, max_bytes: int | None) -> int:
    """How many bytes a document has, where that is over ``max_bytes`` (None: no limit), else 0.
    As for documents to index, title and text count."""
    if max_bytes is None or 4 * (len(title) + len(text)) <= max_bytes:
        return 0
    size = len(text.encode("utf-8", "replace")) + len(title.encode("utf-8", "replace"))
    return size if size > max_bytes else 0


def whole(document: EvalDocument) -> Span:
    """The document's text from its first character to its last."""
    return Span(document_id=document.id, start=0, end=len(document.text))


class Corpus:
    """One corpus out of paragraphs that come with their questions, many of them more than once:
    equal (title, text) is one document, whose id is made of them."""

    def __init__(self, max_bytes: int | None = None) -> None:
        self._max_bytes = max_bytes
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
            self._documents[key] = split_document(
                key, title, text, record, max_bytes=self._max_bytes
            )
        return self._documents[key]

    @property
    def documents(self) -> tuple[EvalDocument, ...]:
        """In the order in which they came first."""
        return tuple(self._documents.values())


def dataset(
    name: str,
    documents: Sequence[EvalDocument],
    questions: Sequence[EvalQuestion],
    where: str,
    *,
    max_bytes: int | None = None,
) -> EvalDataset:
    """A data set with its gold at every place. ``where`` is its folder or file. A document over
    ``max_bytes`` is left out and named, as when it is indexed.

    Raises InputError where two documents or two questions have one id (findings are kept by it),
    or no document is small enough.
    """
    for what, ids in (
        ("documents", (one.id for one in documents)),
        ("questions", (one.id for one in questions)),
    ):
        repeated = [key for key, count in Counter(ids).items() if count > 1]
        if repeated:
            raise InputError(f"{where}: several {what} have the id {repeated[0]!r}.")
    kept = [one for one in documents if not over(one.title, one.text, max_bytes)]
    left_out = tuple(
        f"{where}: document {one.id[:80]!r} has {size:,} bytes, over the limit of {max_bytes:,} "
        "(RESIN_MAX_DOCUMENT_BYTES)."
        for one in documents
        if (size := over(one.title, one.text, max_bytes))
    )
    if left_out and not kept:
        raise DocumentTooLarge(
            f"No document is left. {left_out[0]}",
            hint="Split it, or raise RESIN_MAX_DOCUMENT_BYTES.",
        )
    return EvalDataset(
        name=name,
        documents=tuple(kept),
        questions=with_all_places(kept, questions),
        left_out=left_out,
    )
