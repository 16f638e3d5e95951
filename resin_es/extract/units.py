"""Asking the unit extractor about many passages at once, and confining what fails."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.errors import BudgetSpent, ModelError, ModelUnavailable, ReadingError, ResinError
from resin_es.model import StageError
from resin_es.ports import PassageInput, Reader, UnitReading

UNITS_STAGE = "units"
ENDS_THE_RUN = (ModelUnavailable, BudgetSpent)
"""What every other passage would meet too, so that nothing is gained by going on."""
_POOL = 512
"""Passages in one call of ``Reader.units``; bounds what is in memory at a time."""
_GIVE_UP = 5
"""So many single passages failing in a row, and the reader itself is taken to be down."""


def extract_units(inputs: Sequence[PassageInput], reader: Reader) -> list[UnitReading]:
    """One reading per passage, in order; the ``failure`` of one says what it failed with.

    A pool that fails as a whole is halved and asked again, down to the passage at fault. Once
    five in a row have failed alone, the rest is not asked any more and gets the last error.
    Raises ModelUnavailable and BudgetSpent: no document could be read any further.
    """
    state = _Extraction(reader)
    outcomes: list[UnitReading] = []
    for start in range(0, len(inputs), _POOL):
        outcomes.extend(state.ask(inputs[start : start + _POOL]))
    return outcomes


def as_failure(error: ResinError, stage: str) -> StageError:
    """The error as the registry keeps it; a ReadingError names its stage itself."""
    named = error.stage if isinstance(error, ReadingError) else stage
    return StageError(stage=named, type=type(error).__name__, message=str(error))


class _Extraction:
    """One run over many passages: remembers how many failed in a row."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._failed_in_a_row = 0
        self._last: StageError | None = None

    def ask(self, inputs: Sequence[PassageInput]) -> list[UnitReading]:
        if not inputs:
            return []
        if self._last is not None and self._failed_in_a_row >= _GIVE_UP:
            return [UnitReading(failure=self._last)] * len(inputs)
        try:
            readings = list(self._reader.units(inputs))
            if len(readings) != len(inputs):
                raise ReadingError(
                    f"the reader returned {len(readings)} readings for {len(inputs)} passages",
                    stage=UNITS_STAGE,
                )
        except ENDS_THE_RUN:
            raise
        except (ReadingError, ModelError) as error:
            return self._confine(inputs, error)
        self._failed_in_a_row = 0
        return readings

    def _confine(self, inputs: Sequence[PassageInput], error: ResinError) -> list[UnitReading]:
        if len(inputs) == 1:
            self._failed_in_a_row += 1
            self._last = as_failure(error, UNITS_STAGE)
            return [UnitReading(failure=self._last)]
        middle = len(inputs) // 2
        return [*self.ask(inputs[:middle]), *self.ask(inputs[middle:])]
