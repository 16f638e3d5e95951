"""A document to its passages: which are kept, which are new, which could not be constructed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from resin_es.errors import ModelError, ModelUnavailable, ReadingError
from resin_es.extract.diff import changed_regions
from resin_es.extract.language import UNDETERMINED
from resin_es.extract.passages import build, fixed_size, from_marked, repair, windows
from resin_es.extract.units import as_failure
from resin_es.model import (
    Document,
    Frozen,
    Passage,
    PassageDraft,
    PassageRef,
    Sentence,
    StageError,
)
from resin_es.ports import Reader, ReadingWindow

PASSAGES_STAGE = "passages"
DEFAULT_LANGUAGE = "en"
"""What a text too short to tell is read as, if its letters are ASCII."""


class Previous(Frozen):
    """What the registry kept of the last reading. Passages marked ``failed`` are read again
    although they stand unchanged."""

    passages: tuple[PassageRef, ...] = ()


class State(Enum):
    """What becomes of a passage."""

    NEW = "new"
    KEPT = "kept"
    FAILED = "failed"
    """Its window could not be read: fixed size, no units."""


class Part(NamedTuple):
    """A draft over the document's sentences, and what becomes of it."""

    draft: PassageDraft
    state: State


class Drafting(NamedTuple):
    """The passages of a document, in order, with their parts; what was repaired and failed."""

    passages: tuple[Passage, ...]
    parts: tuple[Part, ...]
    failures: tuple[StageError, ...] = ()
    repairs: int = 0


def reading_language(reader: Reader, language: str, text: str) -> str | None:
    """The language to tell the reader, or None if it does not read this one."""
    known = reader.languages()
    if known is None or language in known:
        return language
    if language == UNDETERMINED and DEFAULT_LANGUAGE in known and _latin(text):
        return DEFAULT_LANGUAGE
    return None


def _latin(text: str) -> bool:
    letters = [char for char in text[:2_000] if char.isalpha()]
    return 10 * sum(map(str.isascii, letters)) >= 9 * len(letters)


def draft_passages(
    document: Document,
    sentences: Sequence[Sentence],
    reader: Reader,
    language: str | None,
    previous: Previous,
) -> Drafting:
    """Cut ``sentences`` (all of ``document``'s) into passages.

    Marked input keeps its marks; unmarked input, and text in a language that the reader lacks
    (``language`` None), is cut by size; anything else goes to the reader in windows, only where
    it changed since ``previous``.
    """
    old = [ref for ref in previous.passages if not ref.failed]
    if document.marked:
        return _marked(document, sentences, {ref.id for ref in old})
    diff = changed_regions(old, sentences, document.key, document.text)
    parts = [Part(PassageDraft(first=kept.first, last=kept.last), State.KEPT) for kept in diff.kept]
    constructor = _Constructor(reader, document.title, language or "")
    for first, last in diff.regions:
        if document.unmarked or language is None:
            drafts = fixed_size(sentences[first : last + 1], offset=first)
            parts.extend(Part(draft, State.NEW) for draft in drafts)
        else:
            parts.extend(constructor.region(sentences, first, last))
    parts.sort(key=lambda part: part.draft.first)
    passages = build(document.key, document.text, sentences, (part.draft for part in parts))
    return Drafting(passages, tuple(parts), tuple(constructor.failures), constructor.repairs)


def _marked(document: Document, sentences: Sequence[Sentence], old: set[str]) -> Drafting:
    """The marks decide, so a passage is kept if the same one comes out of them again."""
    drafts = from_marked(document, sentences)
    passages = build(document.key, document.text, sentences, drafts)
    parts = tuple(
        Part(draft, State.KEPT if passage.id in old else State.NEW)
        for draft, passage in zip(drafts, passages, strict=True)
    )
    return Drafting(passages, parts)


class _Constructor:
    """Asks the reader for passages, window by window; keeps count of repairs and failures."""

    def __init__(self, reader: Reader, title: str, language: str) -> None:
        self._reader = reader
        self._title = title
        self._language = language
        self.failures: list[StageError] = []
        self.repairs = 0

    def region(self, sentences: Sequence[Sentence], first: int, last: int) -> Iterator[Part]:
        offset = first
        for window in windows(
            sentences, title=self._title, language=self._language, first=first, last=last
        ):
            yield from self._window(window, offset)
            offset += len(window.sentences)

    def _window(self, window: ReadingWindow, offset: int) -> Iterator[Part]:
        held = window.sentences
        try:
            drafts = self._reader.passages(window)
        except ModelUnavailable:
            raise
        except (ReadingError, ModelError) as error:
            self.failures.append(as_failure(error, PASSAGES_STAGE))
            for draft in fixed_size(held, offset=offset):
                yield Part(draft, State.FAILED)
            return
        repaired, repairs = repair(drafts, len(held))
        self.repairs += repairs
        for draft in repaired:
            if draft.semantic:
                moved = {"first": draft.first + offset, "last": draft.last + offset}
                yield Part(draft.model_copy(update=moved), State.NEW)
            else:  # a gap that the reader left: no passage without bound comes out of it
                gap = held[draft.first : draft.last + 1]
                for piece in fixed_size(gap, offset=offset + draft.first):
                    yield Part(piece, State.NEW)
