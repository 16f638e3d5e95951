"""Text as it is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resin_es.adapters.anthropic.connection import Connection
from resin_es.adapters.anthropic.replies import cost_of, reply_of
from resin_es.adapters.anthropic.requests import request_of
from resin_es.adapters.prices import Prices
from resin_es.errors import ModelError
from resin_es.model.base import token_count
from resin_es.ports.language import ModelCall, ModelReply

if TYPE_CHECKING:
    from anthropic import MessageStream
    from anthropic.types import Message


def streamed(connection: Connection, call: ModelCall) -> Iterator[str | ModelReply]:
    """Text, then the whole reply. A stream that ends without saying so is an error, since what
    came would pass for an answer. Errors carry what had been paid for by then (``reply``)."""
    body, prices = request_of(call, "text", connection.effort(call)), connection.options.prices
    manager = connection.client.messages.stream(**body, **connection.extras)
    stream: MessageStream[None] | None = None
    try:
        with manager as stream:
            for event in stream:
                if event.type == "text":
                    yield event.text
    except Exception as error:
        failed = connection.translated(error, call.model)
        raise _carrying(failed, _so_far(stream), call, prices) from error
    address, message = connection.options.address, _so_far(stream)
    if message is None:
        raise ModelError(
            f"What {address} answered is no event stream of the Messages API.",
            hint="Check RESIN_ANTHROPIC_URL.",
        )
    if not message.stop_reason:
        broken = ModelError(
            f"The answer of {call.model} at {address} broke off before its end.",
            hint="Ask again: what came is incomplete.",
        )
        raise _carrying(broken, message, call, prices)
    yield reply_of(message, call, "text", prices)


def _so_far(stream: MessageStream[None] | None) -> Message | None:
    try:
        return None if stream is None else stream.current_message_snapshot
    except AssertionError:  # the SDK's way to say that no message has begun
        return None


def _carrying(
    error: ModelError, message: Message | None, call: ModelCall, prices: Prices
) -> ModelError:
    """The usage of an answer comes at its end; until then what was written is counted here."""
    if message is not None:
        reply = reply_of(message, call, "text", prices)
        written = max(reply.usage.output_tokens, token_count(reply.text))
        usage = reply.usage.model_copy(update={"output_tokens": written})
        dollars = cost_of(usage, call, reply.model, prices)
        error.reply = reply.model_copy(update={"usage": usage, "dollars": dollars})
    return error
