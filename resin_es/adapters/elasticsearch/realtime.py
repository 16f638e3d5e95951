"""Realtime reads by id (``_mget``), which see a write before any refresh."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch.errors import (
    error_type,
    not_installed,
    reason,
    refused,
    translated,
)
from resin_es.errors import IndexMismatch, StoreRejected

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

Doc = Mapping[str, Any]


def wanted(index: str, ids: Iterable[str], source: object = True) -> list[dict[str, Any]]:
    """The ``docs`` lines of an mget for ``ids`` of one alias."""
    return [{"_index": index, "_id": one, "_source": source} for one in ids]


def mget(client: Elasticsearch, docs: Sequence[Doc], doing: str) -> list[Doc]:
    """Found documents only, in order.

    An alias is resolved by the server at each call, so a swap between two generations is seen at
    once; an id cached against a concrete name would go on reading the old registry. It must
    lead to one index: with several, Elasticsearch refuses, and so do we.

    Raises StoreNotInstalled, IndexMismatch, StoreRejected for an item that could not be read.
    """
    if not docs:
        return []
    with translated(doing, client):
        answers = client.mget(docs=docs, realtime=True).body["docs"]
    for answer in answers:
        if "error" in answer:
            _refuse(answer, doing)
    return [answer for answer in answers if answer.get("found")]


def _refuse(answer: Doc, doing: str) -> None:
    told = reason(answer)
    if error_type(answer) == "index_not_found_exception":
        raise not_installed(told)
    if "more than one ind" in told:
        raise IndexMismatch(
            f"alias {answer.get('_index')!r} leads to several indices: {told}.",
            hint="Leave it on one: `resin-es doctor` lists them.",
        )
    if error_type(answer) == "security_exception":
        raise refused(doing, told)
    raise StoreRejected(f"{doing}: {told}.", reasons={told: 1})
