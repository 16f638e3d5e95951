"""What an evaluation compares: anything that answers a question with evidence."""

from __future__ import annotations

from typing import Protocol

from resin_es.evaluation.values import Evidence


class EvalSystem(Protocol):
    """One row of an evaluation. Every system gets the same questions, corpus, budget,
    composer and judge."""

    @property
    def name(self) -> str:
        """What ``--systems`` calls it: lower case, no spaces (``dense-sentences``)."""
        ...

    @property
    def label(self) -> str:
        """What a table calls it."""
        ...

    @property
    def group(self) -> str:
        """``baseline``, ``known``, ``resin``, ``ablation`` or ``external``."""
        ...

    @property
    def about(self) -> str:
        """One sentence: how it retrieves."""
        ...

    def evidence(self, question: str, budget: int) -> Evidence:
        """Evidence of at most ``budget`` tokens of four characters. Asked for one question at
        several budgets in a row, a system searches once. Never sees gold. Raises ResinError.
        """
        ...
