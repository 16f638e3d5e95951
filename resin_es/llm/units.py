"""The unit extractor: a passage to a call, its output to unit drafts."""

from __future__ import annotations

from typing import Any

from resin_es.ports import ModelCall, PassageInput, UnitReading


def units_call(item: PassageInput, model: str) -> ModelCall:
    raise NotImplementedError


def units_from(data: Any, item: PassageInput) -> UnitReading:
    """Drafts and rejects; ``failure`` is set where ``data`` is no list of units at all."""
    raise NotImplementedError
