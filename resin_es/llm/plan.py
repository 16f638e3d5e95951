"""The planner's request, and the plan read from what came back. Pure [3.5, A.5, A.7]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from resin_es.errors import ModelError
from resin_es.llm.data import delimited
from resin_es.llm.wire import Wire, clipped, schema_of, word, words
from resin_es.model import UNIT_KINDS, Hop, Plan, ReasoningMode, ReasoningType, UnitKind
from resin_es.ports import ModelCall
from resin_es.prompts import prompt

MAX_TOKENS = 8192
"""Room for a plan, and for what a model may think first: that counts as output too."""

Member = TypeVar("Member", bound=Enum)


class WireHop(Wire):
    """A hop as the planner writes it."""

    id: str
    subquestion: str
    need: str
    target_terms: list[str]
    bridge_terms: list[str]
    reasoning_type: ReasoningType
    kinds: list[UnitKind]
    depends_on: list[str]


class WirePlan(Wire):
    """A plan as the planner writes it. It has no field that could filter anything."""

    mode: ReasoningMode
    answer_type: str
    entities: list[str]
    properties: list[str]
    constraints: list[str]
    hops: list[WireHop]


@cache
def _schema() -> dict[str, Any]:
    return schema_of(WirePlan)


def plan_call(question: str, max_hops: int, model: str) -> ModelCall:
    """The request: ``MAX_HOPS`` and the question, delimited; nothing else."""
    told = prompt("plan")
    return ModelCall(
        stage="plan",
        model=model,
        prompt_version=told.version,
        system=told.text,
        user=f"MAX_HOPS: {max_hops}\nQUESTION: {delimited(question)}",
        output=_schema(),
        max_tokens=MAX_TOKENS,
    )


def plan_from(data: Any, question: str, max_hops: int) -> Plan:
    """The plan in ``data``, its hops named h1, h2 …. An unknown kind, reasoning type or mode
    gives way to a default and is named in ``notes``.

    Raises ModelError, with the reason, where no plan can be made of it: no hops or more than
    ``max_hops``, a hop that asks nothing, two of one id, a dependency on anything but an
    earlier hop.
    """
    if not isinstance(data, Mapping):
        raise ModelError("the plan is not a JSON object.")
    rows = data.get("hops")
    if not isinstance(rows, Sequence) or isinstance(rows, str | bytes) or not rows:
        raise ModelError("the plan has no hops.")
    if len(rows) > max_hops:
        raise ModelError(f"the plan has {len(rows)} hops, {max_hops} are allowed.")
    odd: Counter[str] = Counter()
    hops = _hops(rows, odd)
    return Plan(
        question=question,
        mode=_mode(data.get("mode"), hops, odd),
        answer_type=word(data.get("answer_type")),
        entities=words(data.get("entities")),
        properties=words(data.get("properties")),
        constraints=words(data.get("constraints")),
        hops=hops,
        notes=tuple(f"{what} ({n} times)" if n > 1 else what for what, n in odd.items()),
    )


def _hops(rows: Sequence[Any], odd: Counter[str]) -> tuple[Hop, ...]:
    hops: list[Hop] = []
    known: dict[str, str] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping) or not word(row.get("subquestion")):
            raise ModelError(f"hop {number} of the plan asks nothing.")
        named = word(row.get("id")) or f"h{number}"
        after = words(row.get("depends_on"))
        for other in after:
            if other not in known:
                raise ModelError(
                    f"hop {clipped(named)!r} of the plan depends on {clipped(other)!r}, which is "
                    "no hop before it."
                )
        if named in known:
            raise ModelError(f"two hops of the plan have the id {clipped(named)!r}.")
        known[named] = f"h{number}"
        hops.append(_hop(row, f"h{number}", tuple(known[other] for other in after), odd))
    return tuple(hops)


def _hop(row: Mapping[str, Any], name: str, after: tuple[str, ...], odd: Counter[str]) -> Hop:
    return Hop(
        id=name,
        subquestion=word(row["subquestion"]),
        need=word(row.get("need")),
        target_terms=words(row.get("target_terms")),
        bridge_terms=words(row.get("bridge_terms")),
        reasoning_type=_member(
            row.get("reasoning_type"), ReasoningType, ReasoningType.OTHER, "reasoning type", odd
        ),
        kinds=_kinds(row.get("kinds"), odd),
        depends_on=after,
    )


def _kinds(value: Any, odd: Counter[str]) -> tuple[UnitKind, ...]:
    wanted = dict.fromkeys(_key(text) for text in words(value))
    for text in wanted:
        if text not in UNIT_KINDS:
            odd[f"The planner wants kind {clipped(text)!r}, which does not exist: left out."] += 1
    return tuple(kind for kind in UNIT_KINDS if kind in wanted)


def _mode(value: Any, hops: Sequence[Hop], odd: Counter[str]) -> ReasoningMode:
    """The mode as told; as the hops show it where it is unknown or contradicts their number."""
    if len(hops) == 1:
        return ReasoningMode.SINGLE
    chained = any(hop.depends_on for hop in hops)
    shown = ReasoningMode.CHAIN if chained else ReasoningMode.PARALLEL
    told = _member(value, ReasoningMode, shown, "mode", odd)
    return shown if told is ReasoningMode.SINGLE else told


def _member(
    value: Any, members: type[Member], default: Member, what: str, odd: Counter[str]
) -> Member:
    text = word(value)
    try:
        return members(_key(text))
    except ValueError:
        if text:
            told = (
                f"The planner's {what} {clipped(text)!r} does not exist: {default.value} instead."
            )
            odd[told] += 1
        return default


def _key(text: str) -> str:
    return text.strip().lower().replace("_", "-").replace(" ", "-")
