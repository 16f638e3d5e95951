"""Records of an old generation → records of a new one. Pure; nothing is read anew.

Ids stay: a unit's names its claim, a sentence's its text, a passage's its text and sentences,
none of them the statement or the vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from resin_es.errors import StoreError
from resin_es.extract.statement import statement
from resin_es.index.records import PASSAGES, SENTENCES, STATEMENT, passage_from
from resin_es.model import CausalEdge, Claim, RegistryEntry, Rule

_CLAIMS: TypeAdapter[Any] = TypeAdapter(Claim)
_FIELDS = frozenset(CausalEdge.model_fields) | frozenset(Rule.model_fields)
"""Every field that some kind of claim has; the other kinds have no more than these share."""


def restated(record_id: str, unit: Mapping[str, Any], passage: Mapping[str, Any] | None) -> str:
    """The statement of a stored unit, written anew from its claim. ``passage`` is the stored
    passage that it points at. Raises StoreError for a unit that this version cannot read."""
    if passage is None:
        # its document was changed meanwhile: it goes with the next purge, and cannot be cited
        return str(unit[STATEMENT])
    fields = {name: value for name, value in unit.items() if name in _FIELDS}
    try:
        claim = _CLAIMS.validate_python(fields)
    except ValidationError as error:
        raise StoreError(
            f"unit {record_id} cannot be read: {error.errors()[0]['msg']}.",
            hint="Index its document again, then rebuild.",
        ) from error
    return statement(claim, passage_from(str(unit["passage_id"]), passage))


def listed(entry: RegistryEntry | None, family: str, record_id: str, passage_id: str) -> bool:
    """Whether a document's entry lists a record now: a passage by its id, a sentence by its
    passage's list, a unit by its passage."""
    if entry is None:
        return False
    if family == SENTENCES:
        return bool(passage_of(entry, record_id))
    wanted = record_id if family == PASSAGES else passage_id
    return any(ref.id == wanted for ref in entry.passages)


def passage_of(entry: RegistryEntry, sentence_id: str) -> str:
    """The current passage that a sentence belongs to; empty where none lists it."""
    return next((ref.id for ref in entry.passages if sentence_id in ref.sentence_ids), "")
