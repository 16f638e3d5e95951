"""A document to its passages: which are kept, which are new, which could not be constructed.

In two steps, so that the windows of many documents can be read at the same time: ``open_draft``
says what must be asked, ``Opened.close`` puts the answers together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from resin_es.errors import ModelError, ReadingError
from resin_es.extract.diff import changed_regions
from resin_es.extract.language import UNDETERMINED
from resin_es.extract.passages import build, fixed_size, from_marked, repair, windows
from resin_es.extract.units import ENDS_THE_RUN, as_failure
from resin_es.model import (
    Document,
    Frozen,
    Passage,
    PassageDraft,
    PassageRef,
    Sentence,
    StageError,
)
from resin_es.ports import PassageReading, Reader, ReadingWindow, UnreadSpan

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
    """The passages of a document, in order, with their parts; what was repaired and failed,
    and what the constructor spent."""

    passages: tuple[Passage, ...]
    parts: tuple[Part, ...]
    failures: tuple[StageError, ...] = ()
    repairs: int = 0
    faults: Mapping[str, int] = {}
    tokens: int = 0
    cost: float = 0.0


class Opened(NamedTuple):
    """A document whose ``windows`` must be read before its passages are known. ``settled``
    are the parts that need no reading; ``offsets`` say where each window begins."""

    document: Document
    sentences: Sequence[Sentence]
    settled: tuple[Part, ...]
    windows: tuple[ReadingWindow, ...] = ()
    offsets: tuple[int, ...] = ()

    def close(self, readings: Sequence[PassageReading]) -> Drafting:
        """The passages, given one reading per window."""
        parts = list(self.settled)
        faults: Counter[str] = Counter()
        repairs = 0
        for window, offset, reading in zip(self.windows, self.offsets, readings, strict=True):
            found, fixed = _read_parts(window, reading, offset)
            parts.extend(found)
            repairs += fixed
            faults.update(reading.faults)
        parts.sort(key=lambda part: part.draft.first)
        document = self.document
        drafts = (part.draft for part in parts)
        return Drafting(
            passages=build(document.key, document.text, self.sentences, drafts),
            parts=tuple(parts),
            failures=tuple(span.error for reading in readings for span in reading.unread),
            repairs=repairs,
            faults=dict(faults),
            tokens=sum(reading.tokens for reading in readings),
            cost=sum(reading.cost for reading in readings),
        )


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


def open_draft(
    document: Document,
    sentences: Sequence[Sentence],
    language: str | None,
    previous: Previous,
) -> Opened:
    """What of ``sentences`` (all of ``document``'s) must be cut into passages, and by whom.

    Marked input keeps its marks; unmarked input, and text in a language that the reader lacks
    (``language`` None), is cut by size; anything else goes to the reader in windows, only where
    it changed since ``previous``.
    """
    old = [ref for ref in previous.passages if not ref.failed]
    if document.marked:
        return Opened(document, sentences, _marked(document, sentences, {ref.id for ref in old}))
    diff = changed_regions(old, sentences, document.key, document.text)
    parts = [Part(PassageDraft(first=kept.first, last=kept.last), State.KEPT) for kept in diff.kept]
    asked: list[ReadingWindow] = []
    offsets: list[int] = []
    for first, last in diff.regions:
        if document.unmarked or language is None:
            drafts = fixed_size(sentences[first : last + 1], offset=first)
            parts.extend(Part(draft, State.NEW) for draft in drafts)
            continue
        for window in windows(
            sentences, title=document.title, language=language, first=first, last=last
        ):
            asked.append(window)
            offsets.append(first)
            first += len(window.sentences)
    return Opened(document, sentences, tuple(parts), tuple(asked), tuple(offsets))


def _marked(document: Document, sentences: Sequence[Sentence], old: set[str]) -> tuple[Part, ...]:
    """The marks decide, so a passage is kept if the same one comes out of them again."""
    drafts = from_marked(document, sentences)
    passages = build(document.key, document.text, sentences, drafts)
    return tuple(
        Part(draft, State.KEPT if passage.id in old else State.NEW)
        for draft, passage in zip(drafts, passages, strict=True)
    )


def read_window(reader: Reader, window: ReadingWindow) -> PassageReading:
    """What ``reader`` says to one window; an error that is the window's own is in the reading.

    Raises ModelUnavailable and BudgetSpent: every other window would meet them too.
    """
    try:
        return reader.passages(window)
    except ENDS_THE_RUN:
        raise
    except (ReadingError, ModelError) as error:
        failure = as_failure(error, PASSAGES_STAGE)
        last = len(window.sentences) - 1
        return PassageReading(unread=(UnreadSpan(first=0, last=last, error=failure),))


def _read_parts(
    window: ReadingWindow, reading: PassageReading, offset: int
) -> tuple[list[Part], int]:
    """The parts of one window: repaired drafts, and pieces of fixed size where it failed."""
    held = window.sentences
    parts: list[Part] = []
    repairs = 0
    for first, last, unread in _stretches(reading.unread, len(held)):
        if unread:
            pieces = fixed_size(held[first : last + 1], offset=offset + first)
            parts.extend(Part(piece, State.FAILED) for piece in pieces)
            continue
        here = [
            draft.model_copy(update={"first": draft.first - first, "last": draft.last - first})
            for draft in reading.drafts
            if not reading.unread or first <= draft.first <= last
        ]
        drafts, fixed = repair(here, last - first + 1)
        repairs += fixed
        for draft in drafts:
            parts.extend(_new_parts(draft, held[first : last + 1], offset + first))
    return parts, repairs


def _stretches(unread: Sequence[UnreadSpan], n: int) -> Iterator[tuple[int, int, bool]]:
    """(first, last, whether it could not be read), in order, over all ``n`` sentences."""
    following = 0
    for span in sorted(unread, key=lambda span: span.first):
        first, last = max(span.first, following), min(span.last, n - 1)
        if first > last:
            continue
        if first > following:
            yield following, first - 1, False
        yield first, last, True
        following = last + 1
    if following < n:
        yield following, n - 1, False


def _new_parts(draft: PassageDraft, held: Sequence[Sentence], offset: int) -> Iterator[Part]:
    if draft.semantic:
        moved = {"first": draft.first + offset, "last": draft.last + offset}
        yield Part(draft.model_copy(update=moved), State.NEW)
        return
    # a gap that the reader left: no passage without bound comes out of it
    for piece in fixed_size(held[draft.first : draft.last + 1], offset=offset + draft.first):
        yield Part(piece, State.NEW)
