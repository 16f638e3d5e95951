"""A BatchBook in memory."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.ports.language import BatchRecord


class MemoryBatchBook:
    """Implements the BatchBook port. ``written`` holds every record ever kept, in order, so that
    a test sees what stood there at which moment."""

    def __init__(self) -> None:
        self.records: dict[str, BatchRecord] = {}
        self.written: list[BatchRecord] = []

    def keep(self, record: BatchRecord) -> None:
        self.records[record.key] = record
        self.written.append(record)

    def open(self) -> Sequence[BatchRecord]:
        return sorted(self.records.values(), key=lambda record: record.created_at)

    def close(self, key: str) -> None:
        self.records.pop(key, None)
