"""A reader without a model: every sentence gets its address, nothing gets units.

For the first pass over a large source: documents answer within minutes, and their units follow.
"""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.extract.passages import fixed_size
from resin_es.model import ReaderIdentity
from resin_es.ports import PassageInput, PassageReading, ReadingWindow, UnitReading


class AddressReader:
    """Implements :class:`resin_es.ports.Reader`. Thread-safe."""

    identity = ReaderIdentity(model="sentences-only", prompt_version="1")
    lanes = 1

    def languages(self) -> frozenset[str] | None:
        """All of them."""
        return None

    def passages(self, window: ReadingWindow) -> PassageReading:
        """Passages of fixed size, without entity or role."""
        return PassageReading(drafts=tuple(fixed_size(window.sentences)))

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        return [UnitReading() for _ in passages]
