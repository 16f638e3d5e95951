"""Counting bodies and what their answers mean. Pure. Every one starts from the access filter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from resin_es.index.filters import Filters, address_filter, document_filter
from resin_es.model import Coverage, Principal

PAGE = 1_000
"""Buckets per page of a composite aggregation."""


def coverage_body(
    principal: Principal, sources: Sequence[str], after: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Documents by source and status, tombstones left out."""
    return _composite(
        document_filter(principal, Filters(sources=tuple(sources))), ("source", "status"), after
    )


def metadata_keys_body(
    principal: Principal, sources: Sequence[str], after: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Distinct metadata keys of readable documents."""
    return _composite(
        document_filter(principal, Filters(sources=tuple(sources))), ("metadata_keys",), after
    )


def kind_counts_body(
    principal: Principal, sources: Sequence[str], after: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Readable addresses by kind."""
    return _composite(address_filter(principal, Filters(sources=tuple(sources))), ("kind",), after)


def _composite(
    clauses: list[dict[str, Any]], fields: tuple[str, ...], after: Mapping[str, Any] | None
) -> dict[str, Any]:
    composite: dict[str, Any] = {
        "size": PAGE,
        "sources": [{field: {"terms": {"field": field}}} for field in fields],
    }
    if after is not None:
        composite["after"] = dict(after)
    return {
        "size": 0,
        "track_total_hits": False,
        "query": {"bool": {"filter": clauses}},
        "aggs": {"by": {"composite": composite}},
    }


def coverage_from(buckets: Iterable[Mapping[str, Any]]) -> list[Coverage]:
    """One Coverage per source that has readable documents, by name."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for bucket in buckets:
        key = bucket["key"]
        found[key["source"]][key["status"]] = bucket["doc_count"]
    return [
        Coverage(source=source, documents=sum(states.values()), by_status=states)
        for source, states in sorted(found.items())
    ]
