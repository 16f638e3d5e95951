"""What reads, plans, composes and embeds. With or without a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from resin_es.model import (
    Answer,
    EvidenceBuffer,
    Passage,
    PassageDraft,
    Plan,
    ReaderIdentity,
    Sentence,
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


class UnitReading(Frozen):
    """What a unit extractor returns. ``tokens`` and ``cost`` are what it spent."""

    drafts: tuple[UnitDraft, ...] = ()
    rejects: tuple[UnitReject, ...] = ()
    tokens: int = 0
    cost: float = 0.0


class Reader(Protocol):
    """Documents to passages to unit drafts. Never sees a question, answer or gold data."""

    @property
    def identity(self) -> ReaderIdentity: ...

    def languages(self) -> frozenset[str] | None:
        """Languages it reads (ISO 639-1), None for all. Others get no units, and are counted."""
        ...

    def passages(self, window: ReadingWindow) -> Sequence[PassageDraft]:
        """Drafts that cover ``window.sentences``; the caller repairs gaps and overlaps.

        Raises ReadingError.
        """
        ...

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        """One reading per passage, in order. Raises ReadingError."""
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
