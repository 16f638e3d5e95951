"""Reading documents: sentences, language gate, diff, passages, units.

The one place where the stages of extraction meet a :class:`~resin_es.ports.Reader`. What goes
wrong in the reader stays within its window or passage and is named; what every document would
meet (a model that is not there, a setting, no money left) is raised.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from resin_es.extract.drafting import (
    Drafting,
    Opened,
    Previous,
    State,
    open_draft,
    read_window,
    reading_language,
)
from resin_es.extract.lanes import in_lanes
from resin_es.extract.language import UNDETERMINED, detect_language
from resin_es.extract.normalize import normalize
from resin_es.extract.sentences import sentences_of
from resin_es.extract.units import extract_units
from resin_es.model import (
    Document,
    Frozen,
    Passage,
    PassageRef,
    Sentence,
    StageError,
    Unit,
)
from resin_es.ports import PassageInput, PassageReading, Reader, ReadingWindow, UnitReading

__all__ = ["Previous", "Reading", "read_document", "read_many"]


class Reading(Frozen):
    """What reading one document gave.

    ``passages`` are all of the document's, in order, and hold each sentence once; ``refs`` are
    the same for the registry. Those named in ``kept_passage_ids`` were not read: they are
    rebuilt from the text alone (same id, no entity or role), and their stored records and
    units still hold. ``failed_passage_ids`` could not be read, or only in part, and lack the
    units of what was not; ``failures`` says how. ``rejected`` counts drafts by reason, and as
    ``language:<code>`` the passages that the reader has no language for. ``faults`` counts what
    went wrong with a model, put right or not. ``tokens`` and ``cost`` (US dollars) are those of
    both stages.
    """

    document_key: str
    document_version: str
    language: str
    sentences: tuple[Sentence, ...] = ()
    passages: tuple[Passage, ...] = ()
    refs: tuple[PassageRef, ...] = ()
    kept_passage_ids: frozenset[str] = frozenset()
    failed_passage_ids: frozenset[str] = frozenset()
    new_units: tuple[Unit, ...] = ()
    rejected: Mapping[str, int] = Field(default_factory=dict)
    failures: tuple[StageError, ...] = ()
    faults: Mapping[str, int] = Field(default_factory=dict)
    read_passages: int = 0
    """Passages given to the reader; ``read_sentences`` is how many they hold."""
    read_sentences: int = 0
    unread_language: bool = False
    """The reader does not read ``language``: sentence addresses only, no units."""
    repairs: int = 0
    """Faults of the passage constructor that were put right."""
    tokens: int = 0
    cost: float = 0.0


class _Open(NamedTuple):
    """A document before its passages are known. ``told`` is the language to tell the reader."""

    language: str
    told: str | None
    sentences: tuple[Sentence, ...]
    opened: Opened


class _Work(NamedTuple):
    """A document between its passages and its units."""

    document: Document
    language: str
    readable: bool
    sentences: tuple[Sentence, ...]
    drafting: Drafting
    inputs: tuple[PassageInput, ...]


def read_document(document: Document, reader: Reader, previous: Previous | None = None) -> Reading:
    """Read one document; with ``previous``, only what changed since.

    Raises what every document would meet (ModelUnavailable, BudgetSpent, SettingsError); a
    failure to read this one is in the result.
    """
    return read_many([(document, previous)], reader)[0]


def read_many(
    inputs: Sequence[tuple[Document, Previous | None]],
    reader: Reader,
    *,
    lanes: int | None = None,
) -> list[Reading]:
    """Read documents, in order.

    Windows go to the reader one by one, up to ``lanes`` at a time (``reader.lanes`` by
    default); passages in as few calls of ``reader.units`` as possible. A failing pool is halved
    until the failure stands with the passage that caused it. Raises as :func:`read_document`.
    """
    works = _works(inputs, reader, reader.lanes if lanes is None else lanes)
    outcomes = iter(extract_units([item for work in works for item in work.inputs], reader))
    return [_finish(work, [next(outcomes) for _ in work.inputs], reader) for work in works]


def _works(
    inputs: Sequence[tuple[Document, Previous | None]], reader: Reader, lanes: int
) -> list[_Work]:
    """All documents cut into passages."""
    opened = [_open(document, previous or Previous(), reader) for document, previous in inputs]

    def ask(window: ReadingWindow) -> PassageReading:
        return read_window(reader, window)

    answers = iter(in_lanes(ask, [w for one in opened for w in one.opened.windows], lanes))
    return [_prepared(one, [next(answers) for _ in one.opened.windows]) for one in opened]


def _open(document: Document, previous: Previous, reader: Reader) -> _Open:
    language = detect_language(document.text)
    told = reading_language(reader, language, document.text)
    sentences = sentences_of(document, "en" if language == UNDETERMINED else language)
    return _Open(language, told, sentences, open_draft(document, sentences, told, previous))


def _prepared(one: _Open, answers: Sequence[PassageReading]) -> _Work:
    document = one.opened.document
    drafting = one.opened.close(answers)
    fresh = [
        PassageInput(
            title=document.title,
            passage=passage,
            sentences=one.sentences[part.draft.first : part.draft.last + 1],
            language=one.told or one.language,
        )
        for part, passage in zip(drafting.parts, drafting.passages, strict=True)
        if part.state is State.NEW and one.told is not None
    ]
    readable = one.told is not None
    return _Work(document, one.language, readable, one.sentences, drafting, tuple(fresh))


class _Units(NamedTuple):
    """What came out of a document's passages."""

    units: list[Unit]
    rejected: Counter[str]
    failures: dict[str, StageError]
    """By passage id."""
    faults: Counter[str]


