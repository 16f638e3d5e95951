"""Token F1: how much an answer's words and a reference's overlap [4.3, A.5]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from resin_es.evaluation.metrics.normalize import answer_tokens

_CLOSED = (["yes"], ["no"], ["noanswer"])


def token_f1(answer: str, references: Sequence[str]) -> float:
    """F1 of the answer's words against the reference that it matches best, in [0, 1].

    The paper calls its F1 token-level answer overlap and gives no more; this is the measure that
    such tables go back to: words as in ``answer_tokens``, each counted as often as it occurs,
    precision and recall over them, their harmonic mean, the best over ``references`` (the answer
    and its aliases). As in HotpotQA's own script, where one side is a bare yes or no the other
    must be the same, since a shared word then says nothing.

    0 for an empty answer, and where no reference has a word: whoever averages leaves such
    questions out.
    """
    given = answer_tokens(answer)
    return max((_f1(given, answer_tokens(text)) for text in references), default=0.0)


def _f1(given: list[str], wanted: list[str]) -> float:
    if given != wanted and (given in _CLOSED or wanted in _CLOSED):
        return 0.0
    shared = sum((Counter(given) & Counter(wanted)).values())
    return 2 * shared / (len(given) + len(wanted)) if shared else 0.0
