"""Gold-sentence recall: how much of the evidence that an answer needs was handed on."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.evaluation.metrics.mean import known_mean


def gold_recall(found: Sequence[Sequence[bool]]) -> float | None:
    """Mean over questions of the share of gold sentences found, in [0, 1].

    ``found[q][i]`` says whether gold sentence i of question q is in the evidence. Questions
    without gold do not count; where no question has any, there is nothing to find: None.
    """
    shares = [sum(flags) / len(flags) for flags in found if flags]
    return known_mean(shares)
