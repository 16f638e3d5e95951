"""The planner that needs no model, and plans handed in as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from resin_es.errors import PlanError
from resin_es.model import Hop, Plan, ReaderIdentity, ReasoningMode, ReasoningType
from resin_es.query import cues, plan_rules
from resin_es.query.plan_rules import Need
from resin_es.query.sides import sides
from resin_es.query.words import unique

MAX_PLANNED = 2_000
"""Longest question, in characters, that the rules take apart. Anything longer is a text."""


class RulePlanner:
    """Implements ``ports.Planner`` by rules: comparisons, coordinated needs, chains; one hop
    where no shape fits. Same question, same plan."""

    identity = ReaderIdentity(model="rules", prompt_version="1")

    def plan(self, question: str, max_hops: int) -> Plan:
        """At least one hop, at most ``max_hops``, dependencies before their dependants."""
        mode, needs = (ReasoningMode.SINGLE, list[Need]())
        if max_hops > 1 and len(question) <= MAX_PLANNED:
            mode, needs = _needs(question)
        if not needs:
            mode, needs = ReasoningMode.SINGLE, [Need(question.strip() or question)]
        if len(needs) > max_hops:
            needs = _folded(needs, max_hops)
        return Plan(
            question=question,
            mode=mode if len(needs) > 1 else ReasoningMode.SINGLE,
            answer_type=cues.answer_type(question[:MAX_PLANNED]),
            entities=plan_rules.mentions(question[:MAX_PLANNED]),
            properties=plan_rules.properties(question[:MAX_PLANNED]),
            constraints=plan_rules.constraints(question[:MAX_PLANNED]),
            hops=tuple(_hop(index, need, mode) for index, need in enumerate(needs)),
        )


def _needs(question: str) -> tuple[ReasoningMode, list[Need]]:
    compared = sides(question)
    if compared:
        return ReasoningMode.COMPARISON, compared
    parts = plan_rules.clauses(question)
    if parts:
        return ReasoningMode.PARALLEL, parts
    return ReasoningMode.CHAIN, plan_rules.chain(question) or plan_rules.causes(question)


def _folded(needs: Sequence[Need], limit: int) -> list[Need]:
    """The needs beyond ``limit`` joined to the last one allowed: none is lost."""
    kept, rest = list(needs[: limit - 1]), needs[limit - 1 :]
    joined = " ".join(need.text for need in rest)
    context = tuple(unique(term for need in rest for term in need.context))
    after = rest[0].after if rest[0].after is not None and rest[0].after < limit - 1 else None
    return [*kept, rest[0]._replace(text=joined, context=context, after=after)]


def _hop(index: int, need: Need, mode: ReasoningMode) -> Hop:
    kind, kinds = cues.reasoning(need.text)
    if mode is ReasoningMode.COMPARISON and kind is ReasoningType.OTHER:
        kind, kinds = ReasoningType.COMPARISON, cues.FACTUAL
    return Hop(
        id=f"h{index + 1}",
        subquestion=need.text or "?",
        need=need.need or need.text,
        target_terms=need.context,
        bridge_terms=need.bridge,
        reasoning_type=kind,
        kinds=kinds,
        depends_on=() if need.after is None else (f"h{need.after + 1}",),
    )


def one_hop(question: str, reason: str = "") -> Plan:
    """The question itself as the only hop; ``reason`` says why, if a planner failed."""
    kind, kinds = cues.reasoning(question[:MAX_PLANNED])
    hop = Hop(id="h1", subquestion=question, need=question, reasoning_type=kind, kinds=kinds)
    return Plan(question=question, hops=(hop,), fallback=reason)


def plan_schema() -> dict[str, Any]:
    """JSON schema of a plan, as ``resin-es plan --schema`` prints it."""
    return Plan.model_json_schema()


def parse_plan(data: str | bytes | Mapping[str, Any], *, question: str | None = None) -> Plan:
    """A plan from JSON. ``question`` fills in a plan that leaves its question out.

    Raises PlanError, which names the field that does not fit.
    """
    value: Any = data
    if isinstance(data, str | bytes):
        try:
            value = json.loads(data)
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise PlanError(f"the plan is not JSON: {error}.", hint=_SCHEMA_HINT) from error
    if not isinstance(value, Mapping):
        raise PlanError("the plan is not a JSON object.", hint=_SCHEMA_HINT)
    fields = dict(value)
    if question is not None:
        fields.setdefault("question", question)
    try:
        return Plan.model_validate(fields)
    except ValidationError as error:
        raise PlanError(f"the plan does not fit: {_first(error)}.", hint=_SCHEMA_HINT) from error


_SCHEMA_HINT = "`resin-es plan --schema` prints what a plan looks like."


def _first(error: ValidationError) -> str:
    item = error.errors()[0]
    where = ".".join(str(part) for part in item["loc"]) or "plan"
    return f"{where}: {item['msg']}"


class PlanBook:
    """Ready-made plans of a file, found by the question's id or its words."""

    def __init__(self, plans: Mapping[str, Plan], lone: Plan | None = None) -> None:
        self._plans = dict(plans)
        self._lone = lone

    def get(self, question: str, question_id: str | None = None) -> Plan:
        """The plan for a question. Raises PlanError where the file has none."""
        for key in (question_id, question):
            if key is not None and key in self._plans:
                return self._plans[key]
        if self._lone is not None:
            return self._lone
        raise PlanError(f"no plan for question {question_id or question[:80]!r}.")


def parse_plans(text: str, asked: Mapping[str, str] | None = None) -> PlanBook:
    """Plans of ``--plan FILE``: one plan, a list of plans, or one JSON object a line, each a
    plan or ``{"id": …, "plan": {…}}``. ``asked`` maps ids to questions: a plan may leave its
    question out where its id, or there being only one, tells it. Raises PlanError."""
    known = dict(asked or {})
    only = next(iter(known.values())) if len(known) == 1 else None
    items = _items(text)
    plans: dict[str, Plan] = {}
    last: Plan | None = None
    for number, item in enumerate(items, start=1):
        try:
            wrapped = isinstance(item, Mapping) and "plan" in item
            question = only
            if wrapped:
                question = item.get("question") or known.get(str(item.get("id")), only)
            last = parse_plan(item["plan"] if wrapped else item, question=question)
        except PlanError as error:
            where = f"plan {number}: " if len(items) > 1 else ""
            raise PlanError(f"{where}{error.message}", hint=error.hint) from error
        plans[last.question] = last
        if wrapped and "id" in item:
            plans[str(item["id"])] = last
    if last is None:
        raise PlanError("the plan file is empty.", hint=_SCHEMA_HINT)
    return PlanBook(plans, lone=last if len(items) == 1 else None)


def _items(text: str) -> list[Any]:
    stripped = text.strip().lstrip("\ufeff")
    if not stripped:
        return []
    try:
        value = json.loads(stripped)
    except json.JSONDecodeError as error:
        lines = [line for line in stripped.splitlines() if line.strip()]
        try:
            return [json.loads(line) for line in lines]
        except json.JSONDecodeError:
            raise PlanError(f"the plan is not JSON: {error}.", hint=_SCHEMA_HINT) from error
    return value if isinstance(value, list) else [value]
