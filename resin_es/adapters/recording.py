"""Every exchange with a language model kept in a folder, and a model that answers from it.

One JSON file per call, named by stage and call id::

    {"call": {…}, "exchanges": [{"reply": {…}, "chunks": ["…"]}, {"error": {…}}]}

It holds what was asked and what came back, no key and no header. The same call made again adds
an exchange to its file. Documents and questions stand in it as they were sent, so the files are
readable by their owner alone.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from resin_es.errors import BudgetSpent, ModelError, ModelUnavailable
from resin_es.model.base import Frozen
from resin_es.ports import LanguageModel, ModelCall, ModelReply

_LOCK = ".lock"
_SHOWN = 60
"""Characters of a text that a message shows."""


class Failure(Frozen):
    """A call that failed after its retries, as a ModelError tells it."""

    message: str
    hint: str = ""


class Exchange(Frozen):
    """What came back of one call: the reply (with the pieces it was written in, if it was
    streamed), or the failure and what was paid for it all the same."""

    reply: ModelReply | None = None
    chunks: tuple[str, ...] | None = None
    error: Failure | None = None


class Recorded(Frozen):
    """One file: a call and all that came back of it, in order."""

    call: ModelCall
    exchanges: tuple[Exchange, ...] = Field(min_length=1)


class RecordingModel:
    """Asks ``inner`` and keeps each exchange in ``folder``. Threads and processes may share it.

    What no call can be blamed for (no key, a spent budget) is not kept. Raises as ``inner``
    does, and ModelUnavailable where the folder cannot be written to: before anything is asked,
    or, if that comes later, with the reply that was paid for.
    """

    def __init__(self, inner: LanguageModel, folder: Path) -> None:
        self._inner = inner
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with _held(folder):
                pass
        except OSError as error:
            raise _unwritable(folder, error) from error

    def call(self, call: ModelCall) -> ModelReply:
        try:
            reply = self._inner.call(call)
        except ModelError as error:
            self._keep_failure(call, error, None)
            raise
        self._keep(call, Exchange(reply=reply))
        return reply

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        chunks: list[str] = []
        try:
            for piece in self._inner.stream(call):
                if isinstance(piece, ModelReply):
                    self._keep(call, Exchange(reply=piece, chunks=tuple(chunks)))
                else:
                    chunks.append(piece)
                yield piece
        except ModelError as error:
            self._keep_failure(call, error, tuple(chunks))
            raise

    def _keep_failure(
        self, call: ModelCall, error: ModelError, chunks: tuple[str, ...] | None
    ) -> None:
        if not isinstance(error, ModelUnavailable | BudgetSpent):
            failure = Failure(message=error.message, hint=error.hint)
            self._keep(call, Exchange(error=failure, reply=error.reply, chunks=chunks))

    def _keep(self, call: ModelCall, exchange: Exchange) -> None:
        path = _path(self._folder, call)
        try:
            with _held(self._folder):
                before = _read(path).exchanges if path.exists() else ()
                _write(path, Recorded(call=call, exchanges=(*before, exchange)))
        except OSError as error:
            failed = _unwritable(self._folder, error)
            failed.reply = exchange.reply  # paid for all the same
            raise failed from error
        except ModelUnavailable as error:
            error.reply = exchange.reply
            raise


class ReplayModel:
    """Answers from a recording and sends nothing. Thread-safe.

    The exchanges of a call are given in the order in which they were recorded, the last one
    again and again. A reply costs nothing here (``dollars`` 0); ``recorded_dollars`` is what
    those given so far had cost when they were recorded.

    Raises ModelUnavailable for a call that the recording does not hold (it names what differs
    from the nearest one that it does) and ModelError where the recorded call had failed.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ModelUnavailable(
                f"There is no recording in {folder}.",
                hint="RESIN_REPLAY names the folder that RESIN_RECORD wrote.",
            )
        self._folder = folder
        self._lock = threading.Lock()
        self._given: Counter[str] = Counter()
        self._dollars = 0.0

    @property
    def recorded_dollars(self) -> float:
        """US dollars that the replies given so far had cost."""
        return self._dollars

    def call(self, call: ModelCall) -> ModelReply:
        return self._reply(self._next(call))

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        exchange = self._next(call)
        if exchange.chunks is not None:
            yield from exchange.chunks
        elif exchange.error is None and exchange.reply is not None and exchange.reply.text:
            yield exchange.reply.text
        yield self._reply(exchange)

    def _next(self, call: ModelCall) -> Exchange:
        path = _path(self._folder, call)
        if not path.is_file():
            raise ModelUnavailable(
                f"The recording in {self._folder} does not hold call {call.id} of the stage "
                f"{call.stage}: {_difference(call, self._folder)}.",
                hint="Record it with RESIN_RECORD, or replay with the settings of the recording.",
            )
        exchanges = _read(path).exchanges
        with self._lock:
            exchange = exchanges[min(self._given[call.id], len(exchanges) - 1)]
            self._given[call.id] += 1
            self._dollars += exchange.reply.dollars if exchange.reply else 0.0
        return exchange

    @staticmethod
    def _reply(exchange: Exchange) -> ModelReply:
        paid = exchange.reply
        free = None if paid is None else paid.model_copy(update={"dollars": 0.0})
        if free is not None and exchange.error is None:
            return free
        failure = exchange.error or Failure(message="The recorded exchange is empty.")
        error = ModelError(failure.message, hint=failure.hint)
        error.reply = free
        raise error


