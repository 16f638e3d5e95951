"""Reading documents: sentences, language gate, diff, passages, units.

The one place where the stages of extraction meet a :class:`~resin_es.ports.Reader`. What goes
wrong in the reader stays within its window or passage and is named; what goes wrong with the
set-up (a model that is not there, a setting) is raised, since every document would meet it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from resin_es.extract.drafting import (
    Drafting,
    Previous,
    State,
    draft_passages,
    reading_language,
)
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
from resin_es.ports import PassageInput, Reader, UnitReading

__all__ = ["Previous", "Reading", "read_document", "read_many"]


class Reading(Frozen):
    """What reading one document gave.

    ``passages`` are all of the document's, in order, and hold each sentence once; ``refs`` are
    the same for the registry. Those named in ``kept_passage_ids`` were not read: they are
    rebuilt from the text alone (same id, no entity or role), and their stored records and
    units still hold. ``failed_passage_ids`` have no units because the reader failed;
    ``failures`` says how. ``rejected`` counts drafts by reason, and as ``language:<code>`` the
    passages that the reader has no language for. ``tokens`` and ``cost`` are the extractor's.
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
    read_passages: int = 0
    """Passages given to the reader; ``read_sentences`` is how many they hold."""
    read_sentences: int = 0
    unread_language: bool = False
    """The reader does not read ``language``: sentence addresses only, no units."""
    repairs: int = 0
    """Faults of the passage constructor that were put right."""
    tokens: int = 0
    cost: float = 0.0


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

    Raises what is wrong with the set-up (ModelUnavailable, SettingsError); a failure to read
    is in the result.
    """
    return read_many([(document, previous)], reader)[0]


def read_many(inputs: Sequence[tuple[Document, Previous | None]], reader: Reader) -> list[Reading]:
    """Read documents, in order, their passages pooled into as few calls of ``reader.units`` as
    possible. A failing pool is halved until the failure stands with the passage that caused it.
    Raises as :func:`read_document`.
    """
    works = [_prepare(document, previous or Previous(), reader) for document, previous in inputs]
    outcomes = iter(extract_units([item for work in works for item in work.inputs], reader))
    return [_finish(work, [next(outcomes) for _ in work.inputs], reader) for work in works]


def _prepare(document: Document, previous: Previous, reader: Reader) -> _Work:
    language = detect_language(document.text)
    told = reading_language(reader, language, document.text)
    sentences = sentences_of(document, "en" if language == UNDETERMINED else language)
    drafting = draft_passages(document, sentences, reader, told, previous)
    fresh = [
        PassageInput(
            title=document.title,
            passage=passage,
            sentences=sentences[part.draft.first : part.draft.last + 1],
            language=told or language,
        )
        for part, passage in zip(drafting.parts, drafting.passages, strict=True)
        if part.state is State.NEW and told is not None
    ]
    return _Work(document, language, told is not None, sentences, drafting, tuple(fresh))


class _Units(NamedTuple):
    """What came out of a document's passages."""

    units: list[Unit]
    rejected: Counter[str]
    failures: dict[str, StageError]
    """By passage id."""


def _units(work: _Work, outcomes: Sequence[UnitReading | StageError], reader: Reader) -> _Units:
    """Normalise what the reader said about one document."""
    found = _Units([], Counter(), {})
    for item, outcome in zip(work.inputs, outcomes, strict=True):
        if isinstance(outcome, StageError):
            found.failures[item.passage.id] = outcome
            continue
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
    if not work.readable and (unread := len(_ids(work.drafting, State.NEW))):
        found.rejected[f"language:{work.language}"] = unread
    return found


def _finish(work: _Work, outcomes: Sequence[UnitReading | StageError], reader: Reader) -> Reading:
    found = _units(work, outcomes, reader)
    failed = _ids(work.drafting, State.FAILED) | set(found.failures)
    readings = [outcome for outcome in outcomes if isinstance(outcome, UnitReading)]
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
        read_passages=len(work.inputs),
        read_sentences=sum(len(item.sentences) for item in work.inputs),
        unread_language=not work.readable,
        repairs=work.drafting.repairs,
        tokens=sum(reading.tokens for reading in readings),
        cost=sum(reading.cost for reading in readings),
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
