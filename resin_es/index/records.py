"""Values ↔ the records that Elasticsearch holds. Pure; the field names are those of mappings/.

Families: ``units`` and ``sentences`` are the addresses that a hop searches (same vector field,
same filter fields), ``passages`` the evidence, ``documents`` the registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resin_es.model import Passage, RegistryEntry, Sentence, Unit
from resin_es.ports import AddressRecord

SENTENCE_KIND = "sentence"
UNITS, SENTENCES, PASSAGES, DOCUMENTS = "units", "sentences", "passages", "documents"
VECTOR, STATEMENT = "vector", "statement"
"""What an address is found by."""

MAX_FILTERABLE = 1024
"""Longest metadata value, in characters, that addresses carry; the registry keeps all of it.
Longer values could not be filtered on anyway (``ignore_above``)."""


MAX_DEPTH = 20
"""``depth_limit`` of a ``flattened`` field; one level more rejects the whole record."""


def filterable_metadata(metadata: Mapping[str, Any], depth: int = 1) -> dict[str, Any]:
    """The part of ``metadata`` that addresses carry for filtering: short scalars and lists of
    such under short keys; nested objects flattened to dotted keys by Elasticsearch itself. A key
    with a NUL, and anything nested too deep, would reject the record: the registry alone has it."""
    kept: dict[str, Any] = {}
    for key, value in metadata.items():
        if len(key) > MAX_FILTERABLE or "\0" in key:
            continue
        if isinstance(value, Mapping):
            inner = filterable_metadata(value, depth + 1) if depth < MAX_DEPTH else {}
            if inner:
                kept[key] = inner
        elif isinstance(value, list | tuple):
            short = [item for item in value if _short(item)]
            if short:
                kept[key] = short
        elif _short(value):
            kept[key] = value
    return kept


def _short(value: Any) -> bool:
    return isinstance(value, str | int | float | bool) and len(str(value)) <= MAX_FILTERABLE


def metadata_keys(metadata: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Dotted keys of ``metadata`` that a filter may name, sorted."""
    keys: set[str] = set()
    for key, value in filterable_metadata(metadata).items():
        if isinstance(value, Mapping):
            keys.update(metadata_keys(value, f"{prefix}{key}."))
        else:
            keys.add(f"{prefix}{key}")
    return sorted(keys)


def rights_fields(entry: RegistryEntry) -> dict[str, Any]:
    """The fields that a change of rights rewrites on every record of a document."""
    return {
        "access": list(entry.access),
        "metadata": filterable_metadata(entry.metadata),
        "updated_at": entry.updated_at.isoformat() if entry.updated_at else None,
    }


def carried_fields(entry: RegistryEntry) -> dict[str, Any]:
    """What every record of a document carries of it and a new version may change on records
    that it keeps: the rights and the title. No vector is made of the title, so a new one costs
    no embedding."""
    return {"title": entry.title, **rights_fields(entry)}


def _owner_fields(entry: RegistryEntry) -> dict[str, Any]:
    return {
        "document_key": entry.key,
        "document_id": entry.external_id,
        "source": entry.source,
        **carried_fields(entry),
    }


def unit_record(unit: Unit, entry: RegistryEntry, vector: list[float]) -> AddressRecord:
    """A unit as the ``units`` family stores it."""
    claim = unit.claim.model_dump(mode="json")
    body = {
        **_owner_fields(entry),
        **{name: value for name, value in claim.items() if value not in ("", [], None)},
        "statement": unit.statement,
        "quote": unit.quote,
        "passage_id": unit.passage_id,
        "sentence_ids": list(unit.sentence_ids),
        "document_version": unit.document_version,
        "reader": unit.reader.model_dump(),
        "vector": vector,
    }
    return AddressRecord(id=unit.id, kind=unit.kind, body=body)


def sentence_record(
    sentence: Sentence, passage: Passage, entry: RegistryEntry, vector: list[float]
) -> AddressRecord:
    """A sentence's own address: its text, its vector, its passage, no claim."""
    body = {
        **_owner_fields(entry),
        "kind": SENTENCE_KIND,
        "statement": sentence.text,
        "passage_id": passage.id,
        "sentence_ids": [sentence.id],
        "vector": vector,
    }
    return AddressRecord(id=sentence.id, kind=SENTENCE_KIND, body=body)


def passage_record(passage: Passage, entry: RegistryEntry) -> AddressRecord:
    """A passage; offsets are relative to its text, the registry knows where it starts."""
    body = {
        **_owner_fields(entry),
        "text": passage.text,
        "sentence_ids": list(passage.sentence_ids),
        "offsets": [f"{start}-{end}" for start, end in passage.offsets],
        "main_entity": passage.main_entity,
        "entity_type": passage.entity_type,
        "focus": passage.focus,
        "role": passage.role.value,
        "semantic": passage.semantic,
    }
    return AddressRecord(id=passage.id, kind="passage", body=body)


def passage_from(record_id: str, body: Mapping[str, Any]) -> Passage:
    """The inverse of :func:`passage_record`."""
    pairs = (span.split("-") for span in body["offsets"])
    return Passage(
        id=record_id,
        document_key=body["document_key"],
        text=body["text"],
        sentence_ids=tuple(body["sentence_ids"]),
        offsets=tuple((int(start), int(end)) for start, end in pairs),
        main_entity=body.get("main_entity", ""),
        entity_type=body.get("entity_type", ""),
        focus=body.get("focus", ""),
        role=body.get("role", "other"),
        semantic=body.get("semantic", True),
    )


def entry_record(entry: RegistryEntry) -> dict[str, Any]:
    """A registry entry as the ``documents`` family stores it. Its passages and full metadata
    are kept as JSON-only objects; ``metadata`` holds what can be filtered on."""
    body = entry.model_dump(mode="json", exclude={"metadata", "passages", "external_id", "counts"})
    body["document_id"] = entry.external_id
    body["metadata"] = filterable_metadata(entry.metadata)
    body["metadata_keys"] = metadata_keys(entry.metadata)
    body["metadata_full"] = dict(entry.metadata)
    body["passages"] = [ref.model_dump(mode="json") for ref in entry.passages]
    body["counts"] = entry.counts.model_dump(mode="json")
    return body


def entry_from(body: Mapping[str, Any]) -> RegistryEntry:
    """The inverse of :func:`entry_record`."""
    fields = {k: v for k, v in body.items() if k not in {"metadata_keys", "metadata_full"}}
    fields["external_id"] = fields.pop("document_id")
    fields["metadata"] = body.get("metadata_full") or {}
    # older entries name the embedder and the statement version, too, which are the index's affair
    fields["pipeline"] = str(body.get("pipeline") or "").partition("|")[0]
    return RegistryEntry.model_validate(fields)
