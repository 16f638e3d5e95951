"""The answer: text with citations, what is missing, and how much of the corpus was read."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from resin_es.model.base import Frozen
from resin_es.model.use import ModelUse

UNCITED = "[uncited]"
"""What stands behind a sentence of an answer that carries no valid citation."""


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
    """One sentence of the answer and the citations it stands on (numbers), which its text ends
    with; :data:`UNCITED` where there are none. ``rejected`` holds what the composer cited that
    names nothing it was given, as it wrote it: taken out of the text."""

    text: str
    citations: tuple[int, ...] = ()
    rejected: tuple[str, ...] = ()


class Coverage(Frozen):
    """Documents the asker may read, by state, for one source."""

    source: str
    documents: int = 0
    by_status: Mapping[str, int] = Field(default_factory=dict)


class Answer(Frozen):
    """``found`` is false where the evidence does not hold an answer; ``missing`` then (or
    where a part is missing) names the needs without support. ``notes`` say what was wrong with
    what the composer wrote; ``use`` is what it took of a language model, None without one."""

    question: str
    text: str
    found: bool
    statements: tuple[Statement, ...] = ()
    citations: tuple[Citation, ...] = ()
    missing: tuple[str, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    composer: str = ""
    notes: tuple[str, ...] = ()
    use: ModelUse | None = None
    trace_id: str = ""
