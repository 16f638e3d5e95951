"""Complete reads: every matching record by point in time, or an error; never a short list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elasticsearch import ApiError, TransportError

from resin_es.adapters.elasticsearch.errors import translated
from resin_es.errors import StoreTimeout
from resin_es.index.settings import StoreSettings

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

Hit = Mapping[str, Any]


def page_body(
    query: Mapping[str, Any],
    pit: str,
    settings: StoreSettings,
    *,
    fields: Mapping[str, Any],
    after: Sequence[Any] | None,
) -> dict[str, Any]:
    """One page of a scan: by shard order (the cheapest), with the guard of each record."""
    body: dict[str, Any] = {
        "query": dict(query),
        "pit": {"id": pit, "keep_alive": settings.keep_alive},
        "size": settings.page,
        "sort": [{"_shard_doc": "asc"}],
        "seq_no_primary_term": True,
        "track_total_hits": after is None,
        **fields,
    }
    if after is not None:
        body["search_after"] = list(after)
    return body


def scan(
    client: Elasticsearch,
    indices: Sequence[str],
    query: Mapping[str, Any],
    settings: StoreSettings,
    *,
    fields: Mapping[str, Any],
    doing: str,
) -> Iterator[Hit]:
    """All hits of ``query`` as of the last refresh. ``fields`` says what of each is read
    (``_source``, ``docvalue_fields``).

    Raises StoreError where the point in time expired, a shard failed, or fewer hits came than
    the first page announced.
    """
    with translated(doing, client):
        pit = client.open_point_in_time(index=list(indices), keep_alive=settings.keep_alive)
    current = {"id": pit["id"]}
    try:
        yield from _pages(client, current, query, settings, fields, doing)
    finally:
        _close(client, current["id"])


def _pages(
    client: Elasticsearch,
    current: dict[str, str],
    query: Mapping[str, Any],
    settings: StoreSettings,
    fields: Mapping[str, Any],
    doing: str,
) -> Iterator[Hit]:
    after: Sequence[Any] | None = None
    announced, seen = 0, 0
    while True:
        body = page_body(query, current["id"], settings, fields=fields, after=after)
        with translated(doing, client):
            answer = client.search(**body, allow_partial_search_results=False).body
        complete(answer, doing)
        current["id"] = answer.get("pit_id", current["id"])
        hits = answer["hits"]["hits"]
        if after is None:
            announced = answer["hits"]["total"]["value"]
        seen += len(hits)
        yield from hits
        if len(hits) < settings.page:
            break
        after = hits[-1]["sort"]
    if seen != announced:
        raise StoreTimeout(f"{doing}: {seen} of {announced} records came back.")


def complete(answer: Mapping[str, Any], doing: str) -> None:
    shards = answer.get("_shards", {})
    if answer.get("timed_out") or shards.get("failed"):
        raise StoreTimeout(
            f"{doing}: the answer is incomplete ({shards.get('failed', 0)} of "
            f"{shards.get('total', '?')} shards failed, timed out: {answer.get('timed_out')})."
        )


def _close(client: Elasticsearch, pit: str) -> None:
    """Free the point in time. It expires by itself, and a failure here must not hide the error
    that ended the scan, so a refusal of this one call is let go."""
    try:
        client.options(ignore_status=404).close_point_in_time(id=pit)
    except (ApiError, TransportError):
        return
