"""Recall at k: how much of the gold the first k items of a ranking hold."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.evaluation.metrics.gold_recall import gold_recall


def recall_at(ranks: Sequence[Sequence[int]], k: int) -> float | None:
    """Mean over questions of the share of gold found within the first ``k`` items, in [0, 1].

    ``ranks[q][i]`` is the 1-based rank of gold i (sentence or document) of question q, 0 where
    it is nowhere. Questions without gold do not count; None where no question has
    any.
    """
    return gold_recall([[0 < rank <= k for rank in row] for row in ranks])
