"""The batches under way.

They stand in the ``cache`` family, whose mapping holds any value by id. All share one ``key``,
by which they are listed; no cached value has it, since those are named by hashes.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import datetime, timezone

from resin_es.adapters.elasticsearch.base import GONE, StoreBase
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.scan import scan
from resin_es.model.base import content_id
from resin_es.ports.language import BatchRecord

KEY = "message-batch"


class ElasticsearchBatchBook(StoreBase):
    """Implements BatchBook. Every write is refreshed before it returns: a run that begins the
    moment after a crash must find it, or it would pay again."""

    def keep(self, record: BatchRecord) -> None:
        with translated(f"keeping batch {record.batch_id or record.key}", self.client):
            self.client.index(
                index=self.names.alias("cache"),
                id=_id(record.key),
                document={
                    "key": KEY,
                    "value": base64.b64encode(record.model_dump_json().encode()).decode("ascii"),
                    "created_at": datetime.now(timezone.utc).isoformat(),
                },
                require_alias=True,
                refresh=True,
            )

    def open(self) -> Sequence[BatchRecord]:
        hits = scan(
            self.client,
            self.names.aliases("cache"),
            {"term": {"key": KEY}},
            self.settings,
            fields={"_source": ["value"]},
            doing="listing the batches under way",
        )
        records = [
            BatchRecord.model_validate_json(base64.b64decode(hit["_source"]["value"]))
            for hit in hits
        ]
        return sorted(records, key=lambda record: record.created_at)

    def close(self, key: str) -> None:
        with translated(f"closing batch {key}", self.client):
            self.client.options(ignore_status=GONE).delete(
                index=self.names.alias("cache"), id=_id(key), refresh=True
            )


def _id(key: str) -> str:
    return content_id("batch", key)
