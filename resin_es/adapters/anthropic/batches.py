"""A BatchModel over the Message Batches API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from resin_es.adapters.anthropic.connection import Connection
from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.ports.language import BatchItem, BatchStatus, ModelCall


class AnthropicBatches:
    """Implements BatchModel. Raises as :class:`Connection`, at once."""

    def __init__(self, options: AnthropicOptions) -> None:
        self._connection = Connection(options)

    def submit(self, calls: Sequence[ModelCall]) -> str:
        raise NotImplementedError

    def status(self, batch_id: str) -> BatchStatus:
        raise NotImplementedError

    def results(self, batch_id: str) -> Iterator[BatchItem]:
        raise NotImplementedError

    def cancel(self, batch_id: str) -> None:
        raise NotImplementedError

    def recent(self, since: datetime) -> Iterator[BatchStatus]:
        raise NotImplementedError
