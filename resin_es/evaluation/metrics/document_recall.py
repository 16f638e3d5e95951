"""Document recall: how many of the documents that an answer needs were handed on."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.evaluation.metrics.gold_recall import gold_recall


def document_recall(documents_found: Sequence[Sequence[bool]]) -> float | None:
    """Mean over questions of the share of gold documents with any text in evidence, in [0, 1].

    ``documents_found[q][j]`` says so of gold document j of question q. Questions without gold do
    not count; None where no question has any. The share of questions with all of them is
    ``full_recall`` of the same.
    """
    return gold_recall(documents_found)
