"""The hop solver that asks a language model: for the trace alone, never for the composer."""

from __future__ import annotations

from resin_es.llm.solve import local_answer_from, solve_call
from resin_es.llm.wire import paid_for, structured
from resin_es.model import ReaderIdentity
from resin_es.ports import LanguageModel
from resin_es.prompts import prompt
from resin_es.query.solving import LocalAnswer, SolverInput
from resin_es.query.use import use_of


class HopSolver:
    """Implements ``query.solving.Solver`` with a language model: one call a hop, which sees that
    hop and its candidates and nothing else."""

    def __init__(self, model: LanguageModel, *, name: str) -> None:
        self._model, self._name = model, name
        self.identity = ReaderIdentity(model=name, prompt_version=prompt("solve").version)

    def solve(self, item: SolverInput) -> LocalAnswer:
        """Raises ModelUnavailable, BudgetSpent; ModelError also where what came back cannot be
        used."""
        reply = self._model.call(solve_call(item, self._name))
        with paid_for(reply):
            answer = local_answer_from(structured(reply, "the local answer"), item)
        return answer.model_copy(update={"use": use_of(reply, self.identity)})
