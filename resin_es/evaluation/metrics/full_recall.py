"""Full recall: how often nothing that an answer needs is missing."""

from __future__ import annotations

from collections.abc import Sequence


def full_recall(found: Sequence[Sequence[bool]]) -> float:
    """Share of questions with every gold sentence found, in [0, 1].

    ``found`` as in ``gold_recall``. Questions without gold do not count.
    """
    asked = [flags for flags in found if flags]
    return sum(all(flags) for flags in asked) / len(asked) if asked else 0.0