def _units(work: _Work, outcomes: Sequence[UnitReading], reader: Reader) -> _Units:
    """Normalise what the reader said about one document."""
    found = _Units([], Counter(), {}, Counter(work.drafting.faults))
    for item, outcome in zip(work.inputs, outcomes, strict=True):
        if outcome.failure is not None:
            found.failures[item.passage.id] = outcome.failure
        units, rejects = normalize(
            outcome.drafts,
            item.passage,
            item.sentences,
            work.document.key,
            work.document.version,
            reader.identity,
            work.document.title,
        )
        found.units.extend(units)
        found.rejected.update(reject.reason for reject in (*outcome.rejects, *rejects))
        found.faults.update(outcome.faults)
    if not work.readable and (unread := len(_ids(work.drafting, State.NEW))):
        found.rejected[f"language:{work.language}"] = unread
    return found


def _finish(work: _Work, outcomes: Sequence[UnitReading], reader: Reader) -> Reading:
    found = _units(work, outcomes, reader)
    failed = _ids(work.drafting, State.FAILED) | set(found.failures)
    return Reading(
        document_key=work.document.key,
        document_version=work.document.version,
        language=work.language,
        sentences=work.sentences,
        passages=work.drafting.passages,
        refs=_refs(work, failed),
        kept_passage_ids=frozenset(_ids(work.drafting, State.KEPT)),
        failed_passage_ids=frozenset(failed),
        new_units=tuple(found.units),
        rejected=dict(sorted(found.rejected.items())),
        failures=(*work.drafting.failures, *found.failures.values()),
        faults=dict(sorted(found.faults.items())),
        read_passages=len(work.inputs),
        read_sentences=sum(len(item.sentences) for item in work.inputs),
        unread_language=not work.readable,
        repairs=work.drafting.repairs,
        tokens=work.drafting.tokens + sum(outcome.tokens for outcome in outcomes),
        cost=work.drafting.cost + sum(outcome.cost for outcome in outcomes),
    )


def _ids(drafting: Drafting, state: State) -> set[str]:
    return {
        passage.id
        for part, passage in zip(drafting.parts, drafting.passages, strict=True)
        if part.state is state
    }


def _refs(work: _Work, failed: set[str]) -> tuple[PassageRef, ...]:
    return tuple(
        PassageRef(
            id=passage.id,
            start=work.sentences[part.draft.first].start,
            sentence_ids=passage.sentence_ids,
            failed=passage.id in failed,
        )
        for part, passage in zip(work.drafting.parts, work.drafting.passages, strict=True)
    )
