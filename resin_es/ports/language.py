"""A language model, what it costs, and what bounds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Literal, Protocol

from pydantic import Field

from resin_es.model.base import Frozen, content_id

Stage = Literal["passages", "units", "plan", "compose", "solve"]
"""Where a model is asked: twice offline, twice online, and once for the trace alone."""


class Usage(Frozen):
    """Tokens of one call, or of many. ``input_tokens`` are those charged in full; what a prompt
    cache took or gave stands beside them."""

    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0

    @property
    def total(self) -> int:
        return (
            self.input_tokens
            + self.cache_write_tokens
            + self.cache_read_tokens
            + self.output_tokens
        )

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            **{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields}
        )


class ModelCall(Frozen):
    """One request, complete: the same call has the same ``id``. ``system`` is the long, stable
    part that a provider may cache; ``user`` holds the data, delimited. ``output`` is the JSON
    schema that the answer must fit, None for free text. ``prompt_version`` names the prompt."""

    stage: Stage
    model: str
    prompt_version: str
    system: str
    user: str
    output: Mapping[str, Any] | None = None
    max_tokens: int = Field(default=4096, gt=0)

    @property
    def id(self) -> str:
        """Hash of everything that decides the answer; the key of caches and recordings. The
        room for the answer does not count: what fitted needs no other."""
        schema = "" if self.output is None else repr(sorted(self.output.items()))
        return content_id(
            "call", self.stage, self.model, self.prompt_version, self.system, self.user, schema
        )


class ModelReply(Frozen):
    """What came back. ``data`` is the parsed JSON where the call has an ``output`` (None where
    the text is none), not yet checked against the stage's model; ``text`` the raw text.

    ``truncated``: it ran into ``max_tokens``. ``refused``: the model declined. ``route`` says how
    the structure was got: by the endpoint's own schema, by a tool call, from JSON in plain text,
    or from JSON that had to be repaired first.
    """

    text: str = ""
    data: Any = None
    model: str = ""
    stop_reason: str = ""
    truncated: bool = False
    refused: bool = False
    route: Literal["text", "schema", "tool", "plain", "repaired"] = "text"
    usage: Usage = Usage()
    dollars: float = 0.0
    """By the price table; 0 where the model has no price."""
    calls: int = 1
    """Requests that it took, a fallback to another route counted."""


class LanguageModel(Protocol):
    """One call in, one reply out. Thread-safe."""

    def call(self, call: ModelCall) -> ModelReply:
        """Raises ModelUnavailable (no key, no such model, nothing listens: every call would
        fail), BudgetSpent, ModelError (this call failed, after the retries)."""
        ...

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        """Text as it is written, then the whole reply, last. For calls without ``output``.

        Raises as ``call``; a stream that breaks off raises ModelError.
        """
        ...


class BatchState(str, Enum):
    """Where a batch, or one item of it, stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELED = "canceled"


class BatchStatus(Frozen):
    """``done`` of ``total`` items have an outcome. ``FAILED``: there is no such batch (any
    more), or its results are gone."""

    id: str
    state: BatchState
    done: int = 0
    total: int = 0
    created_at: datetime | None = None


class BatchItem(Frozen):
    """The outcome of one call of a batch, by the call's id. ``reply`` only where it is DONE."""

    call_id: str
    state: BatchState
    reply: ModelReply | None = None
    error: str = ""


class BatchModel(Protocol):
    """Many calls at half the price, later."""

    def submit(self, calls: Sequence[ModelCall]) -> str:
        """The batch's id. Raises ModelUnavailable, ModelError."""
        ...

    def status(self, batch_id: str) -> BatchStatus: ...

    def results(self, batch_id: str, calls: Mapping[str, ModelCall]) -> Iterator[BatchItem]:
        """In any order. Only once the batch is no longer RUNNING. ``calls``, by their id, are
        those whose replies are wanted: of others the state alone comes."""
        ...

    def cancel(self, batch_id: str) -> None: ...

    def recent(self, since: datetime) -> Iterator[BatchStatus]:
        """The account's batches made at or after ``since``, newest first: how one is found
        again whose id got lost."""
        ...


class BatchRecord(Frozen):
    """A batch as it is remembered from before it is submitted until its results have landed.

    ``key`` names the record; ``batch_id`` is empty until the provider has named the batch.
    ``dollars`` is what it may cost. A call in an open record is under way, or may be: it is not
    submitted again.
    """

    key: str
    batch_id: str = ""
    stage: Stage
    model: str
    call_ids: tuple[str, ...]
    dollars: float = 0.0
    created_at: datetime


class BatchBook(Protocol):
    """Remembers the batches under way, so that a run that died is gone on with. Raises the
    StoreError family."""

    def keep(self, record: BatchRecord) -> None:
        """Create or replace, by ``key``; durable and seen by ``open`` when this returns."""
        ...

    def open(self) -> Sequence[BatchRecord]:
        """Every record kept and not closed, oldest first."""
        ...

    def close(self, key: str) -> None:
        """Forget it; one that is not there is closed already."""
        ...


class RateLimiter(Protocol):
    """Requests and tokens per minute. Thread-safe."""

    def wait(self, tokens: int) -> float:
        """Wait until a call of about ``tokens`` may go out; returns the seconds waited."""
        ...


class Spend(Frozen):
    """One call as the ledger keeps it. ``key`` is unique: the same spend entered twice counts
    once."""

    key: str
    stage: Stage
    model: str
    usage: Usage = Usage()
    dollars: float = 0.0
    batch: bool = False


class Ledger(Protocol):
    """What was spent. Thread-safe."""

    def enter(self, spend: Spend) -> None: ...

    def spent(self) -> float:
        """US dollars entered so far."""
        ...


class OutputCache(Protocol):
    """Validated outputs by content. A key that is not there is absent."""

    def cache_get(self, keys: Sequence[str]) -> Mapping[str, bytes]: ...

    def cache_put(self, values: Mapping[str, bytes]) -> None: ...
