"""A source → the bodies of the requests that read it, and a mapping → its fields. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from resin_es.model.base import Frozen
from resin_es.model.source import WHOLE_ID, SourceSpec
from resin_es.ports.sync import FieldInfo
from resin_es.sync.spec import MIXED

DATE_FORMAT = "strict_date_optional_time"


class Slice(Frozen):
    """One part of a listing that is read in ``of`` parts."""

    number: int = 0
    of: int = 1


def changed_query(spec: SourceSpec, since: datetime | None) -> dict[str, Any]:
    """All records, or those changed at or after ``since``."""
    if since is None or not spec.updated_field:
        return {"match_all": {}}
    bounds = {"gte": since.isoformat(), "format": DATE_FORMAT}
    return {"range": {spec.updated_field: bounds}}


def ids_query(spec: SourceSpec, external_ids: Sequence[str]) -> dict[str, Any]:
    """The records of these ids."""
    if spec.id_field == WHOLE_ID:
        return {"ids": {"values": list(external_ids)}}
    return {"terms": {spec.id_field: list(external_ids)}}


def lacking_query(*fields: str) -> dict[str, Any]:
    """Records that have a value in none of ``fields``."""
    return {"bool": {"must_not": [{"exists": {"field": field}} for field in fields]}}


def listing_body(
    query: Mapping[str, Any],
    pit: Mapping[str, str],
    *,
    source: Sequence[str],
    size: int,
    part: Slice,
    after: Sequence[Any] | None,
) -> dict[str, Any]:
    """One page by shard order (the cheapest). ``source``: the fields that are fetched, none for
    ids alone. The first page counts what is to come, so that a gap shows."""
    body: dict[str, Any] = {
        "query": dict(query),
        "pit": dict(pit),
        "size": size,
        "sort": [{"_shard_doc": "asc"}],
        "_source": list(source) or False,
        "track_total_hits": after is None,
    }
    if part.of > 1:
        body["slice"] = {"id": part.number, "max": part.of}
    if after is not None:
        body["search_after"] = list(after)
    return body


class Mapped(Frozen):
    """The fields of one or several mappings. ``read_at``: where in ``_source`` the value of a
    field stands whose name is not there: a multi-field at its parent, an alias at its target.
    ``longest``: characters of a keyword over which a value is not indexed (``ignore_above``)."""

    fields: Mapping[str, FieldInfo]
    read_at: Mapping[str, str]
    longest: Mapping[str, int] = Field(default_factory=dict)


def mapped(mappings: Mapping[str, Any]) -> Mapped:
    """Of an answer of the mapping API, by concrete index. A field of different types in different
    indices has them all as its type."""
    types: dict[str, list[str]] = {}
    nested: set[str] = set()
    read_at: dict[str, str] = {}
    longest: dict[str, int] = {}
    for answer in mappings.values():
        found = dict(_walk(answer.get("mappings", {}).get("properties", {}), "", False))
        for path, (definition, inside, parent) in found.items():
            target = definition.get("path") if definition.get("type") == "alias" else None
            actual, inside, _ = found.get(str(target), ({}, inside, None)) if target else (
                definition, inside, None
            )  # fmt: skip
            types.setdefault(path, []).append(_type(actual))
            if "ignore_above" in actual:
                above = int(actual["ignore_above"])
                longest[path] = min(above, longest.get(path, above))
            if inside:
                nested.add(path)
            if parent or target:
                read_at[path] = _home(found, str(parent or target))
    fields = {
        path: FieldInfo(type=MIXED.join(dict.fromkeys(several)), nested=path in nested)
        for path, several in types.items()
    }
    return Mapped(fields=fields, read_at=read_at, longest=longest)


def fetched_fields(spec: SourceSpec, read_at: Mapping[str, str]) -> list[str]:
    """What of each record is fetched: the named fields and nothing else."""
    return list(dict.fromkeys(read_at.get(field, field) for field in spec.fields))


_Found = tuple[Mapping[str, Any], bool, "str | None"]
"""Definition of a field, whether something above it is nested, and of a multi-field its parent."""


def _walk(properties: Mapping[str, Any], above: str, inside: bool) -> Iterator[tuple[str, _Found]]:
    for name, definition in properties.items():
        path = f"{above}{name}"
        here = inside or definition.get("type") == "nested"
        yield path, (definition, here, None)
        yield from _walk(definition.get("properties", {}), f"{path}.", here)
        for inner, multi in definition.get("fields", {}).items():
            yield f"{path}.{inner}", (multi, here, path)


def _type(definition: Mapping[str, Any]) -> str:
    return str(definition.get("type", "object"))


def _home(found: Mapping[str, _Found], path: str) -> str:
    """An alias may lead to a multi-field."""
    parent = found[path][2] if path in found else None
    return parent or path
