"""The filter of every read, as Elasticsearch filter clauses. Pure.

The one place where access is added: :func:`address_filter` (units and sentences) and
:func:`document_filter` (the registry) both start from the principal, and deny by default. Only
exact clauses stand here (``term``, ``terms``, ``range``), never a lexical one, so the same list
serves as the filter of ``knn`` and of ``bool``.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pydantic import Field

from resin_es.errors import FilterError
from resin_es.index.records import MAX_FILTERABLE, SENTENCE_KIND
from resin_es.model import UNIT_KINDS, DocumentStatus, Modality, Polarity, Principal
from resin_es.model.base import Frozen

Clause = dict[str, Any]

ENTITY_FIELDS = ("subject", "aliases", "object")
"""Where ``--entity`` looks: keywords with the lower-case normalizer."""

KINDS: tuple[str, ...] = (*UNIT_KINDS, SENTENCE_KIND)
METADATA = "metadata."

_OF_UNITS = ("entity_type", "predicate", "modality", "polarity", "scope", "min_confidence")
_SHARED = ("source", "document_id", "kind", "entity")
FIELDS: tuple[str, ...] = tuple(sorted({*_SHARED, *_OF_UNITS}))
"""What ``--filter FIELD=VALUE`` may name beside ``metadata.KEY``."""

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": KINDS,
    "modality": tuple(item.value for item in Modality),
    "polarity": tuple(item.value for item in Polarity),
}


class Filters(Frozen):
    """What a reader narrows a search to. Values of one field are alternatives; different
    fields must all hold. ``metadata`` maps a key (dotted where nested) to its values."""

    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    entity_types: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    modalities: tuple[str, ...] = ()
    polarities: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    min_confidence: float | None = None
    metadata: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)

    @property
    def units_only(self) -> bool:
        """Whether a claim's field is asked for, which sentences do not have."""
        return bool(
            self.entities
            or self.entity_types
            or self.predicates
            or self.modalities
            or self.polarities
            or self.scopes
            or self.min_confidence is not None
        )


_PLURAL = {
    "source": "sources",
    "kind": "kinds",
    "entity": "entities",
    "document_id": "document_ids",
    "entity_type": "entity_types",
    "predicate": "predicates",
    "modality": "modalities",
    "polarity": "polarities",
    "scope": "scopes",
}


def make_filters(
    *,
    sources: Iterable[str] = (),
    kinds: Iterable[str] = (),
    entities: Iterable[str] = (),
    fields: Iterable[str] = (),
) -> Filters:
    """Filters from the command line's options; ``fields`` holds ``FIELD=VALUE`` items.

    Raises FilterError: an unknown kind or field, a value that the field cannot have, an item
    without ``=``. Metadata keys are checked later, by :func:`check_metadata`.
    """
    found: dict[str, list[str]] = {
        "source": list(sources),
        "kind": list(kinds),
        "entity": list(entities),
    }
    for item in fields:
        name, equals, value = item.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name or not value:
            raise FilterError(f"filter {item!r} is not FIELD=VALUE.", hint=_field_hint())
        found.setdefault(name, []).append(value)
    return _checked(found)


def _checked(found: Mapping[str, list[str]]) -> Filters:
    values: dict[str, Any] = {}
    metadata: dict[str, tuple[str, ...]] = {}
    for name, items in found.items():
        _check_lengths(name, items)
        if name.startswith(METADATA) and len(name) > len(METADATA):
            metadata[name[len(METADATA) :]] = _distinct(items)
        elif name == "min_confidence":
            values[name] = max(_confidence(item) for item in items)
        elif name in _PLURAL:
            _check_choices(name, items)
            values[_PLURAL[name]] = _distinct(items)
        else:
            raise FilterError(
                f"unknown filter field {name!r}.", hint=_near(name, FIELDS) or _field_hint()
            )
    return Filters(**values, metadata=metadata)


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _check_lengths(name: str, items: Iterable[str]) -> None:
    limit = MAX_FILTERABLE if name.startswith(METADATA) else 8191
    if any(len(item) > limit for item in items):
        raise FilterError(
            f"the value of filter {name!r} is longer than {limit} characters: nothing matches it.",
            hint="Filter on a shorter value.",
        )


