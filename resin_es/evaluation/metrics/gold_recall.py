"""Gold-sentence recall: how much of the evidence that an answer needs was handed on."""

from __future__ import annotations

from collections.abc import Sequence


def gold_recall(found: Sequence[Sequence[bool]]) -> float:
    """Mean over questions of the share of gold sentences found, in [0, 1].

    ``found[q][i]`` says whether gold sentence i of question q is in the evidence. Questions
    without gold do not count; without any question the result is 0.
    """
    shares = [sum(flags) / len(flags) for flags in found if flags]
    return sum(shares) / len(shares) if shares else 0.0
