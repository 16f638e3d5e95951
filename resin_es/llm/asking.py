"""Asking a model for one output: from the cache, whole, or in halves; what fails is confined.

The same for both offline stages. A :class:`Task` says how an input becomes a call and an
output a reading; :class:`Asker` does the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeVar

from resin_es.errors import ModelError, ModelUnavailable
from resin_es.extract.units import ENDS_THE_RUN
from resin_es.llm import faults
from resin_es.llm.outputs import keep_output, keep_split, kept_outputs, known_splits
from resin_es.model import StageError
from resin_es.ports import (
    LanguageModel,
    ModelCall,
    ModelReply,
    OutputCache,
    PassageReading,
    UnitReading,
)

Item = TypeVar("Item")
Got = TypeVar("Got", PassageReading, UnitReading)


class Task(Protocol[Item, Got]):
    """A stage."""

    def call_of(self, item: Item) -> ModelCall: ...

    def read(self, data: Any, item: Item) -> tuple[Got, str]:
        """The reading of an output, and the fault if it is of no use as a whole."""
        ...

    def halves(self, item: Item) -> tuple[Item, Item] | None:
        """The input in two parts, None if it cannot be parted."""
        ...

    def joined(self, item: Item, parts: Sequence[Got]) -> Got:
        """The reading of ``item`` from those of its halves."""
        ...

    def failed(self, item: Item, error: StageError) -> Got:
        """The reading of an input that could not be read."""
        ...

    def place(self, item: Item) -> str:
        """Where in its document the input stands, for people."""
        ...


class Known(NamedTuple):
    """What the cache holds: outputs by call id, and the calls known to be cut off."""

    outputs: Mapping[str, Any]
    splits: frozenset[str]


class Asker:
    """Thread-safe. ``give_up`` calls failing one after the other, with none succeeding in
    between, mean that the model is down."""

    def __init__(self, model: LanguageModel, cache: OutputCache, *, give_up: int) -> None:
        self._model, self._cache, self._give_up = model, cache, give_up
        self._lock = Lock()
        self._failed_in_a_row = 0

    def known(self, calls: Sequence[ModelCall]) -> Known:
        """One look into the cache for many calls. Raises StoreError."""
        outputs = kept_outputs(self._cache, calls)
        rest = [call for call in calls if call.id not in outputs]
        return Known(outputs, frozenset(known_splits(self._cache, rest)))

    def ask(self, task: Task[Item, Got], item: Item, known: Known | None = None) -> Got:
        """The reading of ``item``; an error that is its own is in the reading. A validated
        output is kept before anything else happens.

        Raises ModelUnavailable, BudgetSpent, StoreError.
        """
        call = task.call_of(item)
        known = known or self.known([call])
        if call.id in known.outputs:
            reading, fault = task.read(known.outputs[call.id], item)
            if not fault:
                return reading
        if call.id in known.splits:
            return self._in_halves(task, item, call, Counter())
        try:
            reply = self._reply(call)
        except ENDS_THE_RUN:
            raise
        except ModelError as error:
            failed = _failed(task, item, faults.FAILED, type(error).__name__, str(error))
            return _paid(failed, error.reply)
        return self._read(task, item, call, reply)

    def _reply(self, call: ModelCall) -> ModelReply:
        try:
            reply = self._model.call(call)
        except ENDS_THE_RUN:
            raise
        except ModelError as error:
            with self._lock:
                self._failed_in_a_row += 1
                down = self._failed_in_a_row >= self._give_up
                if down:
                    self._failed_in_a_row = 0
            if down:
                raise ModelUnavailable(
                    f"{self._give_up} calls of {call.model} failed one after the other; "
                    f"the last one: {error.message}",
                    hint="What is finished is kept: run it again when the model answers.",
                ) from error
            raise
        with self._lock:
            self._failed_in_a_row = 0
        return reply

    def _read(self, task: Task[Item, Got], item: Item, call: ModelCall, reply: ModelReply) -> Got:
        """What a reply is good for. Its tokens and cost count whatever comes of it."""
        found: Counter[str] = Counter()
        if reply.route == "repaired":
            found[faults.REPAIRED_JSON] += 1
        if reply.truncated and not reply.refused:
            keep_split(self._cache, call)
            found[faults.TRUNCATED] += 1
            return _paid(self._in_halves(task, item, call, found), reply)
        fault = _fault(reply)
        if not fault:
            reading, fault = task.read(reply.data, item)
            found.update(reading.faults)
            if not fault:
                keep_output(self._cache, call, reply.data)
                return _paid(reading.model_copy(update={"faults": dict(found)}), reply)
        found[fault] = max(1, found[fault])
        said = faults.SAID[fault]
        return _paid(_failed(task, item, fault, "ModelError", said, found), reply)

    def _in_halves(
        self, task: Task[Item, Got], item: Item, call: ModelCall, found: Counter[str]
    ) -> Got:
        """The input read in two parts: a departure from one input, one call, and counted."""
        halves = task.halves(item)
        if halves is None:
            said = faults.SAID[faults.TRUNCATED].format(room=call.max_tokens)
            return _failed(task, item, faults.TRUNCATED, "ModelError", said, found)
        found[faults.SPLIT] += 1
        parts = [self.ask(task, half) for half in halves]
        for part in parts:
            found.update(part.faults)
        return task.joined(item, parts).model_copy(
            update={
                "faults": dict(found),
                "tokens": sum(part.tokens for part in parts),
                "cost": sum(part.cost for part in parts),
            }
        )


def _fault(reply: ModelReply) -> str:
    if reply.refused:
        return faults.REFUSED
    if reply.data is not None:
        return ""
    return faults.NOT_JSON if reply.text.strip() else faults.EMPTY


def _paid(reading: Got, reply: ModelReply | None) -> Got:
    if reply is None:
        return reading
    spent = {"tokens": reading.tokens + reply.usage.total, "cost": reading.cost + reply.dollars}
    return reading.model_copy(update=spent)


def _failed(
    task: Task[Item, Got],
    item: Item,
    fault: str,
    kind: str,
    said: str,
    found: Mapping[str, int] | None = None,
) -> Got:
    call = task.call_of(item)
    error = StageError(stage=call.stage, type=kind, message=f"{task.place(item)}: {said}")
    return task.failed(item, error).model_copy(update={"faults": dict(found or {fault: 1})})
