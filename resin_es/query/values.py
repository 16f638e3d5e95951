"""What a run hands out, and the events on its way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from resin_es.model import (
    Answer,
    Candidate,
    DocumentHit,
    EvidenceBuffer,
    EvidenceSentence,
    HopResult,
    Plan,
    Trace,
)
from resin_es.model.base import Frozen


class Cancel(Protocol):
    """A cancel token, such as ``threading.Event``; looked at between steps."""

    def is_set(self) -> bool: ...


@runtime_checkable
class StreamingComposer(Protocol):
    """A composer that can show its answer while it writes."""

    def stream(self, question: str, evidence: EvidenceBuffer) -> Iterator[str | Answer]:
        """Text as it is written, unchecked; then the answer, checked, last. Raises as
        ``Composer.compose``."""
        ...


class Retrieval(Frozen):
    """Everything up to composing. ``hops`` hold the candidates of the passages each hop kept;
    ``documents`` is what the plan's one document search found, of those that may be read."""

    question: str
    plan: Plan
    hops: tuple[HopResult, ...]
    documents: tuple[DocumentHit, ...] = ()
    buffer: EvidenceBuffer
    trace: Trace


class Asked(Frozen):
    """An answer with the evidence it stands on. ``notes`` say what could not be done beside
    it, such as keeping the trace."""

    answer: Answer
    retrieval: Retrieval
    trace: Trace
    notes: tuple[str, ...] = ()


class AddressHit(Frozen):
    """A hit of a plain address search, with the source sentences it points at."""

    candidate: Candidate
    title: str = ""
    url: str | None = None
    sentences: tuple[EvidenceSentence, ...] = ()


class SearchResult(Frozen):
    """Hits of a plain address search, best first."""

    query: str
    hits: tuple[AddressHit, ...] = ()
    took_ms: int = 0


class Planned(Frozen):
    """Event: the plan stands."""

    plan: Plan


class HopsFound(Frozen):
    """Event: hops came back from one search."""

    hops: tuple[HopResult, ...]


class BufferFilled(Frozen):
    """Event: the evidence is chosen; composing comes next, if it was asked for."""

    retrieval: Retrieval


class AnswerText(Frozen):
    """Event: a piece of the answer as it is being written, before anything of it is checked."""

    text: str


class Answered(Frozen):
    """Event: done."""

    result: Asked


class Cancelled(Frozen):
    """Event: the caller gave up; nothing follows. ``before`` names the step not taken, or not
    taken to its end."""

    before: str


Event = Planned | HopsFound | BufferFilled | AnswerText | Answered | Cancelled
