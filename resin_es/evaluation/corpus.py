"""What the baselines search: a data set cut into whole documents, sentences and windows. Pure.

Sentences are the data set's own, not our splitter's, and a window is five of them in a row:
nothing of RESIN goes into what RESIN is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Literal

from pydantic import ConfigDict

from resin_es.evaluation.values import EvalDataset, EvalDocument, SourceSentence
from resin_es.model.base import Frozen, content_id

Granularity = Literal["document", "sentence", "window"]
GRANULARITIES: tuple[Granularity, ...] = ("document", "sentence", "window")

WINDOW = 5
"""Sentences in a window. Windows do not overlap; the last of a document may be shorter."""


class CorpusRecord(Frozen):
    """One thing that a baseline can find.

    Characters ``start`` to ``end`` of document ``document_id``, which are ``text``; sentences
    ``first`` to ``last`` (exclusive) of it. ``searched`` is what is searched, lexically and by
    vector: a whole document with its title before it, any other record by its text alone.
    """

    id: str
    granularity: Granularity
    document_id: str
    start: int
    end: int
    title: str
    text: str
    first: int
    last: int

    @property
    def searched(self) -> str:
        if self.granularity == "document" and self.title:
            return f"{self.title}\n{self.text}"
        return self.text


class Corpus(Frozen):
    """The records of one data set: its documents in file order, then its sentences, then its
    windows. A record's place in ``records`` is its number in an index."""

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    name: str
    documents: tuple[EvalDocument, ...]
    records: tuple[CorpusRecord, ...]

    @cached_property
    def by_id(self) -> dict[str, EvalDocument]:
        return {document.id: document for document in self.documents}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {document.id: number for number, document in enumerate(self.documents)}

    @cached_property
    def _first_sentences(self) -> tuple[int, ...]:
        lengths = (len(document.sentences) for document in self.documents)
        return tuple(accumulate(lengths, initial=len(self.documents)))

    def document_number(self, number: int) -> int:
        """The place of the document that record ``number`` is from: in ``records`` and in
        ``documents``."""
        return self._numbers[self.records[number].document_id]

    def sentence_number(self, document: int, position: int) -> int:
        """The place in ``records`` of a sentence of document ``document``."""
        return self._first_sentences[document] + position

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all records: two corpora of one fingerprint are searched alike."""
        return content_id("corpus", *(record.id for record in self.records))


def corpus_of(dataset: EvalDataset, *, window: int = WINDOW) -> Corpus:
    """Cut ``dataset``. Documents without sentences have nothing to be found by and are left
    out. Gold and questions are not looked at."""
    documents = tuple(document for document in dataset.documents if document.sentences)
    wholes = [_record("document", one, 0, len(one.sentences)) for one in documents]
    sentences = [
        _record("sentence", one, place, place + 1)
        for one in documents
        for place in range(len(one.sentences))
    ]
    windows = [
        _record("window", one, first, last)
        for one in documents
        for first, last in window_places(len(one.sentences), window)
    ]
    return Corpus(name=dataset.name, documents=documents, records=(*wholes, *sentences, *windows))


def window_places(sentences: int, window: int = WINDOW) -> Iterator[tuple[int, int]]:
    """(first, last) of each window, ``last`` exclusive: each sentence in exactly one."""
    for first in range(0, sentences, window):
        yield first, min(first + window, sentences)


def _record(
    granularity: Granularity, document: EvalDocument, first: int, last: int
) -> CorpusRecord:
    start, end = _extent(document.sentences[first:last])
    if granularity == "document":
        start, end = 0, len(document.text)
    text = document.text[start:end]
    place = f"{start}-{end}-{first}-{last}"
    return CorpusRecord(
        id=content_id(granularity, document.id, document.title, text, place),
        granularity=granularity,
        document_id=document.id,
        start=start,
        end=end,
        title=document.title,
        text=text,
        first=first,
        last=last,
    )


def _extent(sentences: Sequence[SourceSentence]) -> tuple[int, int]:
    return sentences[0].span.start, sentences[-1].span.end
