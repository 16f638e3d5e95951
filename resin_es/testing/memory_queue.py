"""A queue in memory: keeps tasks, hands them out, loses them, is away."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.errors import QueueUnavailable
from resin_es.ports.sync import QueueName, TaskName
from resin_es.sync.inline import InlineQueue, Task


class MemoryQueue(InlineQueue):
    """An InlineQueue that remembers in ``put_tasks`` what came in. ``away``: every call is a
    QueueUnavailable; ``flush`` loses all that waits, as Redis does when it is flushed."""

    def __init__(self) -> None:
        super().__init__()
        self.put_tasks: list[Task] = []
        self.away = False

    def put(
        self, task: TaskName, source: str = "", keys: Sequence[str] = (), *, first: bool = False
    ) -> None:
        self._there()
        self.put_tasks.append(Task(task, source, tuple(keys)))
        super().put(task, source, keys, first=first)

    def depth(self, queue: QueueName) -> int:
        self._there()
        return super().depth(queue)

    def flush(self) -> list[Task]:
        """Take everything out; returns what is lost."""
        lost: list[Task] = []
        while (task := self.take()) is not None:
            lost.append(task)
        return lost

    def _there(self) -> None:
        if self.away:
            raise QueueUnavailable("the broker cannot be reached.")
