"""A message of the Messages API as the events of its stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class ModelEvent(NamedTuple):
    """One server-sent event. ``data`` carries its own ``type`` too, as the API writes it."""

    name: str
    data: Mapping[str, Any]


def encoded(event: ModelEvent) -> bytes:
    return f"event: {event.name}\ndata: {json.dumps(event.data)}\n\n".encode()


def message_events(message: Mapping[str, Any]) -> list[ModelEvent]:
    """``message`` word by word: start, ping, each block, delta with stop reason, stop."""
    usage = message["usage"]
    begun = {
        **message,
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": 1},
    }
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": message.get("stop_sequence")}
    return [
        _event("message_start", message=begun),
        _event("ping"),
        *(
            event
            for index, block in enumerate(message["content"])
            for event in _block_events(index, block)
        ),
        _event("message_delta", delta=ended, usage={"output_tokens": usage["output_tokens"]}),
        _event("message_stop"),
    ]


def error_event(kind: str, message: str) -> ModelEvent:
    """An error in the middle of a stream, such as ``overloaded_error``."""
    return _event("error", error={"type": kind, "message": message})


def _block_events(index: int, block: Mapping[str, Any]) -> Iterator[ModelEvent]:
    if block["type"] == "text":
        empty = {**block, "text": ""}
        deltas = [{"type": "text_delta", "text": word} for word in _words(block["text"])]
    else:
        empty = {**block, "input": {}}
        written = json.dumps(block["input"])
        deltas = [{"type": "input_json_delta", "partial_json": word} for word in _words(written)]
    yield _event("content_block_start", index=index, content_block=empty)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _words(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+$", text)


def _event(kind: str, **data: Any) -> ModelEvent:
    return ModelEvent(kind, {"type": kind, **data})
