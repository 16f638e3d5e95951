"""The mean of what is there."""

from __future__ import annotations

from collections.abc import Iterable


def mean(values: Iterable[float | None]) -> float:
    """Arithmetic mean without the missing values (None); 0 where nothing is left."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else 0.0
