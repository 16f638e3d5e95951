"""The plan of a question: at most four one-hop needs, all planned upfront [3.5]."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from resin_es.model.base import Frozen
from resin_es.model.unit import UnitKind
from resin_es.model.use import ModelUse


class ReasoningMode(str, Enum):
    """How the hops' evidence fits together."""

    SINGLE = "single"
    PARALLEL = "parallel"
    COMPARISON = "comparison"
    CHAIN = "chain"


class ReasoningType(str, Enum):
    """What one hop looks for."""

    ATTRIBUTE = "attribute"
    MEMBERSHIP = "membership"
    TYPE_PROPERTY = "type-property"
    RELATION = "relation"
    CAUSE = "cause"
    EFFECT = "effect"
    CONDITION = "condition"
    COMPARISON = "comparison"
    OTHER = "other"


class Hop(Frozen):
    """One need. ``kinds`` only boost, they never filter. ``depends_on`` holds ids of earlier
    hops; a bridged hop may complete ``bridge_terms`` with entities that those found."""

    id: str = Field(min_length=1)
    subquestion: str = Field(min_length=1)
    need: str = ""
    target_terms: tuple[str, ...] = ()
    bridge_terms: tuple[str, ...] = ()
    reasoning_type: ReasoningType = ReasoningType.OTHER
    kinds: tuple[UnitKind, ...] = ()
    depends_on: tuple[str, ...] = ()

    @property
    def retrieval_text(self) -> str:
        """What is embedded and matched: subquestion + target + bridge terms [A.6], a term
        that the text already holds left out."""
        parts = [self.subquestion]
        for term in (*self.target_terms, *self.bridge_terms):
            if term.casefold() not in " ".join(parts).casefold():
                parts.append(term)
        return " ".join(parts)


class Plan(Frozen):
    """An ordered plan. ``fallback`` says why the plan is the bare question, if it is; ``notes``
    what of a planner's output was left out or mended; ``use`` what it took of a language model,
    None without one. The last two are told by planners, not asked of those who hand plans in."""

    question: str
    mode: ReasoningMode = ReasoningMode.SINGLE
    answer_type: str = ""
    entities: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    hops: tuple[Hop, ...] = Field(min_length=1)
    fallback: str = ""
    notes: Annotated[tuple[str, ...], SkipJsonSchema()] = ()
    use: Annotated[ModelUse | None, SkipJsonSchema()] = None

    @model_validator(mode="after")
    def _order(self) -> Plan:
        seen: set[str] = set()
        for hop in self.hops:
            if hop.id in seen:
                raise ValueError(f"two hops have the id {hop.id!r}")
            unknown = set(hop.depends_on) - seen
            if unknown:
                raise ValueError(
                    f"hop {hop.id!r} depends on {sorted(unknown)}, which do not come before it"
                )
            seen.add(hop.id)
        return self
