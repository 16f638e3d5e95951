"""Handing documents to the queue, never more than it may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resin_es.errors import QueueUnavailable
from resin_es.ports.sync import QueueName, TaskName, TaskQueue
from resin_es.sync.settings import SyncSettings

QUEUE_OF: Mapping[TaskName, QueueName] = {
    "sync_source": "sync",
    "reconcile": "sync",
    "read_document": "read",
    "embed_and_commit": "index",
    "purge_document": "index",
}


@dataclass
class Sent:
    """``queued`` documents went in ``tasks`` messages, ``held`` stay in the registry."""

    queued: int = 0
    held: int = 0
    tasks: int = 0


class Dispatch:
    """Puts tasks until ``share`` of the bound is used up, or the queue is full. A queue that
    is away is remembered in ``error`` and asked no more: the registry has what is to be done."""

    def __init__(self, queue: TaskQueue, settings: SyncSettings, *, share: int = 1) -> None:
        self._queue, self._settings = queue, settings
        self._share = max(1, settings.queue_bound // max(1, share))
        self._rooms: dict[QueueName, int] = {}
        self._depths: dict[QueueName, int] = {}
        self.sent = Sent()
        self.error = ""

    def depth(self, task: TaskName) -> int:
        """Messages that waited when it was first asked; 0 where the queue is away."""
        name = QUEUE_OF[task]
        if name not in self._depths and not self.error:
            try:
                self._depths[name] = self._queue.depth(name)
            except QueueUnavailable as error:
                self.error = str(error)
        return self._depths.get(name, 0)

    def room(self, task: TaskName) -> int:
        """Messages that may still be put."""
        depth, name = self.depth(task), QUEUE_OF[task]
        if self.error:
            return 0
        left = max(0, self._settings.queue_bound - depth)
        return self._rooms.setdefault(name, min(left, self._share))

    def send(
        self,
        task: TaskName,
        source: str,
        keys: Sequence[str],
        *,
        alone: bool = False,
        first: bool = False,
    ) -> int:
        """Put documents in chunks (``alone``: one a message; ``first``: before others of the
        queue); returns how many were held."""
        size = 1 if alone else self._settings.chunk
        for start in range(0, len(keys), size):
            chunk = list(keys[start : start + size])
            if not self._put(task, source, chunk, first):
                left = len(keys) - start
                self.sent.held += left
                return left
        return 0

    def _put(self, task: TaskName, source: str, keys: list[str], first: bool) -> bool:
        if self.room(task) <= 0:
            return False
        try:
            self._queue.put(task, source, keys, first=first)
        except QueueUnavailable as error:
            self.error = str(error)
            return False
        self._rooms[QUEUE_OF[task]] -= 1
        self.sent.queued += len(keys)
        self.sent.tasks += 1
        return True
