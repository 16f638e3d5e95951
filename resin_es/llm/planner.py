"""The planner that asks a language model."""

from __future__ import annotations

from resin_es.errors import ModelError
from resin_es.llm.plan import plan_call, plan_from
from resin_es.llm.wire import structured, use_of
from resin_es.model import Plan, ReaderIdentity
from resin_es.ports import LanguageModel
from resin_es.prompts import prompt
from resin_es.query.planner import one_hop


class ModelPlanner:
    """Implements ``ports.Planner`` with a language model: one call a question, which sees the
    question and the limit of hops and nothing else."""

    def __init__(self, model: LanguageModel, *, name: str) -> None:
        self._model, self._name = model, name
        self.identity = ReaderIdentity(model=name, prompt_version=prompt("plan").version)

    def plan(self, question: str, max_hops: int) -> Plan:
        """The plan. What came back and cannot be used (declined, empty, cut off, no JSON, no
        plan) gives the question as one hop, with the reason in ``fallback`` and what it took
        in ``use`` [3.5].

        Raises ModelUnavailable, BudgetSpent, ModelError where nothing came back.
        """
        call = plan_call(question, max_hops, self._name)
        reply = self._model.call(call)
        try:
            plan = plan_from(structured(reply, "the plan"), question, max_hops)
        except ModelError as error:
            plan = one_hop(question, reason=f"{type(error).__name__}: {error.message}")
        if reply.route == "repaired":
            notes = (*plan.notes, "The plan's JSON had to be repaired.")
            plan = plan.model_copy(update={"notes": notes})
        return plan.model_copy(update={"use": use_of(reply, call)})
