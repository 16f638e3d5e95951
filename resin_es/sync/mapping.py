"""A record of a team's index → a document, or the reason why it makes none. Pure.

Records come as JSON: fields by dotted path, any value possibly a list, objects possibly inside
lists. What cannot be taken is Unreadable with its reason, never half a document; what says
nothing about who may read it belongs to nobody but an admin.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from resin_es.model import EVERYONE, Document
from resin_es.model.source import WHOLE_ID, SourceSpec
from resin_es.ports.sync import Unreadable
from resin_es.sync.moments import moment

MAX_ID_CHARACTERS = 2048
"""Longest document id: an id is a keyword, and Lucene's terms end at 32,766 bytes."""
MAX_GROUP_CHARACTERS = 256

_SHOWN = 60
"""Characters of a value that a reason quotes."""


class _No(Exception):
    """Why a record makes no document."""


def values(record: Any, path: str) -> Iterator[Any]:
    """What stands at a dotted path, in order: lists are gone into, objects inside lists too;
    null is nothing. A key may hold dots itself (``{"a.b": 1}`` is ``{"a": {"b": 1}}`` to
    Elasticsearch)."""
    parts = tuple(path.split("."))
    waiting: list[tuple[Any, int]] = [(record, 0)]
    while waiting:
        value, at = waiting.pop()
        if isinstance(value, list | tuple):
            waiting.extend((one, at) for one in reversed(value))
        elif at == len(parts):
            if value is not None:
                yield value
        elif isinstance(value, Mapping):
            ends = range(len(parts), at, -1)
            keys = ((".".join(parts[at:end]), end) for end in ends)
            waiting.extend((value[key], end) for key, end in keys if key in value)


def document_from(
    spec: SourceSpec,
    hit: Mapping[str, Any],
    *,
    max_bytes: int,
    read_at: Mapping[str, str] | None = None,
) -> Document | Unreadable:
    """Read one hit (``_index``, ``_id``, ``_source``).

    ``read_at`` says where a field's value stands in ``_source`` if not under its own name: a
    multi-field under its parent, an alias under its target. ``max_bytes`` bounds title and text
    together, in UTF-8, and the metadata likewise.
    """
    places = read_at or {}
    try:
        name = _external_id(spec, hit, places)
    except _No as reason:
        return Unreadable(external_id=_encoded(str(hit["_id"])), reason=str(reason))
    try:
        return _document(spec, hit, name, places, max_bytes)
    except _No as reason:
        return Unreadable(external_id=name, reason=str(reason), access=access_of(spec, hit, places))


def access_of(
    spec: SourceSpec, hit: Mapping[str, Any], read_at: Mapping[str, str] | None = None
) -> tuple[str, ...] | None:
    """The groups that a hit names, None where it has no ``_source`` to tell."""
    if spec.access == "field" and hit.get("_source") is None:
        return None
    return _groups(spec, hit, read_at or {})


def external_id(
    spec: SourceSpec, hit: Mapping[str, Any], read_at: Mapping[str, str] | None = None
) -> str | None:
    """The id of a hit under which its document is known, None if it has none."""
    try:
        return _external_id(spec, hit, read_at or {})
    except _No:
        return None


def _document(
    spec: SourceSpec,
    hit: Mapping[str, Any],
    name: str,
    places: Mapping[str, str],
    max_bytes: int,
) -> Document:
    record = hit.get("_source")
    if record is None:
        raise _No("its index keeps no _source, so there is nothing to read")

    def at(field: str) -> list[Any]:
        return list(values(record, places.get(field, field))) if field else []

    title = " ".join(_strings(at(spec.title_field))).strip()
    text = "\n\n".join(filter(None, (_joined(at(field)) for field in spec.text_fields)))
    url = next(iter(_strings(at(spec.url_field))), None)
    metadata = {field: _value(found) for field in spec.metadata_fields if (found := at(field))}
    _check_size("title and text", title + text, max_bytes)
    _check_size("metadata and url", json.dumps([metadata, url], ensure_ascii=False), max_bytes)
    return Document(
        source=spec.name,
        external_id=name,
        title=title,
        text=text,
        metadata=metadata,
        access=_groups(spec, hit, places),
        url=url,
        updated_at=_newest(spec.updated_field, at(spec.updated_field)),
    )


def _external_id(spec: SourceSpec, hit: Mapping[str, Any], places: Mapping[str, str]) -> str:
    field = spec.id_field
    if field == WHOLE_ID:
        return str(hit["_id"])
    found = _strings(list(values(hit.get("_source"), places.get(field, field))))
    if len(found) != 1:
        raise _No(f"{field} holds {len(found) or 'no'} values, and an id is one")
    name = found[0]
    if not name.strip():
        raise _No(f"{field} is empty")
    if len(name) > MAX_ID_CHARACTERS:
        raise _No(f"{field} has {len(name):,} characters, over the limit of {MAX_ID_CHARACTERS:,}")
    if _encoded(name) != name:
        raise _No(f"{field} holds half a surrogate pair")
    return name


def _strings(found: Sequence[Any]) -> list[str]:
    """Scalars as text; objects have none."""
    return [
        one if isinstance(one, str) else json.dumps(one)
        for one in found
        if not isinstance(one, Mapping)
    ]


def _joined(found: Sequence[Any]) -> str:
    """Several values of one field: a line each."""
    return "\n".join(one for one in _strings(found) if one.strip())


def _value(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else found


def _groups(spec: SourceSpec, hit: Mapping[str, Any], places: Mapping[str, str]) -> tuple[str, ...]:
    """Groups that may read; what is no group name lets nobody in."""
    if spec.access == "public":
        return (EVERYONE,)
    if spec.access == "private":
        return ()
    field = places.get(spec.access_field, spec.access_field)
    names = (
        str(one).strip()
        for one in values(hit["_source"], field)
        if isinstance(one, str | int) and not isinstance(one, bool)
    )
    kept = {
        name
        for name in names
        if name and len(name) <= MAX_GROUP_CHARACTERS and _encoded(name) == name
    }
    return tuple(sorted(kept))


def _newest(field: str, found: Sequence[Any]) -> datetime | None:
    moments = []
    for one in found:
        if one == "":
            continue
        when = moment(one)
        if when is None:
            raise _No(f"{field} is {_shown(one)}, not a date that can be read")
        moments.append(when)
    return max(moments, default=None)


def _check_size(what: str, text: str, max_bytes: int) -> None:
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise _No(f"{what}: half a surrogate pair, which no text can hold") from None
    if size > max_bytes:
        raise _No(f"{what} have {size:,} bytes, over RESIN_MAX_DOCUMENT_BYTES ({max_bytes:,})")


def _encoded(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _shown(value: Any) -> str:
    told = json.dumps(value)
    return told if len(told) <= _SHOWN else f"{told[:_SHOWN]}…"
