"""A Reader over a language model: the passage constructor and the unit extractor [A.5]."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.extract.lanes import in_lanes
from resin_es.llm.asking import Asker
from resin_es.llm.tasks import PassagesTask, UnitsTask
from resin_es.model import ReaderIdentity
from resin_es.ports import (
    LanguageModel,
    OutputCache,
    PassageInput,
    PassageReading,
    ReadingWindow,
    UnitReading,
)
from resin_es.prompts import prompt

_GIVE_UP = 5


class ModelReader:
    """Implements :class:`resin_es.ports.Reader`. Thread-safe.

    ``name`` is the model that the calls name; ``lanes`` is how many calls go out at a time.
    Outputs are kept in ``cache`` as soon as they are validated, each by its own call: what was
    paid for stays, whatever happens next. What a model does wrong stays within the window or
    passage that it was asked about; ``give_up`` calls failing in a row mean that it is down (at
    least 5, and two a lane, unless told otherwise).
    """

    def __init__(
        self,
        model: LanguageModel,
        cache: OutputCache,
        *,
        name: str,
        lanes: int = 1,
        give_up: int | None = None,
    ) -> None:
        self._name = name
        self._lanes = max(1, lanes)
        self._passages = PassagesTask(name)
        self._units = UnitsTask(name)
        self._asker = Asker(model, cache, give_up=give_up or max(_GIVE_UP, 2 * self._lanes))

    @property
    def identity(self) -> ReaderIdentity:
        """The model, and the versions of both prompts."""
        versions = f"{prompt('passages').version}/{prompt('units').version}"
        return ReaderIdentity(model=self._name, prompt_version=versions)

    @property
    def lanes(self) -> int:
        return self._lanes

    def languages(self) -> frozenset[str] | None:
        """All of them."""
        return None

    def passages(self, window: ReadingWindow) -> PassageReading:
        """What the model makes of one window, in one call, more where its output does not fit.

        Raises ModelUnavailable, BudgetSpent, StoreError.
        """
        return self._asker.ask(self._passages, window)

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        """One reading per passage, in order; a call each, as many at a time as there are lanes.

        Raises ModelUnavailable, BudgetSpent, StoreError, once the calls that are under way have
        come back and their outputs are kept.
        """
        known = self._asker.known([self._units.call_of(item) for item in passages])

        def ask(item: PassageInput) -> UnitReading:
            return self._asker.ask(self._units, item, known)

        return in_lanes(ask, passages, self._lanes)
