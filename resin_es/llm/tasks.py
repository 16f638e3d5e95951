"""The two offline stages as tasks: what a call asks, how an input is parted and joined again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resin_es.extract.passages import CONTEXT_SENTENCES
from resin_es.llm.faults import NO_PASSAGES, WRONG_SHAPE
from resin_es.llm.passages import passages_call, passages_from
from resin_es.llm.units import units_call, units_from
from resin_es.model import PassageDraft, Sentence, StageError
from resin_es.ports import (
    ModelCall,
    PassageInput,
    PassageReading,
    ReadingWindow,
    UnitReading,
    UnreadSpan,
)


class PassagesTask:
    """Windows to passages."""

    def __init__(self, model: str) -> None:
        self._model = model

    def call_of(self, item: ReadingWindow) -> ModelCall:
        return passages_call(item, self._model)

    def read(self, data: Any, item: ReadingWindow) -> tuple[PassageReading, str]:
        drafts, problems = passages_from(data, item)
        reading = PassageReading(drafts=drafts, faults=problems)
        if drafts or not item.sentences:
            return reading, ""
        return reading, WRONG_SHAPE if WRONG_SHAPE in problems else NO_PASSAGES

    def halves(self, item: ReadingWindow) -> tuple[ReadingWindow, ReadingWindow] | None:
        """Each half gets the other's next sentences as its context."""
        if len(item.sentences) < 2:
            return None
        middle = len(item.sentences) // 2
        left, right = item.sentences[:middle], item.sentences[middle:]
        return (
            item.model_copy(update={"sentences": left, "after": right[:CONTEXT_SENTENCES]}),
            item.model_copy(update={"sentences": right, "before": left[-CONTEXT_SENTENCES:]}),
        )

    def joined(self, item: ReadingWindow, parts: Sequence[PassageReading]) -> PassageReading:
        left, right = parts
        offset = len(item.sentences) // 2
        last = offset - 1
        # A draft that runs over the end of its half is cut there, as the repair would do.
        drafts = [_within(draft, last) for draft in left.drafts]
        drafts += [_moved(draft, offset) for draft in right.drafts]
        unread = [*left.unread, *(_moved(span, offset) for span in right.unread)]
        return PassageReading(drafts=tuple(drafts), unread=tuple(unread))

    def failed(self, item: ReadingWindow, error: StageError) -> PassageReading:
        last = len(item.sentences) - 1
        return PassageReading(unread=(UnreadSpan(first=0, last=last, error=error),))

    def place(self, item: ReadingWindow) -> str:
        return _place(item.sentences)


class UnitsTask:
    """Passages to units."""

    def __init__(self, model: str) -> None:
        self._model = model

    def call_of(self, item: PassageInput) -> ModelCall:
        return units_call(item, self._model)

    def read(self, data: Any, item: PassageInput) -> tuple[UnitReading, str]:
        reading = units_from(data, item)
        return reading, WRONG_SHAPE if reading.failure else ""

    def halves(self, item: PassageInput) -> tuple[PassageInput, PassageInput] | None:
        """The parts keep the passage, and so its id: only the sentences sent are fewer."""
        if len(item.sentences) < 2:
            return None
        middle = len(item.sentences) // 2
        return (
            item.model_copy(update={"sentences": item.sentences[:middle]}),
            item.model_copy(update={"sentences": item.sentences[middle:]}),
        )

    def joined(self, item: PassageInput, parts: Sequence[UnitReading]) -> UnitReading:
        return UnitReading(
            drafts=tuple(draft for part in parts for draft in part.drafts),
            rejects=tuple(reject for part in parts for reject in part.rejects),
            failure=next((part.failure for part in parts if part.failure), None),
        )

    def failed(self, item: PassageInput, error: StageError) -> UnitReading:
        return UnitReading(failure=error)

    def place(self, item: PassageInput) -> str:
        return f"passage {item.passage.id[:12]}, {_place(item.sentences)}"


def _place(sentences: Sequence[Sentence]) -> str:
    if not sentences:
        return "no sentences"
    return f"characters {sentences[0].start}-{sentences[-1].end}"


def _within(draft: PassageDraft, last: int) -> PassageDraft:
    return draft if draft.last <= last else draft.model_copy(update={"last": last})


def _moved(one: Any, offset: int) -> Any:
    return one.model_copy(update={"first": one.first + offset, "last": one.last + offset})
