"""A Reader over a language model."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.model import ReaderIdentity
from resin_es.ports import (
    LanguageModel,
    OutputCache,
    PassageInput,
    PassageReading,
    ReadingWindow,
    UnitReading,
)


class ModelReader:
    """Implements :class:`resin_es.ports.Reader` over ``model``, whose calls name ``name``."""

    def __init__(
        self, model: LanguageModel, cache: OutputCache, *, name: str, lanes: int = 1
    ) -> None:
        self._model, self._cache, self._name = model, cache, name
        self.lanes = lanes

    @property
    def identity(self) -> ReaderIdentity:
        raise NotImplementedError

    def languages(self) -> None:
        """All languages."""
        return None

    def passages(self, window: ReadingWindow) -> PassageReading:
        raise NotImplementedError

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        raise NotImplementedError
