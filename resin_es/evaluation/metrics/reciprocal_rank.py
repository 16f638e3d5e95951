"""Reciprocal rank: how far down the first gold stands."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.evaluation.metrics.mean import known_mean


def reciprocal_rank(ranks: Sequence[int]) -> float | None:
    """1 / rank of the first gold of one question, 0 where none is found, in [0, 1].

    ``ranks[i]`` is the 1-based rank of gold i, 0 where it is nowhere. None without gold.
    """
    if not ranks:
        return None
    return max((1 / rank for rank in ranks if rank > 0), default=0.0)


def mean_reciprocal_rank(ranks: Sequence[Sequence[int]]) -> float | None:
    """MRR over questions; those without gold do not count, and None where no question has any."""
    return known_mean(reciprocal_rank(row) for row in ranks)
