"""Typed reasoning units: addresses into the source [3.3, tables 1 and 2].

A :data:`Claim` says something in one of six shapes; the shape depends on the kind, so a rule
without conditions or a causal edge without two states cannot be built. A :class:`Unit` binds
a claim to its verbatim quote and its sentences.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from resin_es.model.base import Frozen, content_id

NonEmpty = Annotated[str, Field(min_length=1)]


class Modality(str, Enum):
    """How firmly the source states it."""

    ASSERTED = "asserted"
    POSSIBLE = "possible"
    REQUIRED = "required"
    RECOMMENDED = "recommended"
    PLANNED = "planned"
    HYPOTHETICAL = "hypothetical"
    REPORTED = "reported"


class Polarity(str, Enum):
    """Whether the source affirms or denies it."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


class ClaimBase(Frozen):
    """What all kinds share. Optional fields are filled only where the source supports them.

    ``surface_predicate`` is the source's wording, ``predicate`` the canonical form that the
    normalizer assigns (empty in a draft). ``scope`` limits where or when it holds;
    ``confidence`` is in (0, 1].
    """

    subject: NonEmpty
    entity_type: str = ""
    predicate: str = ""
    surface_predicate: str = ""
    object: str = ""
    aliases: tuple[str, ...] = ()
    conditions: tuple[NonEmpty, ...] = ()
    modality: Modality = Modality.ASSERTED
    polarity: Polarity = Polarity.POSITIVE
    scope: str = ""
    confidence: float = Field(default=1.0, gt=0.0, le=1.0)


class EntityFact(ClaimBase):
    """entity | property | value."""

    kind: Literal["entity-fact"] = "entity-fact"
    surface_predicate: NonEmpty
    object: NonEmpty


class TypeProperty(ClaimBase):
    """type | property | value: may be inherited by members of the type."""

    kind: Literal["type-property"] = "type-property"
    surface_predicate: NonEmpty
    object: NonEmpty


class EntityType(ClaimBase):
    """entity | is-a | type: explicit membership."""

    kind: Literal["entity-type"] = "entity-type"
    surface_predicate: NonEmpty = "is a"
    object: NonEmpty


class Relation(ClaimBase):
    """entity or type | relation | entity or concept; neither causal nor conditional."""

    kind: Literal["relation"] = "relation"
    surface_predicate: NonEmpty
    object: NonEmpty


class CausalEdge(ClaimBase):
    """source state → target state. ``subject`` is the entity of the source state, ``object``
    (optional) that of the target state."""

    kind: Literal["causal-edge"] = "causal-edge"
    source_state: NonEmpty
    target_state: NonEmpty


class Rule(ClaimBase):
    """conditions → conclusion."""

    kind: Literal["rule"] = "rule"
    conditions: tuple[NonEmpty, ...] = Field(min_length=1)
    conclusion: NonEmpty


Claim = Annotated[
    EntityFact | TypeProperty | EntityType | Relation | CausalEdge | Rule,
    Field(discriminator="kind"),
]
"""One claim; which shape it has is decided by ``kind``."""

UnitKind = Literal["entity-fact", "type-property", "entity-type", "relation", "causal-edge", "rule"]
UNIT_KINDS: tuple[UnitKind, ...] = get_args(UnitKind)


class ReaderIdentity(Frozen):
    """Which reader wrote something: model and prompt version (rules version for syntax)."""

    model: str
    prompt_version: str


class UnitDraft(Frozen):
    """What a reader returns: a claim, the quote it stands on, and the sentences it cites."""

    claim: Claim
    quote: NonEmpty
    sentence_ids: tuple[str, ...] = Field(min_length=1)


class Unit(Frozen):
    """A grounded, addressable unit. ``document_version`` is the version it was read under: a
    unit kept through a change of its document is not rewritten. ``statement`` is its
    searchable sentence, x_u of equation 1."""

    id: str
    claim: Claim
    statement: NonEmpty
    quote: NonEmpty
    sentence_ids: tuple[str, ...] = Field(min_length=1)
    passage_id: str
    document_key: str
    document_version: str
    reader: ReaderIdentity

    @property
    def kind(self) -> UnitKind:
        return self.claim.kind


def unit_id(document_key: str, passage_id: str, sentence_ids: tuple[str, ...], claim: Any) -> str:
    """Hash of document key, passage, sentence ids and the claim's content (not confidence)."""
    content = claim.model_dump_json(exclude={"confidence"})
    return content_id("unit", document_key, passage_id, *sentence_ids, content)


class UnitReject(Frozen):
    """A draft that was not stored, and why (a short, countable reason)."""

    reason: str
    draft: dict[str, Any]
