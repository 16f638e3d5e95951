"""The mean of what is there."""

from __future__ import annotations

from collections.abc import Iterable


def mean(values: Iterable[float | None]) -> float:
    """Arithmetic mean without the missing values (None); 0 where nothing is left."""
    return known_mean(values) or 0.0


def known_mean(values: Iterable[float | None]) -> float | None:
    """The same; None where nothing is left, for what would be no figure but a missing one."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