def _check_choices(name: str, items: Iterable[str]) -> None:
    choices = _CHOICES.get(name)
    for item in items if choices else ():
        if choices and item not in choices:
            near = _near(item, choices)
            raise FilterError(
                f"unknown {name} {item!r}.", hint=f"{near} One of: {', '.join(choices)}.".strip()
            )


def _confidence(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise FilterError(f"min_confidence {value!r} is not a number from 0 to 1.")
    return number


def _near(name: str, known: Collection[str], limit: int = 3) -> str:
    """A hint that names what stands nearest to ``name``, empty where nothing does."""
    folded = {item.casefold(): item for item in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=limit, cutoff=0.6)
    return f"Did you mean {' or '.join(folded[item] for item in close)}?" if close else ""


def _field_hint() -> str:
    return f"Fields: {', '.join(FIELDS)}, metadata.KEY."


def check_metadata(filters: Filters, known: Collection[str]) -> None:
    """Refuse a metadata key that no readable document of the asked sources has: it would
    match nothing, silently. ``known`` comes from ``UnitStore.metadata_keys``.

    Raises FilterError naming near keys.
    """
    for key in filters.metadata:
        if key not in known:
            few = ", ".join(sorted(known)[:8])
            other = f"Known keys begin with: {few}." if few else "No document here has metadata."
            raise FilterError(
                f"no document here has the metadata key {key!r}.", hint=_near(key, known) or other
            )


def access_clauses(principal: Principal) -> list[Clause]:
    """What keeps ``principal`` to what it may read. Empty for an admin only: without groups,
    public documents are all that is left, and a record without access is nobody's."""
    if principal.admin:
        return []
    return [{"terms": {"access": principal.terms}}]


def _terms(field: str, values: tuple[str, ...]) -> list[Clause]:
    return [{"terms": {field: list(values)}}] if values else []


def _common(principal: Principal, filters: Filters) -> list[Clause]:
    clauses = access_clauses(principal)
    clauses += _terms("source", filters.sources)
    clauses += _terms("document_id", filters.document_ids)
    for key, values in filters.metadata.items():
        clauses += _terms(f"{METADATA}{key}", values)
    return clauses


def entity_names(entities: Iterable[str]) -> list[str]:
    """Every entity with and without its article: readers differ in whether they keep it."""
    names: dict[str, None] = {}
    for entity in entities:
        first, _, rest = entity.partition(" ")
        bare = rest.strip() if rest.strip() and first.casefold() in _ARTICLES else entity
        names.update(dict.fromkeys((entity, bare, *(f"{word} {bare}" for word in _ARTICLES))))
    return list(names)


_ARTICLES = ("the", "a", "an")


def address_filter(principal: Principal, filters: Filters | None = None) -> list[Clause]:
    """Filter clauses for units and sentences, access first. Frozen inputs, a new list each call.

    A field that only claims have (entity, modality, confidence …) narrows the search to units,
    since a sentence has none of them.
    """
    filters = filters or Filters()
    clauses = _common(principal, filters)
    clauses += _terms("kind", filters.kinds)
    if filters.entities:
        named = entity_names(filters.entities)
        should = [{"terms": {field: named}} for field in ENTITY_FIELDS]
        clauses.append({"bool": {"should": should, "minimum_should_match": 1}})
    clauses += _terms("entity_type", filters.entity_types)
    clauses += _terms("predicate", filters.predicates)
    clauses += _terms("modality", filters.modalities)
    clauses += _terms("polarity", filters.polarities)
    clauses += _terms("scope", filters.scopes)
    if filters.min_confidence is not None:
        clauses.append({"range": {"confidence": {"gte": filters.min_confidence}}})
    return clauses


def document_filter(principal: Principal, filters: Filters | None = None) -> list[Clause]:
    """Filter clauses for the registry: the same access, source, id and metadata; claims'
    fields do not apply there; tombstones are left out."""
    clauses = _common(principal, filters or Filters())
    clauses.append({"bool": {"must_not": [{"term": {"status": DocumentStatus.DELETED.value}}]}})
    return clauses
