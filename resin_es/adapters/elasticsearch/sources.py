"""The sources: one guarded record each in the ``sources`` family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from resin_es.adapters.elasticsearch import realtime
from resin_es.adapters.elasticsearch.base import GONE, StoreBase, guard_of
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.scan import scan
from resin_es.errors import StoreConflict
from resin_es.model import Guard
from resin_es.model.base import content_id
from resin_es.model.source import Source
from resin_es.ports.sync import StoredSource

FAMILY, KIND = "sources", "elasticsearch"
"""``kind`` tells these records from whatever else the family may come to hold."""

_IN_FIELDS = ("lease", "heartbeat", "error")
"""What of the state stands in fields of its own; the rest is the cursor."""


class SourceBookPart(StoreBase):
    """Implements :class:`resin_es.ports.sync.SourceBook`."""

    def source(self, name: str) -> StoredSource | None:
        docs = realtime.wanted(self.names.alias(FAMILY), [source_id(name)])
        found = realtime.mget(self.client, docs, f"reading source {name!r}")
        return _stored(found[0]) if found else None

    def sources(self) -> Sequence[StoredSource]:
        """By name. Refreshes first, so that a source is listed from the moment it was kept."""
        self._refresh((FAMILY,))
        hits = scan(
            self.client,
            self.names.aliases(FAMILY),
            {"term": {"kind": KIND}},
            self.settings,
            fields={"_source": True},
            doing="listing the sources",
        )
        return sorted(map(_stored, hits), key=lambda one: one.source.spec.name)

    def put_source(self, source: Source, guard: Guard | None) -> Guard:
        name = source.spec.name
        given: dict[str, Any] = (
            {"op_type": "create"}
            if guard is None
            else {"if_seq_no": guard.seq_no, "if_primary_term": guard.primary_term}
        )
        try:
            with translated(f"writing source {name!r}", self.client):
                answer = self.client.index(
                    index=self.names.alias(FAMILY),
                    id=source_id(name),
                    document=source_record(source, datetime.now(timezone.utc)),
                    require_alias=True,
                    **given,
                ).body
        except StoreConflict as error:
            told = "exists already" if guard is None else "was changed by somebody else meanwhile"
            raise StoreConflict(f"source {name!r} {told}.", hint="Run it again.") from error
        return guard_of(answer)

    def remove_source(self, name: str) -> None:
        with translated(f"removing source {name!r}", self.client):
            self.client.options(ignore_status=GONE).delete(
                index=self.names.alias(FAMILY), id=source_id(name)
            )


class ElasticsearchSources(SourceBookPart):
    """The sources alone, without the rest of the store."""


def source_id(name: str) -> str:
    return content_id("source", name)


def source_record(source: Source, now: datetime) -> dict[str, Any]:
    """A source as the ``sources`` family stores it. Pure."""
    state = source.state.model_dump(mode="json")
    error = source.state.error
    return {
        "name": source.spec.name,
        "kind": KIND,
        "enabled": not source.state.paused,
        "status": "paused" if source.state.paused else "failing" if error else "active",
        "access": source.spec.access,
        "settings": source.spec.model_dump(mode="json"),
        "cursor": {name: value for name, value in state.items() if name not in _IN_FIELDS},
        **{name: state[name] for name in _IN_FIELDS},
        "created_at": source.created_at.isoformat() if source.created_at else None,
        "updated_at": now.isoformat(),
    }


def source_from(body: Mapping[str, Any]) -> Source:
    """The inverse of :func:`source_record`."""
    state = {**body.get("cursor", {}), **{name: body.get(name) for name in _IN_FIELDS}}
    return Source.model_validate(
        {"spec": body["settings"], "state": state, "created_at": body.get("created_at")}
    )


def _stored(doc: Mapping[str, Any]) -> StoredSource:
    return StoredSource(source=source_from(doc["_source"]), guard=guard_of(doc))
