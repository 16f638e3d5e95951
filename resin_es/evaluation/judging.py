"""Judging answers by a model: what a judge is. The RAGAS adapter implements it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from resin_es.evaluation.values import Judgement, Spent
from resin_es.model.base import Frozen


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


class JudgeCall(Frozen):
    """One judgement with everything that led to it, for the run's folder [A.5].

    ``metric`` is ``answer_relevancy`` or ``context_recall``; what a metric does not look at is
    empty. ``outputs`` are the judge's own words, as JSON: the questions that it made of the
    answer, or its verdict on each statement of the reference. No key stands anywhere in it.
    """

    metric: str
    judge: str
    question: str
    answer: str = ""
    contexts: tuple[str, ...] = ()
    reference: str = ""
    outputs: tuple[str, ...] = ()
    judgement: Judgement
    spent: Spent = Spent()
