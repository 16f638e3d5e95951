"""The planner that asks a language model."""

from __future__ import annotations

from resin_es.model import Plan, ReaderIdentity
from resin_es.ports import LanguageModel
from resin_es.prompts import prompt


class ModelPlanner:
    """Implements ``ports.Planner`` with a language model."""

    def __init__(self, model: LanguageModel, *, name: str) -> None:
        self._model, self._name = model, name
        self.identity = ReaderIdentity(model=name, prompt_version=prompt("plan").version)

    def plan(self, question: str, max_hops: int) -> Plan:
        """Raises ModelUnavailable, BudgetSpent, ModelError."""
        raise NotImplementedError
