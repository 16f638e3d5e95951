"""A Reader that says what it is told, and counts what it is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from resin_es.model import (
    EntityFact,
    PassageDraft,
    ReaderIdentity,
    Sentence,
    UnitDraft,
)
from resin_es.ports import PassageInput, PassageReading, ReadingWindow, UnitReading

PassageScript = Callable[[ReadingWindow], Sequence[PassageDraft] | PassageReading]
UnitScript = Callable[[PassageInput], UnitReading]


def one_passage_per(size: int) -> PassageScript:
    """A script that cuts every window after ``size`` sentences."""

    def script(window: ReadingWindow) -> list[PassageDraft]:
        n = len(window.sentences)
        return [
            PassageDraft(first=first, last=min(first + size, n) - 1) for first in range(0, n, size)
        ]

    return script


def one_unit_per_sentence(item: PassageInput) -> UnitReading:
    """A script that states each sentence as a fact about its first word."""
    return UnitReading(drafts=tuple(map(_fact, item.sentences)), tokens=len(item.passage.text))


def _fact(sentence: Sentence) -> UnitDraft:
    words = sentence.text.split()
    claim = EntityFact(
        subject=words[0], surface_predicate="says", object=" ".join(words[1:]) or words[0]
    )
    return UnitDraft(claim=claim, quote=sentence.text, sentence_ids=(sentence.id,))


class ScriptedReader:
    """Implements the Reader port.

    ``passages`` and ``units`` are scripts: functions, or for ``units`` also a mapping from a
    piece of text to drafts, given for every passage that holds it. A script may raise.
    ``windows`` and ``asked`` record every call's input; ``unit_calls`` counts calls.
    """

    def __init__(
        self,
        *,
        passages: PassageScript | None = None,
        units: UnitScript | Mapping[str, Sequence[UnitDraft]] | None = None,
        languages: frozenset[str] | None = frozenset({"en"}),
        version: str = "1",
        lanes: int = 1,
    ) -> None:
        self._passages = passages or one_passage_per(3)
        self._units = units if units is not None else one_unit_per_sentence
        self._languages = languages
        self.identity = ReaderIdentity(model="scripted", prompt_version=version)
        self.lanes = lanes
        self.windows: list[ReadingWindow] = []
        self.asked: list[PassageInput] = []
        self.unit_calls = 0

    def languages(self) -> frozenset[str] | None:
        return self._languages

    def passages(self, window: ReadingWindow) -> PassageReading:
        self.windows.append(window)
        said = self._passages(window)
        return said if isinstance(said, PassageReading) else PassageReading(drafts=tuple(said))

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        self.unit_calls += 1
        self.asked.extend(passages)
        return [self._reading(item) for item in passages]

    def _reading(self, item: PassageInput) -> UnitReading:
        if callable(self._units):
            return self._units(item)
        drafts = [
            draft
            for piece, held in self._units.items()
            if piece in item.passage.text
            for draft in held
        ]
        return UnitReading(drafts=tuple(drafts))
