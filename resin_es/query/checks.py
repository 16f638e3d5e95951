"""What is refused before anything is searched or any model is called."""

from __future__ import annotations

from resin_es.errors import (
    BudgetSpent,
    FilterError,
    InputError,
    ModelError,
    ModelUnavailable,
    PlanError,
)
from resin_es.index.filters import Filters, check_metadata
from resin_es.model import Plan, Principal
from resin_es.ports import Planner, UnitStore
from resin_es.query.planner import one_hop
from resin_es.query.words import words


def check_question(question: str) -> str:
    """The question without outer white space. Raises InputError if it holds no word."""
    text = question.strip() if isinstance(question, str) else ""
    if not text:
        raise InputError("the question is empty.")
    if not words(text):
        raise InputError(
            f"the question {text[:40]!r} holds no word, only signs.",
            hint="Ask with at least one word or number, in any language.",
        )
    return text


def check_filters(store: UnitStore, principal: Principal, filters: Filters) -> None:
    """Raises FilterError for a source or metadata key that nothing readable has: it would
    match nothing, silently. What exists but may not be read looks the same as what is not."""
    if filters.sources:
        there = {
            item.source for item in store.coverage(principal, filters.sources) if item.documents
        }
        for source in filters.sources:
            if source not in there:
                raise FilterError(
                    f"no document that you may read is in source {source!r}.",
                    hint="`resin-es status` lists sources.",
                )
    if filters.metadata:
        check_metadata(filters, store.metadata_keys(principal, filters.sources))


def check_plan(plan: Plan, max_hops: int) -> Plan:
    """The plan, without what somebody once paid for it. Raises PlanError if a ready-made plan
    has more hops than allowed."""
    if len(plan.hops) > max_hops:
        raise PlanError(
            f"the plan has {len(plan.hops)} hops, but at most {max_hops} are allowed.",
            hint="RESIN_MAX_HOPS raises the limit.",
        )
    return plan.model_copy(update={"use": None}) if plan.use else plan


def planned(planner: Planner, question: str, max_hops: int) -> Plan:
    """The planner's plan; the bare question as one hop, with the reason, where it failed or
    overstepped ``max_hops`` [3.5].

    Raises ModelUnavailable, BudgetSpent: no plan would help, the answer could not be written.
    """
    try:
        plan = planner.plan(question, max_hops)
    except (ModelUnavailable, BudgetSpent):
        raise
    except ModelError as error:
        return one_hop(question, reason=f"{type(error).__name__}: {error.message}")
    if len(plan.hops) > max_hops:
        bare = one_hop(question, reason=f"the planner made {len(plan.hops)} hops of {max_hops}")
        return bare.model_copy(update={"use": plan.use})
    return plan
