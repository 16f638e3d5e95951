"""What a hit brings along, packed into one doc value. Pure.

Elasticsearch keeps the source and the id of a record in compressed blocks, together with the
vector: to unpack these for the hundreds of hits of one search costs several times what the search
costs. A doc value is read in place. An index says in its ``_meta`` that its records have it; one
that was built before is read by its source, and `resin-es rebuild` gives it the field.
"""

from __future__ import annotations

import json
from base64 import b64encode
from binascii import a2b_base64
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json

FIELD, TITLE = "packed", "title.exact"
"""The packed field; and the title, which a new version of a document may change on records that
it keeps, and which therefore stands by itself."""

ID = "_id"
PACKED = (
    "kind",
    "passage_id",
    "sentence_ids",
    "document_key",
    "document_id",
    "source",
    "statement",
    "subject",
    "object",
    "aliases",
)
"""The fields that are packed: none that an update changes."""

BROUGHT = (*PACKED, "title")
"""All that a hit can bring along without its source, and what a hop asks for."""
BRINGS = frozenset(BROUGHT)
VERSION = 1
"""Which fields are packed, and how."""

Body = Mapping[str, Any]


def packs(meta: Mapping[str, Any]) -> bool:
    """Whether an index with this ``_meta`` has the field, as this version reads it."""
    return meta.get(FIELD) == VERSION


def stored(meta: Mapping[str, Any], record_id: str, body: Body) -> dict[str, Any]:
    """An address's body as an index with this ``_meta`` stores it."""
    plain = {name: value for name, value in body.items() if name != FIELD}
    return {**plain, FIELD: packed(record_id, body)} if packs(meta) else plain


def packed(record_id: str, body: Body) -> str:
    """What the field holds: JSON in Base64, as Elasticsearch takes bytes."""
    told = {name: body[name] for name in PACKED if body.get(name)}
    text = json.dumps({ID: record_id, **told}, ensure_ascii=False, separators=(",", ":"))
    return b64encode(text.encode("utf-8", "replace")).decode()


def packed_search(body: Body) -> Body:
    """A search over addresses that finds the same and reads nothing but doc values; the body
    itself where more is asked for than these hold."""
    wanted = body.get("_source")
    if not isinstance(wanted, list) or not BRINGS.issuperset(wanted):
        return body
    read = {"_source": False, "stored_fields": "_none_", "docvalue_fields": [FIELD, TITLE]}
    return {**body, **read}


def unpacked(hits: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The sources of such a search's hits, each with its id as ``_id``; one that was written
    without the field is empty."""
    fields = [hit.get("fields", {}) for hit in hits]
    lines = [a2b_base64(one[FIELD][0]) if FIELD in one else b"{}" for one in fields]
    sources: list[dict[str, Any]] = from_json(b"[%b]" % b",".join(lines), cache_strings="keys")
    for source, one in zip(sources, fields, strict=True):
        if source and TITLE in one:
            source["title"] = one[TITLE][0]
    return sources
