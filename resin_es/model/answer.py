"""The answer: text with citations, what is missing, and how much of the corpus was read."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from resin_es.model.base import Frozen


class Citation(Frozen):
    """Number ``number`` of an answer: sentences of one passage. ``void`` says why it no longer
    holds (its evidence vanished while the answer was composed), empty if it does."""

    number: int
    passage_id: str
    document_key: str
    document_id: str
    source: str
    title: str = ""
    url: str | None = None
    sentence_ids: tuple[str, ...]
    quote: str
    void: str = ""


class Statement(Frozen):
    """One sentence of the answer and the citations it stands on (numbers)."""

    text: str
    citations: tuple[int, ...] = ()


class Coverage(Frozen):
    """Documents the asker may read, by state, for one source."""

    source: str
    documents: int = 0
    by_status: Mapping[str, int] = Field(default_factory=dict)


class Answer(Frozen):
    """``found`` is false where the evidence does not hold an answer; ``missing`` then (or
    where a part is missing) names the needs without support."""

    question: str
    text: str
    found: bool
    statements: tuple[Statement, ...] = ()
    citations: tuple[Citation, ...] = ()
    missing: tuple[str, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    composer: str = ""
    trace_id: str = ""
