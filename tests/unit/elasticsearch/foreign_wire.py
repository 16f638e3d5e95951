"""A team's index on a scripted wire."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from resin_es.adapters.elasticsearch.foreign import ElasticsearchIndex
from resin_es.model.source import SourceSpec
from resin_es.testing.wire import Wire, failure

PIT = (200, {"id": "p1", "_shards": {"total": 1, "failed": 0}})
CLOSED = (200, {"succeeded": True, "num_freed": 1})
PROPERTIES = {"body": {"type": "text"}, "no": {"type": "keyword"}, "at": {"type": "date"}}
NOT_THERE = failure("index_not_found_exception", "no such index [kb]", 404)


def spec(**fields: Any) -> SourceSpec:
    given = {"name": "s", "index": "kb", "text_fields": ["body"], "access": "public"}
    return SourceSpec.model_validate({**given, **fields})


def mapping(*indices: str, **properties: Any) -> tuple[int, Any]:
    both = {"mappings": {"properties": {**PROPERTIES, **properties}}}
    return 200, dict.fromkeys(indices or ("kb",), both)


def hit(name: str, index: str = "kb", **fields: Any) -> dict[str, Any]:
    source = {"body": f"text {name}"}
    return {"_index": index, "_id": name, "_source": source, "sort": [int(name[1:])], **fields}


def page(*hits: dict[str, Any], total: int | None = None, **more: Any) -> tuple[int, Any]:
    count = {"total": {"value": len(hits) if total is None else total}} if total != -1 else {}
    shards = {"total": 1, "successful": 1, "failed": 0}
    answer = {"timed_out": False, "_shards": shards, "hits": {**count, "hits": list(hits)}}
    return 200, {**answer, **more}


def index_on(*answers: Any) -> tuple[ElasticsearchIndex, Wire]:
    wire = Wire(*answers)
    return ElasticsearchIndex(wire.client, max_bytes=1_000), wire


def sent(wire: Wire) -> list[tuple[str, str]]:
    return [(method, unquote(target)) for method, target, _ in wire.sent]


def searches(wire: Wire) -> list[dict[str, Any]]:
    return [lines[0] for _, target, lines in wire.sent if target.startswith("/_search")]


def names(found: Any) -> list[str]:
    return [one.external_id for one in found]
