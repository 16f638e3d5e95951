"""Searches and aggregations: requests out, checked answers back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch.errors import (
    client_too_new,
    error_type,
    not_installed,
    reason,
    refused,
    translated,
)
from resin_es.errors import StoreError, StoreRejected, StoreTimeout, StoreUnavailable
from resin_es.index.packed import ID, unpacked
from resin_es.ports import SearchHit, SearchResponse

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

Body = Mapping[str, Any]
NAMED_SCORES = "include_named_queries_score"


def msearch_lines(searches: Sequence[tuple[Sequence[str], Body]]) -> list[dict[str, Any]]:
    """Header and body lines. Two indices share one idf by ``dfs_query_then_fetch``."""
    lines: list[dict[str, Any]] = []
    for indices, body in searches:
        lines.append(
            {
                "index": list(indices),
                "search_type": "dfs_query_then_fetch",
                "allow_partial_search_results": False,
            }
        )
        lines.append(dict(body))
    return lines


class Searcher:
    """One ``_msearch`` per call. Named queries' scores are asked for by URL, which is where the
    server takes them; a server that refuses that is asked without, from then on."""

    def __init__(self, client: Elasticsearch) -> None:
        self._client = client
        self._named_scores = True

    def msearch(
        self, searches: Sequence[tuple[Sequence[str], Body]], labels: Sequence[str]
    ) -> list[SearchResponse]:
        """Answers in order. Raises the StoreError of the first search that did not fully
        succeed, named by its label."""
        if not searches:
            return []
        lines = msearch_lines(searches)
        try:
            answers = self._send(lines)
        except StoreRejected as error:
            if not self._named_scores or NAMED_SCORES not in error.message:
                raise
            self._named_scores = False
            answers = self._send(lines)
        return [response(answer, label) for answer, label in zip(answers, labels, strict=True)]

    def _send(self, lines: list[dict[str, Any]]) -> list[Body]:
        # The client's own msearch() has no argument for named queries' scores.
        with translated("searching", self._client):
            answer = self._client.perform_request(
                "POST",
                "/_msearch",
                params={NAMED_SCORES: "true"} if self._named_scores else {},
                headers={"accept": "application/json", "content-type": "application/x-ndjson"},
                body=lines,
                endpoint_id="msearch",
            )
        return list(answer.body["responses"])


def response(answer: Body, label: str) -> SearchResponse:
    """A checked answer. A packed hit that lacks what was packed has no id. Raises StoreTimeout
    for a partial one, else what its error means."""
    check(answer, label)
    raw = answer["hits"]["hits"]
    packed = bool(raw) and "_id" not in raw[0]
    sources = unpacked(raw) if packed else [hit.get("_source") or {} for hit in raw]
    hits = tuple(
        SearchHit(
            id=source.get(ID, "") if packed else hit["_id"],
            score=hit.get("_score") or 0.0,
            parts=_parts(hit.get("matched_queries")),
            source=source,
        )
        for hit, source in zip(raw, sources, strict=True)
    )
    return SearchResponse(hits=hits, took_ms=int(answer.get("took", 0)))


def _parts(matched: object) -> Mapping[str, float]:
    """Named scores; a server that only lists the names tells no scores."""
    return matched if isinstance(matched, Mapping) else {}


def check(answer: Body, label: str) -> None:
    """Raises a StoreError unless ``answer`` is a complete success."""
    if "error" in answer:
        raise _failed(answer, label)
    shards = answer.get("_shards") or {}
    if answer.get("timed_out"):
        raise StoreTimeout(f"{label}: timed out, so hits may be missing.")
    if shards.get("failed"):
        told = reason((shards.get("failures") or [{}])[0].get("reason", {}))
        raise StoreTimeout(
            f"{label}: {shards['failed']} of {shards.get('total')} shards failed: {told}."
        )


def _failed(answer: Body, label: str) -> StoreError:
    kind, told, status = error_type(answer), reason(answer), int(answer.get("status", 500))
    if kind == "index_not_found_exception":
        return not_installed(told)
    if kind == "media_type_header_exception":
        return client_too_new(told)
    if status in (401, 403):
        return refused(label, told)
    if status in (408, 504):
        return StoreTimeout(f"{label}: {told}.")
    if status in (429, 502, 503):
        return StoreUnavailable(f"{label}: Elasticsearch cannot serve it now: {told}.")
    return StoreRejected(f"{label}: rejected: {told}.", reasons={told: 1})


def buckets(
    client: Elasticsearch,
    indices: Sequence[str],
    body: Callable[[Mapping[str, Any] | None], dict[str, Any]],
    doing: str,
) -> Iterator[Body]:
    """All buckets of a composite aggregation named ``by``, page after page."""
    after: Mapping[str, Any] | None = None
    while True:
        with translated(doing, client):
            answer = client.search(
                index=list(indices), **body(after), allow_partial_search_results=False
            ).body
        check(answer, doing)
        page = answer["aggregations"]["by"]
        yield from (bucket for bucket in page["buckets"] if bucket["doc_count"])
        after = page.get("after_key")
        if not page["buckets"] or after is None:
            return