def _path(folder: Path, call: ModelCall) -> Path:
    return folder / f"{call.stage}-{call.id}.json"


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Alone in ``folder``, among threads and processes."""
    with (folder / _LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write(path: Path, recorded: Recorded) -> None:
    """Whole or not at all."""
    text = json.dumps(recorded.model_dump(mode="json"), ensure_ascii=False, indent=1)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text + "\n")
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _read(path: Path) -> Recorded:
    """Raises ModelUnavailable for a file that is no recording."""
    try:
        text = path.read_bytes().decode("utf-8", "surrogatepass")
        return Recorded.model_validate(json.loads(text))
    except (OSError, ValueError, ValidationError) as error:
        raise ModelUnavailable(
            f"{path} is not the recording of a call: {str(error)[:200]}",
            hint="Delete that file and record the call again.",
        ) from error


def _unwritable(folder: Path, error: OSError) -> ModelUnavailable:
    return ModelUnavailable(
        f"The recording cannot be written to {folder}: {error.strerror}.",
        hint="Let RESIN_RECORD name a folder that can be written to.",
    )


# ---------------------------------------------------------------- what differs


def _difference(call: ModelCall, folder: Path) -> str:
    """How ``call`` differs from the nearest recorded one of its stage."""
    held = [_read(path).call for path in sorted(folder.glob(f"{call.stage}-*.json"))]
    if not held:
        return "it holds no call of this stage"
    nearest = max(held, key=lambda one: _nearness(call, one))
    parts = []
    if nearest.prompt_version != call.prompt_version:
        parts.append(f"the prompt is version {call.prompt_version}, not {nearest.prompt_version}")
    elif nearest.system != call.system:
        parts.append("the system prompt differs under the same version")
    if nearest.model != call.model:
        parts.append(f"the model is {call.model}, not {nearest.model}")
    if _schema(nearest) != _schema(call):
        parts.append("the schema of the answer differs")
    if nearest.user != call.user:
        parts.append(_text_difference(call.user, nearest.user))
    return "in the nearest recorded call, " + "; ".join(parts)


def _nearness(call: ModelCall, other: ModelCall) -> tuple[bool, int, bool, bool, bool]:
    """The same data first, then the longest common beginning, then the rest."""
    return (
        call.user == other.user,
        _common(call.user, other.user),
        call.prompt_version == other.prompt_version,
        call.model == other.model,
        _schema(call) == _schema(other),
    )


def _schema(call: ModelCall) -> str:
    schema: Any = None if call.output is None else dict(call.output)
    return json.dumps(schema, sort_keys=True)


def _common(text: str, other: str) -> int:
    pairs = enumerate(zip(text, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(text), len(other)))


def _text_difference(asked: str, recorded: str) -> str:
    at = _common(asked, recorded)
    shown, other = asked[at : at + _SHOWN], recorded[at : at + _SHOWN]
    return f"the text differs from character {at} on: {shown!r}, not {other!r}"
