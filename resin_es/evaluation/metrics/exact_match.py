"""Exact match: whether an answer is a reference, word for word."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.evaluation.metrics.normalize import answer_tokens


def exact_match(answer: str, references: Sequence[str]) -> float:
    """1 where the answer's words are those of one of ``references`` in the same order, after the
    normalisation of ``answer_tokens``, else 0. An empty answer matches nothing."""
    given = answer_tokens(answer)
    return float(bool(given) and any(given == answer_tokens(text) for text in references))
