"""A LanguageModel that says what it is told, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

from resin_es.ports import ModelCall, ModelReply, Usage

Answer = ModelReply | Exception | Mapping[str, Any] | Sequence[Any] | str
"""A whole reply; an error to raise; JSON data; or text."""
Script = Callable[[ModelCall], Answer]


def data_reply(data: Any, **fields: Any) -> ModelReply:
    """A reply with JSON ``data``, as a schema brings it; ``fields`` override the rest."""
    text = json.dumps(data, ensure_ascii=False)
    values: dict[str, Any] = {"text": text, "data": data, "route": "schema", **_spent(text)}
    return ModelReply(**{**values, **fields})


def text_reply(text: str, **fields: Any) -> ModelReply:
    """A reply of free text; ``fields`` override the rest."""
    values: dict[str, Any] = {"text": text, "route": "text", **_spent(text)}
    return ModelReply(**{**values, **fields})


def _spent(text: str) -> dict[str, Any]:
    return {"stop_reason": "end_turn", "usage": Usage(input_tokens=10, output_tokens=len(text))}


class ScriptedLanguageModel:
    """Implements the LanguageModel port. Thread-safe.

    ``script`` is a function of the call, or answers that are given one after the other (asking
    once more than there are is an AssertionError). Mappings and lists become JSON replies,
    strings become JSON-less text, exceptions are raised. ``calls`` keeps every call, in the
    order in which they came.
    """

    def __init__(self, script: Script | Sequence[Answer]) -> None:
        self._script = script
        self._lock = Lock()
        self.calls: list[ModelCall] = []

    def call(self, call: ModelCall) -> ModelReply:
        with self._lock:
            self.calls.append(call)
            number = len(self.calls)
        answer = self._script(call) if callable(self._script) else self._given(number)
        if isinstance(answer, Exception):
            raise answer
        return _reply(answer, call.model)

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        """The reply's text word by word, then the reply."""
        reply = self.call(call)
        yield from reply.text.splitlines(keepends=True) if "\n" in reply.text else _words(reply)
        yield reply

    def _given(self, number: int) -> Answer:
        answers = self._script
        if callable(answers) or number > len(answers):
            raise AssertionError(f"call {number} was not expected")
        return answers[number - 1]


def _reply(answer: Answer, model: str) -> ModelReply:
    if isinstance(answer, ModelReply):
        return answer if answer.model else answer.model_copy(update={"model": model})
    if isinstance(answer, str):
        return text_reply(answer, model=model)
    return data_reply(answer, model=model)


def _words(reply: ModelReply) -> list[str]:
    pieces = reply.text.split(" ")
    return [piece + " " for piece in pieces[:-1]] + pieces[-1:] if reply.text else []


class MemoryCache:
    """Implements the OutputCache port in memory. ``values`` is all it holds."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}

    def cache_get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        return {key: self.values[key] for key in keys if key in self.values}

    def cache_put(self, values: Mapping[str, bytes]) -> None:
        self.values.update(values)
