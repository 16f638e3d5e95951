"""A BatchModel over the Message Batches API: up to 100,000 requests or 256 MB, done within 24
hours, results kept for 29 days.

Source: the SDK's ``resources/messages/batches.py`` and
https://platform.claude.com/docs/en/build-with-claude/batch-processing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from resin_es.adapters.anthropic.connection import Connection
from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.adapters.anthropic.replies import fields_of, reply_of
from resin_es.adapters.anthropic.requests import Route, request_of
from resin_es.errors import ModelError, ModelUnavailable
from resin_es.ports.language import (
    BatchItem,
    BatchState,
    BatchStatus,
    ModelCall,
    ModelReply,
)

if TYPE_CHECKING:
    from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

PATH = "/v1/messages/batches"
PAGE = 100
MODEL = "Message Batches"
"""What errors name where no single model is meant."""
_ITEM_STATES = {
    "succeeded": BatchState.DONE,
    "errored": BatchState.FAILED,
    "expired": BatchState.EXPIRED,
    "canceled": BatchState.CANCELED,
}


class AnthropicBatches:
    """Implements BatchModel. Raises as :class:`Connection`, at once."""

    def __init__(self, options: AnthropicOptions) -> None:
        self._options = options
        self._connection = Connection(options)

    def submit(self, calls: Sequence[ModelCall]) -> str:
        """Sent once only: the API knows no idempotency key, so a request whose answer got lost
        may have made a batch. Whoever repeats it looks for that one first (``recent``)."""
        import anthropic

        requests: Any = [self._item(call) for call in calls]
        with self._translating(calls[0].model if calls else MODEL):
            client = self._connection.client.with_options(max_retries=0)
            try:
                return client.messages.batches.create(requests=requests, **self._extras).id
            except anthropic.NotFoundError as error:
                raise self._none_here() from error

    def _item(self, call: ModelCall) -> dict[str, Any]:
        """``extra_body`` is about messages, so it goes into each."""
        more = self._connection.extras.get("extra_body") or {}
        return {
            "custom_id": call.id,
            "params": {**request_of(call, _route(call), self._connection.effort(call)), **more},
        }

    @property
    def _extras(self) -> dict[str, Any]:
        extras = self._connection.extras
        return {name: value for name, value in extras.items() if name != "extra_body"}

    def status(self, batch_id: str) -> BatchStatus:
        import anthropic

        with self._translating():
            api = self._connection.client.messages.batches
            try:
                return status_of(api.retrieve(batch_id, **self._extras))
            except anthropic.NotFoundError:
                return BatchStatus(id=batch_id, state=BatchState.FAILED)

    def results(self, batch_id: str, calls: Mapping[str, ModelCall]) -> Iterator[BatchItem]:
        from anthropic._decoders.jsonl import JSONLDecoder
        from anthropic.types.messages import MessageBatchIndividualResponse

        with self._translating():
            # not by results_url, as the SDK does: behind a gateway that leads past it
            lines = self._connection.client.get(
                f"{PATH}/{batch_id}/results",
                cast_to=JSONLDecoder[MessageBatchIndividualResponse],
                options=self._asking(),
                stream=True,
            )
        try:
            yield from self._items(iter(lines), calls)
        finally:
            lines.close()

    def _asking(self) -> Any:
        extras = self._connection.extras
        return {
            "headers": {"Accept": "application/binary", **(extras.get("extra_headers") or {})},
            "params": extras.get("extra_query") or {},
        }

    def _items(
        self, lines: Iterator[MessageBatchIndividualResponse], calls: Mapping[str, ModelCall]
    ) -> Iterator[BatchItem]:
        while True:
            with self._translating():
                line = next(lines, None)
            if line is None:
                return
            read = fields_of(line)
            name = read.get("custom_id")
            if isinstance(name, str):  # what names no call is nobody's outcome
                yield self._landed(name, fields_of(read.get("result")), calls.get(name))

    def _landed(self, name: str, result: Mapping[str, Any], call: ModelCall | None) -> BatchItem:
        state = _ITEM_STATES.get(str(result.get("type")), BatchState.FAILED)
        item = BatchItem(call_id=name, state=state, error=_error(result))
        if state is not BatchState.DONE or call is None:
            return item
        try:
            reply = self._reply(result.get("message"), call)
        except ModelError as error:
            return item.model_copy(update={"state": BatchState.FAILED, "error": error.message})
        return item.model_copy(update={"reply": reply})

    def _reply(self, message: Any, call: ModelCall) -> ModelReply:
        return reply_of(message, call, _route(call), self._options.prices, batch=True)

    def cancel(self, batch_id: str) -> None:
        with self._translating():
            self._connection.client.messages.batches.cancel(batch_id, **self._extras)

    def recent(self, since: datetime) -> Iterator[BatchStatus]:
        import anthropic

        with self._translating():
            api = self._connection.client.messages.batches
            try:
                for batch in api.list(limit=PAGE, **self._extras):
                    if batch.created_at < since:
                        return
                    yield status_of(batch)
            except anthropic.NotFoundError as error:
                raise self._none_here() from error

    def _none_here(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"{self._options.address} takes no Message Batches.", hint="Leave --batch out."
        )

    @contextmanager
    def _translating(self, model: str = MODEL) -> Iterator[None]:
        try:
            yield
        except ModelError:
            raise
        except Exception as error:
            raise self._connection.translated(error, model) from error


def _route(call: ModelCall) -> Route:
    """No route but the schema: a batch has nobody to fall back to another one."""
    return "text" if call.output is None else "schema"


def _error(result: Mapping[str, Any]) -> str:
    outer = fields_of(result.get("error"))
    told = fields_of(outer.get("error"))
    return f"{told.get('type')}: {told.get('message')}" if told else ""


def status_of(batch: MessageBatch) -> BatchStatus:
    """A batch as the API shows it. Its own state is DONE where its items' states differ."""
    counts = batch.request_counts
    outcomes = {
        BatchState.DONE: counts.succeeded,
        BatchState.FAILED: counts.errored,
        BatchState.EXPIRED: counts.expired,
        BatchState.CANCELED: counts.canceled,
    }
    total = sum(outcomes.values()) + counts.processing
    return BatchStatus(
        id=batch.id,
        state=_state(batch, total, counts.expired, counts.canceled),
        done=total - counts.processing,
        total=total,
        created_at=batch.created_at,
    )


def _state(batch: MessageBatch, total: int, expired: int, canceled: int) -> BatchState:
    if batch.archived_at is not None:
        return BatchState.FAILED
    if batch.processing_status != "ended":
        return BatchState.RUNNING
    if total and expired == total:
        return BatchState.EXPIRED
    return BatchState.CANCELED if total and canceled == total else BatchState.DONE
