"""One source of a team's index: listed, its ids listed, single documents fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch.base import parts
from resin_es.adapters.elasticsearch.errors import error_type, reason
from resin_es.adapters.elasticsearch.foreign_pages import Hit, Snapshot, reading
from resin_es.adapters.elasticsearch.foreign_requests import (
    changed_query,
    fetched_fields,
    ids_query,
    mapped,
)
from resin_es.errors import StoreRejected
from resin_es.index.decide import common_access
from resin_es.model import Document
from resin_es.model.source import WHOLE_ID, SourceSpec
from resin_es.ports.sync import Unreadable
from resin_es.sync.mapping import access_of, document_from, external_id

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

_FETCHED_TOGETHER = 100
_NAMED = 3
"""Records of one id that a reason names."""


class SourceReader:
    """A source by the mappings of the concrete indices behind its name."""

    def __init__(
        self,
        client: Elasticsearch,
        spec: SourceSpec,
        mappings: Mapping[str, Any],
        max_bytes: int,
    ) -> None:
        self._client, self._spec, self._max_bytes = client, spec, max_bytes
        self._by_id = spec.id_field == WHOLE_ID
        self._single = len(mappings) == 1
        self._concrete = set(mappings) == {spec.index}
        known = mapped(mappings)
        self._read_at = known.read_at
        self._longest = known.longest.get(spec.id_field)
        self._fields = fetched_fields(spec, self._read_at)
        self._id_fields = [] if self._by_id else [self._read_at.get(spec.id_field, spec.id_field)]
        asked = [spec.access_field] if spec.access == "field" else []
        groups = [self._read_at.get(field, field) for field in asked]
        self._rights_fields = list(dict.fromkeys([*self._id_fields, *groups]))

    def documents(self, since: datetime | None) -> Iterator[Document | Unreadable]:
        told: set[str] = set()
        with self._snapshot("reading") as snapshot:
            query = changed_query(self._spec, since)
            for page in snapshot.pages(query, self._fields, self._spec.slices):
                doubled = self._doubled(snapshot, page)
                for hit in page:
                    name = self._name(hit)
                    if name is None or name not in doubled:
                        yield self._unfindable(name) or self._document(hit)
                    elif name not in told:
                        told.add(name)
                        yield doubled[name]

    def ids(self) -> Iterator[str]:
        """An id field is read from the source and not from doc values, which lack what is over
        ``ignore_above``: an id that is not listed would pass for a deletion."""
        query = changed_query(self._spec, None)
        with self._snapshot("listing the ids of") as snapshot:
            for page in snapshot.pages(query, self._id_fields, self._spec.slices):
                yield from (name for hit in page if (name := self._name(hit)) is not None)

    def fetch(self, external_ids: Sequence[str]) -> dict[str, Document | Unreadable]:
        found: dict[str, Document | Unreadable] = {}
        for part in parts(external_ids, _FETCHED_TOGETHER):
            hits = self._gotten(part) if self._by_id and self._concrete else self._searched(part)
            for name, several in hits.items():
                one = len(several) == 1
                found[name] = self._document(several[0]) if one else self._ambiguous(name, several)
        lost = (self._unfindable(name) for name in external_ids if name not in found)
        return found | {one.external_id: one for one in lost if one is not None}

    # ------------------------------------------------------------ inside

    def _gotten(self, ids: Sequence[str]) -> dict[str, list[Hit]]:
        """In realtime. Never by an alias: it may have a filter, which a get passes by."""
        docs = [{"_index": self._spec.index, "_id": one, "_source": self._fields} for one in ids]
        with reading(self._doing("fetching documents of"), self._client, self._spec.index):
            answers = self._client.mget(docs=docs, realtime=True).body["docs"]
        for answer in answers:
            _refuse(answer, self._doing("fetching documents of"))
        found = {one["_id"]: [one] for one in answers if one.get("found")}
        # With a routing of its own, a record is not where its id alone leads.
        lost = [one for one in ids if one not in found]
        routed = self._searched(lost) if lost else {}
        return found | {
            name: hits for name, hits in routed.items() if all("_routing" in one for one in hits)
        }

    def _searched(self, ids: Sequence[str]) -> dict[str, list[Hit]]:
        with self._snapshot("fetching documents of") as snapshot:
            return self._hits(snapshot, ids, self._fields)

    def _hits(
        self, snapshot: Snapshot, ids: Sequence[str], fields: Sequence[str]
    ) -> dict[str, list[Hit]]:
        """A keyword may be normalized, so what a term finds is compared once more."""
        found: dict[str, list[Hit]] = {}
        wanted = set(ids)
        for page in snapshot.pages(ids_query(self._spec, ids), fields):
            for hit in page:
                name = self._name(hit)
                if name is not None and name in wanted:
                    found.setdefault(name, []).append(hit)
        return found

    def _doubled(self, snapshot: Snapshot, page: Sequence[Hit]) -> Mapping[str, Unreadable]:
        """Ids of a page that several records of the whole source have."""
        if self._by_id and self._single and not any("_routing" in hit for hit in page):
            return {}
        names = (self._name(hit) for hit in page)
        ids = list(dict.fromkeys(name for name in names if name is not None))
        found = self._hits(snapshot, ids, self._rights_fields) if ids else {}
        return {name: self._ambiguous(name, hits) for name, hits in found.items() if len(hits) > 1}

    def _ambiguous(self, name: str, hits: Sequence[Hit]) -> Unreadable:
        """Whichever of them is meant: who may read all of them may read it."""
        places = sorted(f"{hit['_index']}/{hit['_id']}" for hit in hits)
        more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
        named = [access_of(self._spec, hit, self._read_at) for hit in hits]
        told = [access for access in named if access is not None]
        return Unreadable(
            external_id=name,
            reason=f"{len(places)} records have this id: {', '.join(places[:_NAMED])}{more}",
            access=reduce(common_access, told) if told else None,
        )

    def _unfindable(self, name: str | None) -> Unreadable | None:
        """An id that no query finds would pass for a deletion when it is fetched."""
        if name is None or self._longest is None or len(name) <= self._longest:
            return None
        return Unreadable(
            external_id=name,
            reason=f"{self._spec.id_field} has {len(name)} characters, over the field's "
            f"ignore_above ({self._longest}): by it no record is found",
        )

    def _document(self, hit: Hit) -> Document | Unreadable:
        return document_from(self._spec, hit, max_bytes=self._max_bytes, read_at=self._read_at)

    def _name(self, hit: Hit) -> str | None:
        return external_id(self._spec, hit, self._read_at)

    def _doing(self, what: str) -> str:
        return f"{what} source {self._spec.name!r}"

    def _snapshot(self, what: str) -> AbstractContextManager[Snapshot]:
        return Snapshot.of(self._client, self._spec.index, self._doing(what))


def _refuse(answer: Hit, doing: str) -> None:
    """What could not be read is not gone. (Where a mapping demands a routing, the search finds
    the record.)"""
    if "error" in answer and error_type(answer) != "routing_missing_exception":
        told = reason(answer)
        raise StoreRejected(f"{doing}: {told}.", reasons={told: 1})
