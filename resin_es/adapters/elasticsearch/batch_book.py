"""The batches under way, in the ``cache`` family: what is lost with it is money alone."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.adapters.elasticsearch.base import StoreBase
from resin_es.ports.language import BatchRecord


class ElasticsearchBatchBook(StoreBase):
    """Implements BatchBook: ``ElasticsearchBatchBook(client, store_settings)``."""

    def keep(self, record: BatchRecord) -> None:
        raise NotImplementedError

    def open(self) -> Sequence[BatchRecord]:
        raise NotImplementedError

    def close(self, key: str) -> None:
        raise NotImplementedError
