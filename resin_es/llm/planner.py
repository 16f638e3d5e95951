"""The planner that asks a language model."""

from __future__ import annotations

from resin_es.errors import BudgetSpent, ModelError, ModelUnavailable
from resin_es.llm.plan import plan_call, plan_from
from resin_es.llm.wire import paid_for, structured
from resin_es.model import Plan, ReaderIdentity
from resin_es.ports import LanguageModel
from resin_es.prompts import prompt
from resin_es.query.planner import one_hop
from resin_es.query.use import paid, use_of


class ModelPlanner:
    """Implements ``ports.Planner`` with a language model: one call a question, which sees the
    question and the limit of hops and nothing else."""

    def __init__(self, model: LanguageModel, *, name: str) -> None:
        self._model, self._name = model, name
        self.identity = ReaderIdentity(model=name, prompt_version=prompt("plan").version)

    def plan(self, question: str, max_hops: int) -> Plan:
        """The plan. What was paid for and cannot be used (declined, empty, cut off, no JSON, no
        plan) gives the question as one hop, with the reason in ``fallback`` and what it took
        in ``use`` [3.5].

        Raises ModelUnavailable, BudgetSpent, and ModelError where nothing was paid for.
        """
        try:
            return self._planned(question, max_hops)
        except (ModelUnavailable, BudgetSpent):
            raise
        except ModelError as error:
            use = paid(error, self.identity)
            if use is None:
                raise
            bare = one_hop(question, reason=f"{type(error).__name__}: {error.message}")
            return bare.model_copy(update={"use": use})

    def _planned(self, question: str, max_hops: int) -> Plan:
        reply = self._model.call(plan_call(question, max_hops, self._name))
        with paid_for(reply):
            plan = plan_from(structured(reply, "the plan"), question, max_hops)
        notes = plan.notes
        if reply.route == "repaired":
            notes = (*notes, "The plan's JSON had to be repaired.")
        return plan.model_copy(update={"notes": notes, "use": use_of(reply, self.identity)})
