"""Batches under way: kept before they are submitted, looked at, fetched, closed.

What a crash may cost: a record without the provider's id stands for a batch that may have been
made. The next run looks among the account's latest batches for one of the same size and time;
only where that fails is something paid twice.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from resin_es.errors import ModelError, ModelUnavailable
from resin_es.llm.batch_report import BatchSettings, Tally
from resin_es.llm.batch_shelf import Shelf
from resin_es.llm.batch_sizes import batches, expected_dollars
from resin_es.llm.outputs import kept_ids
from resin_es.llm.pricing import Prices
from resin_es.ports.language import (
    BatchBook,
    BatchItem,
    BatchModel,
    BatchRecord,
    BatchState,
    BatchStatus,
    ModelCall,
    ModelReply,
    OutputCache,
)

ATTEMPTS = 4
"""So often something is tried that may just have met a bad moment."""
SKEW = timedelta(minutes=5)
LATEST = timedelta(minutes=30)
"""A lost batch was made from SKEW before its record (clocks differ) to LATEST after it."""
_OUTCOMES: Mapping[BatchState | None, str] = {
    BatchState.EXPIRED: "expired",
    BatchState.CANCELED: "canceled",
}


def lost_batch(model: BatchModel, record: BatchRecord, known: Iterable[str]) -> str | None:
    """The id of the batch that was made for ``record`` although nobody heard of it; none of
    ``known``. Raises ModelError."""
    taken, wanted = set(known), set(record.call_ids)
    for status in model.recent(record.created_at - SKEW):
        late = status.created_at and status.created_at > record.created_at + LATEST
        if status.id in taken or status.total != len(wanted) or late:
            continue
        if status.state is BatchState.RUNNING or _holds(model, status, wanted):
            return status.id
    return None


def _holds(model: BatchModel, status: BatchStatus, wanted: set[str]) -> bool:
    first = next(iter(model.results(status.id, {})), None)
    return first is not None and first.call_id in wanted


class Desk:
    """The batches of one run, those that an earlier run left included. ``enter`` is told of
    each reply once, with a key of its own. Not thread-safe."""

    def __init__(
        self,
        model: BatchModel,
        book: BatchBook,
        cache: OutputCache,
        enter: Callable[[ModelCall, ModelReply, str], None],
        *,
        left: Callable[[], float | None],
        prices: Prices,
        settings: BatchSettings,
        sleep: Callable[[float], None],
        now: Callable[[], datetime],
    ) -> None:
        self._model, self._book, self._cache, self._enter = model, book, cache, enter
        self._left, self._prices, self._settings = left, prices, settings
        self._sleep, self._now = sleep, now
        self._done: dict[str, set[str]] = {}
        self._asked: dict[str, set[str]] = {}
        self._entered: set[str] = set()
        self._misses = 0
        self.shelf = Shelf(book)
        self.spoiled: set[str] = set()
        """Calls that are not submitted any more in this run."""
        self.tally = Tally()

    # ------------------------------------------------------------ an earlier run's

    def resume(self) -> None:
        """Take up what is open. Raises StoreError, ModelError."""
        records = self._book.open()
        known = {record.batch_id for record in records}
        for record in records:
            named = record if record.batch_id else self._named(record, known)
            status = self._model.status(named.batch_id) if named else None
            if named is None or status is None or status.state is BatchState.FAILED:
                self._book.close(record.key)  # gone, or never made: its calls are free again
                continue
            known.add(named.batch_id)
            self.shelf.take(named)
            self.shelf.see(named.key, status)
            self.tally.counts["resumed"] += 1

    def _named(self, record: BatchRecord, known: Iterable[str]) -> BatchRecord | None:
        """The record with the id of the batch that was made for it, if any was."""
        found = lost_batch(self._model, record, known)
        if found is None:
            return None
        named = record.model_copy(update={"batch_id": found})
        self._book.keep(named)
        return named

    # ------------------------------------------------------------ submitting

    def send(self, calls: Sequence[ModelCall]) -> bool:
        """Submit ``calls`` of one stage, as far as the money goes; whether some are left that
        it may be enough for later, when running batches turn out cheaper than expected. Raises
        ModelError after some attempts, ModelUnavailable at once, StoreError."""
        held: list[ModelCall] = []
        for batch in batches(calls, self._settings):
            paid = batch[: self._affordable(batch)]
            held += batch[len(paid) :]
            if paid:
                self._submit(paid)
        if held and self.shelf.running:
            return True
        self.spoiled.update(call.id for call in held)
        self.tally.counts["withheld"] += len(held)
        return False

    def _affordable(self, calls: Sequence[ModelCall]) -> int:
        """How many of ``calls`` the money is enough for."""
        left = self._left()
        if left is None:
            return len(calls)
        left -= self.shelf.reserved()
        for number, call in enumerate(calls):
            left -= expected_dollars(self._prices, call)
            if left < 0:
                return number
        return len(calls)

    def _submit(self, calls: Sequence[ModelCall]) -> None:
        record = BatchRecord(
            key=uuid.uuid4().hex,
            stage=calls[0].stage,
            model=calls[0].model,
            call_ids=tuple(call.id for call in calls),
            dollars=sum(expected_dollars(self._prices, call) for call in calls),
            created_at=self._now(),
        )
        self._book.keep(record)
        batch_id = self._made(record, calls)
        record = record.model_copy(update={"batch_id": batch_id})
        self._book.keep(record)
        self.shelf.take(record)
        self.tally.counts["submitted"] += 1
        self.tally.counts["items"] += len(calls)

    def _made(self, record: BatchRecord, calls: Sequence[ModelCall]) -> str:
        """The batch's id. A failed attempt may have made it all the same, so it is looked for
        before it is tried again."""
        attempt = 1
        while True:
            try:
                return self._model.submit(calls)
            except ModelUnavailable:
                if attempt == 1:  # refused as a whole, so nothing was made
                    self._book.close(record.key)
                raise
            except ModelError:
                known = [one.batch_id for one in self.shelf.records.values()]
                found = lost_batch(self._model, record, known)
                if found is not None:
                    return found
                if attempt == ATTEMPTS:
                    raise
            self._sleep(self._settings.first_pause * attempt)
            attempt += 1

    # ------------------------------------------------------------ waiting

    def look(self) -> bool:
        """Ask how the running batches stand; whether any has ended. A look that fails is made
        up for by the next one, unless several in a row fail. Raises ModelError."""
        before = self.shelf.running
        for key in before:
            try:
                status = self._model.status(self.shelf.records[key].batch_id)
            except ModelError:
                self._misses += 1
                if self._misses >= ATTEMPTS:
                    raise
                break
            self._misses = 0
            self.shelf.see(key, status)
            if status.state is BatchState.FAILED:
                self._vanished(self.shelf.records[key])
        return len(self.shelf.running) < len(before)

    def _vanished(self, record: BatchRecord) -> None:
        self._problem(record, "the provider does not have it any more")
        self._spoil(record.call_ids, "errored")
        self.shelf.leave(record.key, ())

    # ------------------------------------------------------------ fetching

    def fetch(self, calls: Mapping[str, ModelCall]) -> dict[str, ModelReply]:
        """Replies to those of ``calls`` whose batch has ended; calls that have none there are
        spoiled. The batches stay open until :meth:`settle`. Raises ModelError."""
        replies: dict[str, ModelReply] = {}
        for key in sorted(self.shelf.with_any(calls, running=False)):
            record = self.shelf.records[key]
            here = {one: calls[one] for one in record.call_ids if one in calls}
            for item in self._outcomes(record, here):
                if item.reply is not None:
                    replies[item.call_id] = item.reply
                    self._pay(record, here[item.call_id], item.reply)
        return replies

    def _outcomes(self, record: BatchRecord, calls: Mapping[str, ModelCall]) -> list[BatchItem]:
        """Those of ``calls``. Which of the record's calls are done at all is remembered."""
        done: set[str] = set()
        wanted: dict[str, BatchItem] = {}
        for item in self._items(record, calls):
            if item.call_id in calls:
                wanted[item.call_id] = item
            if item.state is BatchState.DONE:
                done.add(item.call_id)
        self._done[record.key] = done
        self._asked.setdefault(record.key, set()).update(calls)
        for one in calls:
            found = wanted.get(one)
            if found is None or found.reply is None:
                self._spoil([one], _OUTCOMES.get(found.state if found else None, "errored"))
        for error, count in Counter(item.error for item in wanted.values()).items():
            if error:
                self._problem(record, f"{count} items: {error}")
        return list(wanted.values())

    def _items(self, record: BatchRecord, calls: Mapping[str, ModelCall]) -> list[BatchItem]:
        """All items, their replies where wanted. A stream that breaks off is begun again."""
        attempt = 1
        while True:
            try:
                return list(self._model.results(record.batch_id, calls))
            except ModelError:
                if attempt == ATTEMPTS:
                    raise
            self._sleep(self._settings.first_pause * attempt)
            attempt += 1

    def _pay(self, record: BatchRecord, call: ModelCall, reply: ModelReply) -> None:
        key = f"{record.batch_id}-{call.id}"
        if key in self._entered:
            return
        self._entered.add(key)
        self._enter(call, reply, key)
        self.tally.usage += reply.usage
        self.tally.dollars += reply.dollars

    def settle(self) -> None:
        """Close the batches that were fetched from: what they held has landed. Finished items
        that nobody asked for yet stay open, unless the cache has them."""
        for key, asked in self._asked.items():
            self._leave_uncached(key, self._done[key] - asked)
        self._asked.clear()
        self._done.clear()

    def finish(self) -> None:
        """Close what has ended and left nothing to fetch, as after a crash between landing and
        closing."""
        for key in self.shelf.records.keys() - set(self.shelf.running):
            self._leave_uncached(key, self.shelf.records[key].call_ids)
        self.tally.counts["open"] = len(self.shelf.records)

    def _leave_uncached(self, key: str, call_ids: Iterable[str]) -> None:
        rest = set(call_ids)
        self.shelf.leave(key, rest - kept_ids(self._cache, self.shelf.records[key].stage, rest))

    def _spoil(self, call_ids: Iterable[str], outcome: str) -> None:
        more = set(call_ids) - self.spoiled
        self.spoiled |= more
        self.tally.counts[outcome] += len(more)

    def _problem(self, record: BatchRecord, what: str) -> None:
        self.tally.problems.append(f"batch {record.batch_id} ({record.stage}): {what}")
