"""Traces and the content cache."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

from resin_es.adapters.elasticsearch import realtime
from resin_es.adapters.elasticsearch.base import GONE, MGET_DOCS, StoreBase, parts
from resin_es.adapters.elasticsearch.bulk import report
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.scan import scan
from resin_es.model import Trace
from resin_es.model.base import content_id


class KeepingPart(StoreBase):
    """What is kept by id and never searched."""

    def put_trace(self, trace: Trace) -> None:
        doing = f"storing trace {trace.id}"
        with translated(doing, self.client):
            self.client.index(
                index=self.names.alias("traces"),
                id=trace.id,
                document=trace.model_dump(mode="json"),
                require_alias=True,
            )

    def get_trace(self, trace_id: str) -> Trace | None:
        docs = realtime.wanted(self.names.alias("traces"), [trace_id])
        found = realtime.mget(self.client, docs, f"reading trace {trace_id}")
        return Trace.model_validate(found[0]["_source"]) if found else None

    def purge_traces(self, before: datetime) -> int:
        """Delete traces made before ``before``, as of the last refresh. Returns how many went."""
        doing = "purging old traces"
        old = scan(
            self.client,
            self.names.aliases("traces"),
            {"range": {"created_at": {"lt": before.isoformat()}}},
            self.settings,
            fields={"_source": False},
            doing=doing,
        )
        actions = (
            {"_op_type": "delete", "_index": hit["_index"], "_id": hit["_id"]} for hit in old
        )
        outcome = self._bulk(actions, doing, by_alias=False)
        return report(outcome, doing, ignore=frozenset({GONE})).written

    def cache_get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        by_id = {content_id("cache", key): key for key in keys}
        alias = self.names.alias("cache")
        found: dict[str, bytes] = {}
        for part in parts(list(by_id), MGET_DOCS):
            docs = realtime.wanted(alias, part, ["value"])
            for doc in realtime.mget(self.client, docs, "reading the cache"):
                found[by_id[doc["_id"]]] = base64.b64decode(doc["_source"]["value"])
        return found

    def cache_put(self, values: Mapping[str, bytes]) -> None:
        doing = "writing the cache"
        now = datetime.now(timezone.utc).isoformat()
        actions = (
            {
                "_op_type": "index",
                "_index": self.names.alias("cache"),
                "_id": content_id("cache", key),
                "_source": {
                    "key": key,
                    "value": base64.b64encode(value).decode("ascii"),
                    "created_at": now,
                },
            }
            for key, value in values.items()
        )
        report(self._bulk(actions, doing), doing)
