"""Judging answers by a model: what a judge is. The RAGAS adapter implements it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from resin_es.evaluation.values import Judgement, Spent


class Judge(Protocol):
    """RAGAS answer relevancy and context recall [A.4]. A failed call is a judgement without a
    score, never an exception and never a zero: it is excluded and counted."""

    @property
    def name(self) -> str:
        """Model and package version, for the record."""
        ...

    def answer_relevancy(self, question: str, answer: str) -> Judgement: ...

    def context_recall(
        self, question: str, contexts: Sequence[str], reference: str
    ) -> Judgement: ...

    def spent(self) -> Spent:
        """All calls so far."""
        ...
