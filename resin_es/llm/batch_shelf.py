"""The open batches of a run: which calls are in which, and which of them still run."""

from __future__ import annotations

from collections.abc import Iterable

from resin_es.ports.language import BatchBook, BatchRecord, BatchState, BatchStatus


class Shelf:
    """Records that are open, by their key, in step with ``book``. Not thread-safe."""

    def __init__(self, book: BatchBook) -> None:
        self._book = book
        self.records: dict[str, BatchRecord] = {}
        self._where: dict[str, str] = {}
        self._running: dict[str, int] = {}
        self._total = 0

    def take(self, record: BatchRecord) -> None:
        """A batch that runs, as far as is known. ``book`` has it already."""
        self.records[record.key] = record
        self._running[record.key] = 0
        self._total += len(record.call_ids)
        self._where.update(dict.fromkeys(record.call_ids, record.key))

    def see(self, key: str, status: BatchStatus) -> None:
        """What the provider says of it now."""
        if status.state is BatchState.RUNNING:
            self._running[key] = status.done
        else:
            self._running.pop(key, None)

    def leave(self, key: str, call_ids: Iterable[str]) -> None:
        """Nothing but ``call_ids`` is still to be got from it; with none of them it is closed."""
        record, left = self.records[key], set(call_ids)
        rest = tuple(one for one in record.call_ids if one in left)
        if len(rest) == len(record.call_ids):
            return
        for one in set(record.call_ids) - left:
            self._where.pop(one, None)
        if rest:
            smaller = record.model_copy(update={"call_ids": rest})
            self.records[key] = smaller
            self._book.keep(smaller)
        else:
            del self.records[key]
            self._book.close(key)

    @property
    def running(self) -> list[str]:
        """Keys of the batches that have not ended."""
        return list(self._running)

    def with_any(self, call_ids: Iterable[str], *, running: bool) -> set[str]:
        """Keys of the batches that hold any of the calls and run, or have ended."""
        keys = {self._where[one] for one in call_ids if one in self._where}
        return keys & self._running.keys() if running else keys - self._running.keys()

    def progress(self) -> tuple[int, int]:
        """Items with an outcome, and all."""
        waiting = sum(len(self.records[key].call_ids) for key in self._running)
        return self._total - waiting + sum(self._running.values()), self._total

    def reserved(self) -> float:
        """US dollars that the running batches may cost."""
        return sum(self.records[key].dollars for key in self._running)
