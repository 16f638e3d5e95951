"""What all parts of the store share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from resin_es.adapters.elasticsearch.bulk import Action, Outcome, bulk
from resin_es.adapters.elasticsearch.errors import (
    error_type,
    item_reason,
    not_installed,
    refused,
    translated,
)
from resin_es.index.names import EVIDENCE_FAMILIES, Names
from resin_es.index.settings import StoreSettings
from resin_es.model import Guard

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

MGET_DOCS = 1_000
"""Ids in one ``_mget``."""

T = TypeVar("T")

CONFLICT, GONE, FORBIDDEN = 409, 404, 403


class StoreBase:
    """A client, its settings, and the names of what it addresses."""

    def __init__(self, client: Elasticsearch, settings: StoreSettings) -> None:
        self.client = client
        self.settings = settings
        self.names = Names(prefix=settings.prefix)

    def _bulk(self, actions: Iterable[Action], doing: str, *, by_alias: bool = True) -> Outcome:
        outcome = bulk(self.client, actions, self.settings, doing, require_alias=by_alias)
        for item in outcome.items:
            if item["status"] == GONE and error_type(item) == "index_not_found_exception":
                raise not_installed(item_reason(item))
            if item["status"] == FORBIDDEN:
                raise refused(doing, item_reason(item))
        return outcome

    def _refresh(self, families: Iterable[str]) -> None:
        """With what of them is under construction, if anything is."""
        named = list(families)
        building = [f"{self.names.pattern(f)}-next" for f in named if f in EVIDENCE_FAMILIES]
        with translated("refreshing", self.client):
            self.client.indices.refresh(index=[*self.names.aliases(*named), *building])


def parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    unique = list(dict.fromkeys(items))
    for start in range(0, len(unique), size):
        yield unique[start : start + size]


def guard_of(item: Mapping[str, Any]) -> Guard:
    return Guard(seq_no=item["_seq_no"], primary_term=item["_primary_term"])
