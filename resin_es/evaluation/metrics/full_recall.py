"""Full recall: how often nothing that an answer needs is missing."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.evaluation.metrics.mean import known_mean


def full_recall(found: Sequence[Sequence[bool]]) -> float | None:
    """Share of questions with every gold sentence found, in [0, 1].

    ``found`` as in ``gold_recall``. Questions without gold do not count; None where no question has
    any.
    """
    return known_mean(float(all(flags)) for flags in found if flags)
