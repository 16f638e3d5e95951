"""One JSON object → one Document, or the reason why not. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from datetime import datetime, timezone
from enum import Enum
from typing import Any

from pydantic import TypeAdapter, ValidationError

from resin_es.errors import AccessError, DocumentTooLarge, RecordError
from resin_es.model import EVERYONE, Document, MarkedPassage

FIELDS = ("id", "title", "text", "metadata", "access", "url", "updated_at", "passages", "unmarked")
MAX_ID_CHARACTERS = 2048
"""Longest document id: an id is a keyword, and Lucene's terms end at 32,766 bytes."""

_MOMENT = TypeAdapter(datetime)
_MARKS = TypeAdapter(tuple[MarkedPassage, ...])


class Rights(str, Enum):
    """Who may read documents that do not say so themselves. Neither ever widens what a record
    says: a record's own ``access`` stands under PUBLIC, and PRIVATE overrules it."""

    PUBLIC = "public"
    PRIVATE = "private"
    RECORDS = "records"
    """Every record carries its own ``access``."""


def document_from(
    record: Any, *, source: str, rights: Rights, where: str, max_bytes: int
) -> Document:
    """Read one record.

    Raises RecordError (what is wrong with which field), DocumentTooLarge, AccessError (no
    rights known).
    """
    if not isinstance(record, Mapping):
        raise RecordError("not a JSON object", where=where)
    unknown = [str(name) for name in record if name not in FIELDS]
    if unknown:
        near = difflib.get_close_matches(unknown[0], FIELDS, n=1, cutoff=0.75)
        hint = f"Did you mean {near[0]!r}?" if near else "Put it under `metadata`."
        raise RecordError(f"unknown field {unknown[0]!r}", where=where, hint=hint)
    external_id = _external_id(record.get("id"), where)
    text = _string(record, "text", where, required=True)
    title = _string(record, "title", where)
    size = len(text.encode("utf-8")) + len(title.encode("utf-8"))
    if size > max_bytes:
        raise DocumentTooLarge(
            f"{where}: document {external_id[:80]!r} has {size:,} bytes, over the limit of "
            f"{max_bytes:,}.",
            hint="Split it, or raise RESIN_MAX_DOCUMENT_BYTES.",
        )
    return Document(
        source=source,
        external_id=external_id,
        title=title,
        text=text,
        metadata=_metadata(record.get("metadata"), where, max_bytes),
        access=_access(record.get("access"), rights, where),
        url=_string(record, "url", where) or None,
        updated_at=_moment(record.get("updated_at"), where),
        marked=_marks(record.get("passages"), text, where),
        unmarked=bool(record.get("unmarked", False)),
    )


def _external_id(value: Any, where: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise RecordError("`id` is missing or empty", where=where)
    if len(value) > MAX_ID_CHARACTERS:
        raise RecordError(
            f"`id` has {len(value):,} characters, over the limit of {MAX_ID_CHARACTERS:,}",
            where=where,
        )
    return _encodable(value, "id", where)


def _string(record: Mapping[str, Any], name: str, where: str, *, required: bool = False) -> str:
    value = record.get(name)
    if value is None:
        if required:
            raise RecordError(f"`{name}` is missing", where=where)
        return ""
    if not isinstance(value, str):
        raise RecordError(f"`{name}` is a {type(value).__name__}, not a string", where=where)
    return _encodable(value, name, where)


def _encodable(value: str, name: str, where: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RecordError(
            f"`{name}` holds half a surrogate pair at character {error.start}", where=where
        ) from error
    return value


def _metadata(value: Any, where: str, max_bytes: int) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise RecordError("`metadata` is not an object", where=where)
    size = len(_encodable(str(value), "metadata", where).encode("utf-8"))
    if size > max_bytes:
        raise RecordError(
            f"`metadata` has {size:,} bytes, over the limit of {max_bytes:,}", where=where
        )
    if any(not str(key).strip() for key in value):
        raise RecordError("`metadata` has an empty key", where=where)
    return dict(value)


def _access(value: Any, rights: Rights, where: str) -> tuple[str, ...]:
    if rights is Rights.PRIVATE:
        return ()
    if value is None:
        if rights is Rights.PUBLIC:
            return (EVERYONE,)
        raise AccessError(
            f"{where}: nothing says who may read this document.",
            hint="Give `--public` or `--private`, or an `access` list in every record.",
        )
    groups = [value] if isinstance(value, str) else value
    if not isinstance(groups, list) or not all(
        isinstance(group, str) and group.strip() and len(group) <= 256 for group in groups
    ):
        raise RecordError("`access` is not a list of group names", where=where)
    return tuple(_encodable(group.strip(), "access", where) for group in groups)


def _moment(value: Any, where: str) -> datetime | None:
    if value is None or value == "":
        return None
    try:
        moment = _MOMENT.validate_python(value)
    except ValidationError as error:
        raise RecordError(
            f"`updated_at` is {str(value)[:40]!r}, not an ISO 8601 date", where=where
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def _marks(value: Any, text: str, where: str) -> tuple[MarkedPassage, ...]:
    if value is None:
        return ()
    try:
        marks = _MARKS.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RecordError(f"`passages.{place}`: {first['msg']}", where=where) from error
    last = 0
    for mark in marks:
        if mark.start < last or mark.end <= mark.start or mark.end > len(text):
            raise RecordError(
                f"`passages`: {mark.start}-{mark.end} overlaps another one or leaves the text",
                where=where,
            )
        last = mark.end
    return marks
