"""The hop solver that asks a language model: for the trace alone, never for the composer."""

from __future__ import annotations

from resin_es.llm.solve import LocalAnswer, SolverInput
from resin_es.model import ReaderIdentity
from resin_es.ports import LanguageModel
from resin_es.prompts import prompt


class HopSolver:
    """Local answers of single hops."""

    def __init__(self, model: LanguageModel, *, name: str) -> None:
        self._model, self._name = model, name
        self.identity = ReaderIdentity(model=name, prompt_version=prompt("solve").version)

    def solve(self, item: SolverInput) -> LocalAnswer:
        """Raises ModelUnavailable, BudgetSpent, ModelError."""
        raise NotImplementedError
