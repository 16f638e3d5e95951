"""Registry entries by the ten thousand, without what makes them heavy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from resin_es.adapters.elasticsearch.base import StoreBase
from resin_es.adapters.elasticsearch.scan import scan
from resin_es.model import DocumentStatus
from resin_es.ports.sync import EntryBrief

_FIELDS = (
    "key",
    "document_id",
    "source",
    "status",
    "attempts",
    "not_before",
    "lease",
    "heartbeat",
    "updated_at",
    "settled",
    "version",
    "committed_version",
)


class ListingPart(StoreBase):
    """Implements :class:`resin_es.ports.sync.EntryListing`."""

    def briefs(
        self,
        source: str | None = None,
        statuses: Sequence[DocumentStatus] = (),
        *,
        unsettled: bool = False,
    ) -> Iterator[EntryBrief]:
        hits = scan(
            self.client,
            self.names.aliases("documents"),
            briefs_query(source, statuses, unsettled=unsettled),
            self.settings,
            fields={"_source": False, "docvalue_fields": list(_FIELDS)},
            doing="listing registry entries",
        )
        return (_brief(hit["fields"]) for hit in hits)


class ElasticsearchListing(ListingPart):
    """The listings alone, without the rest of the store."""


def briefs_query(
    source: str | None, statuses: Sequence[DocumentStatus], *, unsettled: bool
) -> dict[str, Any]:
    """Which entries are listed. Without ``statuses`` all are, so ``unsettled`` adds nothing."""
    clauses: list[dict[str, Any]] = []
    if source is not None:
        clauses.append({"term": {"source": source}})
    if statuses:
        either: list[dict[str, Any]] = [{"terms": {"status": [one.value for one in statuses]}}]
        if unsettled:
            either.append({"term": {"settled": False}})
        clauses.append({"bool": {"should": either, "minimum_should_match": 1}})
    return {"bool": {"filter": clauses}} if clauses else {"match_all": {}}


def _brief(fields: Mapping[str, Sequence[Any]]) -> EntryBrief:
    """From doc values, where every value is a list and a missing one is absent."""
    found = {name: fields[name][0] for name in _FIELDS if name in fields}
    found["external_id"] = found.pop("document_id")
    wanted, committed = found.pop("version", ""), found.pop("committed_version", "")
    found["committed"] = bool(committed)
    found["outdated"] = committed not in ("", wanted)
    return EntryBrief.model_validate(found)
