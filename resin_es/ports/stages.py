"""What reads, plans, composes and embeds. With or without a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from pydantic import Field

from resin_es.model import (
    Answer,
    EvidenceBuffer,
    Passage,
    PassageDraft,
    Plan,
    ReaderIdentity,
    Sentence,
    StageError,
    UnitDraft,
    UnitReject,
)
from resin_es.model.base import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """Shape (n, dims), float32, every row of length 1."""


class ModelIdentity(Frozen):
    """Which embedding model a vector came from. ``name`` is the same for runtimes whose
    vectors may stand in one index (their parity is tested); ``runtime`` tells them apart."""

    name: str
    dims: int
    runtime: str = ""


class Embedder(Protocol):
    """Text to vectors. Some models treat a question otherwise than a passage (a prefix of its
    own); for the others the two methods give the same."""

    @property
    def identity(self) -> ModelIdentity: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is searched: shape (len(texts), dims), float32, L2-normalised; row i
        belongs to texts[i].

        Raises ModelUnavailable, ModelError.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is asked, as ``embed`` gives them.

        Raises ModelUnavailable, ModelError.
        """
        ...


class ReadingWindow(Frozen):
    """What a passage constructor is given: sentences of one document, in order, with
    neighbours as context that must not be returned."""

    title: str
    sentences: tuple[Sentence, ...]
    before: tuple[Sentence, ...] = ()
    after: tuple[Sentence, ...] = ()
    language: str = "en"


class PassageInput(Frozen):
    """What a unit extractor is given: one passage with its sentences, nothing else of the
    document but its title (ARTICLE_METADATA / ARTICLE_CHUNK in A.7)."""

    title: str
    passage: Passage
    sentences: tuple[Sentence, ...]
    language: str = "en"


class UnreadSpan(Frozen):
    """Sentences ``first`` to ``last`` of a window (indices, both included) that could not be
    cut into passages, and why."""

    first: int = Field(ge=0)
    last: int = Field(ge=0)
    error: StageError


class PassageReading(Frozen):
    """What a passage constructor returns. Indices count the window's sentences.

    ``unread`` are parts of the window that failed; the drafts hold for the rest. ``faults``
    counts what went wrong on the way, by short name, whether it was put right or not.
    ``tokens`` and ``cost`` (US dollars) are what it spent, failures included.
    """

    drafts: tuple[PassageDraft, ...] = ()
    unread: tuple[UnreadSpan, ...] = ()
    faults: Mapping[str, int] = Field(default_factory=dict)
    tokens: int = 0
    cost: float = 0.0


class UnitReading(Frozen):
    """What a unit extractor returns for one passage.

    ``failure`` says that the passage, or a part of it, could not be read: the drafts are those
    of the rest. ``faults``, ``tokens`` and ``cost`` are as in :class:`PassageReading`.
    """

    drafts: tuple[UnitDraft, ...] = ()
    rejects: tuple[UnitReject, ...] = ()
    failure: StageError | None = None
    faults: Mapping[str, int] = Field(default_factory=dict)
    tokens: int = 0
    cost: float = 0.0


class Reader(Protocol):
    """Documents to passages to unit drafts. Never sees a question, answer or gold data."""

    @property
    def identity(self) -> ReaderIdentity: ...

    @property
    def lanes(self) -> int:
        """How many calls of ``passages`` it wants at a time, from as many threads; 1 for a
        reader that is not thread-safe or has nothing to wait for."""
        ...

    def languages(self) -> frozenset[str] | None:
        """Languages it reads (ISO 639-1), None for all. Others get no units, and are counted."""
        ...

    def passages(self, window: ReadingWindow) -> PassageReading:
        """Drafts that cover ``window.sentences``; the caller repairs gaps and overlaps.

        Raises ReadingError or ModelError where the whole window failed and nothing was spent;
        ModelUnavailable and BudgetSpent end the run.
        """
        ...

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        """One reading per passage, in order.

        A reader that is paid by the call names a failure in the passage's own reading. Raises
        ReadingError or ModelError for all of ``passages`` together: the caller then asks again
        for halves of them. ModelUnavailable and BudgetSpent end the run.
        """
        ...


class Planner(Protocol):
    """Question to plan, upfront."""

    @property
    def identity(self) -> ReaderIdentity: ...

    def plan(self, question: str, max_hops: int) -> Plan:
        """Raises ModelError; the engine then falls back to the question as one hop."""
        ...


class Composer(Protocol):
    """Question and source passages to an answer. Sees nothing else."""

    @property
    def identity(self) -> ReaderIdentity: ...

    def compose(self, question: str, evidence: EvidenceBuffer) -> Answer:
        """Raises ModelError."""
        ...
