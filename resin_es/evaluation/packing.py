"""Filling a token budget with ranked spans. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from resin_es.evaluation.datasets import Span
from resin_es.model.base import CHARS_PER_TOKEN


def pack(ranked: Iterable[Span], budget: int) -> list[Span]:
    """The spans in rank order up to the first that no longer fits; nothing is skipped, so a
    long sentence high up ends the evidence rather than making room for weaker ones.

    ``budget`` is in tokens of four characters.
    """
    left = budget * CHARS_PER_TOKEN
    kept: list[Span] = []
    for span in ranked:
        left -= span.end - span.start
        if left < 0:
            break
        kept.append(span)
    return kept
