"""Reading by batches, at half the price: the output cache is filled beforehand.

First the passages of all documents that need reading, then the units of those passages. The
reader itself is asked, over a model that has only what a batch has brought: whatever else it
wants goes into the next batch. So an answer is checked, kept or split by the same code as in an
ordinary run; the ordinary run that follows finds answers cached and asks only for what is
missing: items that expired, failed or did not fit.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timezone
from typing import Protocol

from resin_es.errors import ModelError
from resin_es.extract.drafting import Previous
from resin_es.extract.read import read_many
from resin_es.llm.batch_desk import Desk, lost_batch
from resin_es.llm.batch_report import BatchReport, BatchSettings
from resin_es.llm.outputs import kept_outputs, known_splits
from resin_es.llm.pricing import Prices
from resin_es.llm.reader import ModelReader
from resin_es.model import Document
from resin_es.model.base import Frozen
from resin_es.ports import Progress
from resin_es.ports.language import (
    BatchBook,
    BatchModel,
    BatchState,
    ModelCall,
    ModelReply,
    OutputCache,
    Stage,
)

__all__ = [
    "BatchReport",
    "BatchSettings",
    "BatchesLeft",
    "OpenBatch",
    "cancel_batches",
    "open_batches",
    "read_in_batches",
]

GROWTH = 1.5
"""How much longer each pause between two looks is than the one before."""


def _counted(batches: int) -> str:
    return "1 batch goes" if batches == 1 else f"{batches} batches go"


class BatchesLeft(KeyboardInterrupt):
    """Interrupted while batches were under way: they go on, and the next run lands them."""

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids = tuple(ids)
        super().__init__(
            f"interrupted: {_counted(len(self.ids))} on at the provider and will be paid for "
            f"({', '.join(self.ids[:5])}{', …' if len(self.ids) > 5 else ''}). Run the same "
            "command again to take up the results, or stop them: resin-es batches --cancel"
        )


class Documents(Protocol):
    """Documents that are the same however often they are gone over (DocumentSpool)."""

    def __len__(self) -> int: ...

    def part(self, start: int, stop: int) -> Iterator[Document]:
        """Documents ``start`` to ``stop - 1``, or to the end."""
        ...


class Surveyor(Protocol):
    """What ``Indexer.survey`` does."""

    def survey(
        self, documents: Iterable[Document]
    ) -> Iterator[tuple[Document, Previous | None]]: ...


class Purse(Protocol):
    """Where what a batch cost is entered; ``MeteredModel`` is one."""

    def book(
        self, call: ModelCall, reply: ModelReply, *, key: str = "", batch: bool = False
    ) -> None: ...

    def left(self) -> float | None:
        """US dollars that may still be spent, None for any."""
        ...


def read_in_batches(
    documents: Documents,
    surveyor: Surveyor,
    model: BatchModel,
    cache: OutputCache,
    book: BatchBook,
    purse: Purse,
    *,
    name: str,
    prices: Prices | None = None,
    settings: BatchSettings | None = None,
    progress: Progress | None = None,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
) -> BatchReport:
    """Fill ``cache`` with what reading ``documents`` by the model ``name`` will ask for.

    All first rounds are submitted before anything is waited for. Batches that an earlier run
    left open are gone on with. ``prices`` say what a batch may cost, where ``purse`` has a cap.

    Raises StoreError, ModelUnavailable, ModelError; BatchesLeft for a KeyboardInterrupt while
    batches are under way.
    """
    chosen = settings or BatchSettings()

    def enter(call: ModelCall, reply: ModelReply, key: str) -> None:
        purse.book(call, reply, key=key, batch=True)

    desk = Desk(
        model,
        book,
        cache,
        enter,
        left=purse.left,
        prices=prices or {},
        settings=chosen,
        sleep=sleep,
        now=now,
    )
    run = _Run(documents, surveyor, cache, desk, name, chosen, progress)
    try:
        run.all(sleep)
    except KeyboardInterrupt:
        if not desk.shelf.running:
            raise
        ids = [desk.shelf.records[key].batch_id for key in desk.shelf.running]
        raise BatchesLeft(ids) from None
    return desk.tally.report()


class OpenBatch(Frozen):
    """An open batch and how it stands. Where the provider's answer got lost, ``id`` is empty and
    ``state`` None: nobody knows whether it was made."""

    id: str
    stage: Stage
    model: str
    calls: int
    created_at: datetime
    state: BatchState | None
    done: int = 0


def open_batches(model: BatchModel, book: BatchBook) -> list[OpenBatch]:
    """What :func:`read_in_batches` would go on with, oldest first. Raises StoreError,
    ModelError."""
    found = []
    for record in book.open():
        status = model.status(record.batch_id) if record.batch_id else None
        found.append(
            OpenBatch(
                id=record.batch_id,
                stage=record.stage,
                model=record.model,
                calls=len(record.call_ids),
                created_at=record.created_at,
                state=status.state if status else None,
                done=status.done if status else 0,
            )
        )
    return found


def cancel_batches(model: BatchModel, book: BatchBook) -> list[str]:
    """Ask the provider to stop every open batch that still runs; returns their ids. What was
    finished in them is taken up by the next run in batches. Those whose id got lost are looked
    for, and forgotten where the provider has none. Raises StoreError, ModelError."""
    _settle_lost(model, book)
    ids = [one.id for one in open_batches(model, book) if one.state is BatchState.RUNNING]
    for one in ids:
        model.cancel(one)
    return ids


def _settle_lost(model: BatchModel, book: BatchBook) -> None:
    records = book.open()
    known = {record.batch_id for record in records}
    for record in records:
        if record.batch_id:
            continue
        found = lost_batch(model, record, known)
        if found is None:
            book.close(record.key)
        else:
            known.add(found)
            book.keep(record.model_copy(update={"batch_id": found}))


class _Landed:
    """A LanguageModel that has what batches brought, and notes what else it is asked for."""

    def __init__(self, spoiled: set[str]) -> None:
        self.replies: dict[str, ModelReply] = {}
        self.used: dict[str, ModelCall] = {}
        self.wanted: dict[str, ModelCall] = {}
        self._spoiled = spoiled

    def call(self, call: ModelCall) -> ModelReply:
        reply = self.replies.get(call.id)
        if reply is not None:
            self.used[call.id] = call
            return reply
        if call.id not in self._spoiled:
            self.wanted[call.id] = call
        raise ModelError("its batch has not brought it.")

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        raise ModelError("nothing is streamed in a batch.")


class _Slice:
    """Documents ``start`` to ``stop - 1``, and the batches that they wait for: all of them, or,
    ``short`` of money, the first to end."""

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop
        self.waits: set[str] = set()
        self.short = False


class _Run:
    def __init__(
        self,
        documents: Documents,
        surveyor: Surveyor,
        cache: OutputCache,
        desk: Desk,
        name: str,
        settings: BatchSettings,
        progress: Progress | None,
    ) -> None:
        self._documents, self._surveyor, self._cache = documents, surveyor, cache
        self._desk, self._name, self._settings = desk, name, settings
        self._progress = progress

    def all(self, sleep: Callable[[float], None]) -> None:
        self._desk.resume()
        size = self._settings.documents
        starts = range(0, len(self._documents), size)
        open_ = [one for start in starts if self._goes_on(one := _Slice(start, start + size))]
        pause = self._settings.first_pause
        while open_:
            self._tell()
            if self._desk.look():
                open_ = [one for one in open_ if self._waits(one) or self._goes_on(one)]
                pause = self._settings.first_pause
                continue
            sleep(pause)
            pause = min(pause * GROWTH, self._settings.longest_pause)
        self._desk.finish()
        self._tell()

    def _waits(self, one: _Slice) -> bool:
        running = one.waits.intersection(self._desk.shelf.running)
        return len(running) == len(one.waits) if one.short else bool(running)

    def _goes_on(self, one: _Slice) -> bool:
        """Land what has come for a slice and submit what it asks for next; whether it waits for
        anything now."""
        work = list(self._surveyor.survey(self._documents.part(one.start, one.stop)))
        landed = _Landed(self._desk.spoiled)
        while work:
            landed.wanted.clear()
            reader = ModelReader(landed, self._cache, name=self._name, give_up=sys.maxsize)
            read_many(work, reader)
            found = self._desk.fetch(landed.wanted)
            if not found:
                break
            landed.replies.update(found)
        self._judge(landed.used)
        self._desk.settle()
        fresh = [call for call in landed.wanted.values() if self._is_fresh(call.id)]
        one.short = False
        for stage in dict.fromkeys(call.stage for call in fresh):
            one.short |= self._desk.send([call for call in fresh if call.stage == stage])
        running = self._desk.shelf.running
        waits = self._desk.shelf.with_any(landed.wanted, running=True)
        one.waits = set(running) if one.short else waits
        return bool(one.waits)

    def _is_fresh(self, call_id: str) -> bool:
        under_way = self._desk.shelf.with_any([call_id], running=True)
        return call_id not in self._desk.spoiled and not under_way

    def _judge(self, used: Mapping[str, ModelCall]) -> None:
        """Which of the answers the reader took. None is asked for again here."""
        calls = used.values()
        taken = kept_outputs(self._cache, calls).keys() | known_splits(self._cache, calls)
        unfit = used.keys() - taken
        self._desk.spoiled.update(used)
        self._desk.tally.counts["landed"] += len(used) - len(unfit)
        self._desk.tally.counts["unfit"] += len(unfit)

    def _tell(self) -> None:
        if self._progress is not None:
            done, total = self._desk.shelf.progress()
            self._progress.update(done, total, "calls in batches")
