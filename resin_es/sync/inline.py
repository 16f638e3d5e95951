"""A queue without a broker: tasks wait in this process and are worked off by it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from resin_es.ports.sync import QueueName, TaskName
from resin_es.sync.dispatch import QUEUE_OF

if TYPE_CHECKING:
    from resin_es.sync.reports import WorkReport
    from resin_es.sync.service import SyncService

FIRST_TO_LAST: tuple[QueueName, ...] = ("index", "read", "sync")
"""All documents answer before any is read."""


class Task(NamedTuple):
    """A task as it was put."""

    name: TaskName
    source: str = ""
    keys: tuple[str, ...] = ()


class InlineQueue:
    """Implements ``ports.sync.TaskQueue``."""

    def __init__(self) -> None:
        self._waiting: dict[QueueName, deque[Task]] = {name: deque() for name in FIRST_TO_LAST}
        self._first: dict[QueueName, deque[Task]] = {name: deque() for name in FIRST_TO_LAST}

    def put(
        self, task: TaskName, source: str = "", keys: Sequence[str] = (), *, first: bool = False
    ) -> None:
        lists = self._first if first else self._waiting
        lists[QUEUE_OF[task]].append(Task(task, source, tuple(keys)))

    def depth(self, queue: QueueName) -> int:
        return len(self._first[queue]) + len(self._waiting[queue])

    def take(self) -> Task | None:
        """The next task, taken out; None where none waits."""
        for name in FIRST_TO_LAST:
            for waiting in (self._first[name], self._waiting[name]):
                if waiting:
                    return waiting.popleft()
        return None


def run_task(service: SyncService, task: Task) -> WorkReport | None:
    """Do one task. Raises what the service's method raises."""
    if task.name == "embed_and_commit":
        return service.embed_and_commit(task.source, task.keys)
    if task.name == "read_document":
        return service.read_document(task.source, task.keys)
    if task.name == "purge_document":
        return service.purge_document(task.source, task.keys)
    if task.name == "sync_source":
        service.sync_source(task.source)
    else:
        service.reconcile()
    return None


def work_off(
    service: SyncService,
    queue: InlineQueue,
    *,
    seen: Callable[[WorkReport], None] = lambda report: None,
) -> None:
    """Do all that waits, and what the registry holds beyond the queue's bound, until nothing
    more is due now, or a round got nothing done. Raises what the service raises; the rest stays
    in the registry."""
    idle = False
    while True:
        moved = False
        while (task := queue.take()) is not None:
            report = run_task(service, task)
            if report is not None:
                seen(report)
                moved |= bool(report.done or report.deleted or report.retried or report.dead)
        if not service.reconcile().queued or (idle and not moved):
            return
        idle = not moved
