"""Batches whose replies are recorded as if each call had gone out alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from resin_es.adapters.recording import RecordingModel
from resin_es.ports.language import BatchItem, BatchModel, BatchStatus, ModelCall, ModelReply


class RecordingBatches:
    """A BatchModel around ``inner`` that keeps each reply in ``folder``, so that a run read by
    batch is replayed like any other (without ``--batch``). Raises as RecordingModel does."""

    def __init__(self, inner: BatchModel, folder: Path) -> None:
        self._inner, self._given = inner, _Given()
        self._recording = RecordingModel(self._given, folder)

    def submit(self, calls: Sequence[ModelCall]) -> str:
        return self._inner.submit(calls)

    def status(self, batch_id: str) -> BatchStatus:
        return self._inner.status(batch_id)

    def results(self, batch_id: str, calls: Mapping[str, ModelCall]) -> Iterator[BatchItem]:
        for item in self._inner.results(batch_id, calls):
            if item.reply is not None:
                self._given.reply = item.reply
                self._recording.call(calls[item.call_id])
            yield item

    def cancel(self, batch_id: str) -> None:
        self._inner.cancel(batch_id)

    def recent(self, since: datetime) -> Iterator[BatchStatus]:
        return self._inner.recent(since)


class _Given:
    """A LanguageModel that says what it was handed."""

    def __init__(self) -> None:
        self.reply = ModelReply()

    def call(self, call: ModelCall) -> ModelReply:
        return self.reply

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        yield self.reply
