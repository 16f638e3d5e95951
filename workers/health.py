"""Whether a worker consumes: not whether its process is there.

Every few seconds the worker's own loop writes down how it is, in Redis: how many tasks it took
and holds, and since when messages have been waiting although it had a hand free. A loop that
hangs writes nothing; one that lost its consumer writes that nothing moves.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resin_es.bootstrap.background import redis_broker
from resin_es.errors import QueueUnavailable
from resin_es.model.base import Frozen
from resin_es.ports.sync import QueueName

if TYPE_CHECKING:
    from celery import Celery

    from resin_es.settings import Settings

logger = logging.getLogger("resin_es.workers")

BEAT_S = 5.0
SILENT_S = 30.0
"""Without a word for so long, a loop hangs."""
STUCK_S = 60.0
"""Messages waiting for so long before a free hand: nothing is consumed."""
KEPT_S = 600.0
"""How long a last word is kept."""
OVER_S = 60.0
"""How far a task may run over its hard limit before the worker is held to have lost it."""


class Pulse(Frozen):
    """How a worker is, by its own word. Times are seconds since 1970.

    ``taken`` tasks since it started, ``active`` at this moment, of at most ``hands``; ``oldest``
    is when the longest of them began. ``waiting_since``: since when messages have been waiting
    while it had a hand free and took none.
    """

    host: str
    pid: int
    started: float
    at: float
    queues: tuple[str, ...]
    hands: int
    taken: int = 0
    active: int = 0
    oldest: float | None = None
    depth: int = 0
    waiting_since: float | None = None


class Verdict(Frozen):
    """``alive``, and if not why not."""

    worker: str
    alive: bool
    reason: str = ""


def next_pulse(before: Pulse, now: float, taken: int, began: Sequence[float], depth: int) -> Pulse:
    """The next word: ``began`` holds when each task at work began. Pure."""
    moved = taken != before.taken or len(began) < before.active
    idle = not moved and depth > 0 and len(began) < before.hands
    return before.model_copy(
        update={
            "at": now,
            "taken": taken,
            "active": len(began),
            "oldest": min(began, default=None),
            "depth": depth,
            "waiting_since": (before.waiting_since or now) if idle else None,
        }
    )


def judge(name: str, pulse: Pulse, now: float, task_s: float) -> Verdict:
    """Whether a worker consumes. Pure."""
    reason = ""
    if now - pulse.at > SILENT_S:
        reason = f"its loop has been silent for {now - pulse.at:.0f} s"
    elif pulse.waiting_since is not None and now - pulse.waiting_since > STUCK_S:
        waited = now - pulse.waiting_since
        reason = f"{pulse.depth} messages wait, and it took none for {waited:.0f} s"
    elif pulse.oldest is not None and now - pulse.oldest > task_s + OVER_S:
        reason = f"a task has run for {now - pulse.oldest:.0f} s, its limit is {task_s:.0f} s"
    return Verdict(worker=name, alive=not reason, reason=reason)


def check(
    settings: Settings,
    *,
    host: str | None = None,
    now: Callable[[], float] = time.time,
    runs: Callable[[int], bool] | None = None,
) -> list[Verdict]:
    """The workers of this host; those whose process is gone have nothing to say. Raises
    QueueUnavailable."""
    words = _words(settings, "worker", host, runs)
    return [
        judge(name, Pulse.model_validate(word), now(), settings.task_seconds)
        for name, word in words.items()
    ]


def check_beat(
    settings: Settings,
    *,
    host: str | None = None,
    now: Callable[[], float] = time.time,
    runs: Callable[[int], bool] | None = None,
) -> list[Verdict]:
    """The beats of this host: alive is who has lately put something. Raises QueueUnavailable."""
    longest = 2 * min(settings.sync_seconds, settings.reconcile_seconds) + SILENT_S
    return [
        judge_beat(name, now() - word["at"], longest)
        for name, word in _words(settings, "beat", host, runs).items()
    ]


def judge_beat(name: str, silent_s: float, longest_s: float) -> Verdict:
    """Whether a beat puts what is due. Pure."""
    reason = f"it has put nothing for {silent_s:.0f} s" if silent_s > longest_s else ""
    return Verdict(worker=name, alive=not reason, reason=reason)


def _words(
    settings: Settings, kind: str, host: str | None, runs: Callable[[int], bool] | None
) -> dict[str, dict[str, Any]]:
    here, present = host or socket.gethostname(), runs or _runs
    broker = redis_broker(settings)
    try:
        told = broker.told(kind)
    finally:
        broker.close()
    return {
        name: word for name, word in told.items() if word["host"] == here and present(word["pid"])
    }


def watch(app: Celery, settings: Settings, name: str, queues: Sequence[QueueName]) -> None:
    """Have the worker of ``app`` tell how it is."""
    from celery import bootsteps

    class Watch(bootsteps.StartStopStep):  # type: ignore[misc]
        """A step of the worker: its timer runs in the loop that consumes."""

        requires = ("celery.worker.components:Timer", "celery.worker.components:Pool")

        def __init__(self, parent: Any, **options: Any) -> None:
            super().__init__(parent, **options)
            self._teller: Teller | None = None
            self._timer: Any = None

        def start(self, parent: Any) -> None:
            self._teller = Teller(settings, name, queues, int(parent.concurrency))
            self._teller.tell()
            self._timer = parent.timer.call_repeatedly(BEAT_S, self._teller.tell)

        def stop(self, parent: Any) -> None:
            if self._timer is not None:
                self._timer.cancel()
            if self._teller is not None:
                self._teller.leave()

    app.steps["worker"].add(Watch)


class Teller:
    """Writes a worker's pulse; a Redis that is away is not its affair (the loop tells of it)."""

    def __init__(
        self, settings: Settings, name: str, queues: Sequence[QueueName], hands: int
    ) -> None:
        now = time.time()
        self._name, self._queues = name, tuple(queues)
        self._broker = redis_broker(settings)
        self._pulse = Pulse(
            host=socket.gethostname(),
            pid=os.getpid(),
            started=now,
            at=now,
            queues=self._queues,
            hands=hands,
        )

    def tell(self) -> None:
        taken, began = _celery_state()
        try:
            depth = sum(self._broker.depth(queue) for queue in self._queues)
            self._pulse = next_pulse(self._pulse, time.time(), taken, began, depth)
            self._broker.tell(self._name, self._pulse.model_dump(), KEPT_S)
        except QueueUnavailable as error:
            logger.warning("nobody hears how this worker is: %s", error)

    def leave(self) -> None:
        try:
            self._broker.forget(self._name)
        except QueueUnavailable as error:
            logger.warning("this worker leaves unheard: %s", error)
        self._broker.close()


def _celery_state() -> tuple[int, list[float]]:
    """Tasks taken since the start, and when each one at work began (by the wall clock)."""
    from celery.worker import state

    total: Mapping[str, int] = state.total_count
    active = list(state.active_requests)
    return sum(total.values()), [float(one.time_start or time.time()) for one in active]


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True
