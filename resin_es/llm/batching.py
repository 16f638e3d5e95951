"""Reading by batches, at half the price: the output cache is filled beforehand.

First the passages of all documents that need reading, then the units of those passages. The
ordinary run that follows finds its answers cached and asks only for what is missing: items that
expired, failed, were cut off or did not fit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from pydantic import Field

from resin_es.extract.drafting import Previous
from resin_es.model import Document
from resin_es.model.base import Frozen
from resin_es.ports import Progress
from resin_es.ports.language import (
    BatchBook,
    BatchModel,
    ModelCall,
    ModelReply,
    OutputCache,
    Usage,
)


class BatchSettings(Frozen):
    """``documents``: how many are read together (a slice; its calls are in memory at a time).
    ``requests`` and ``bytes`` bound one batch; the provider takes 100,000 and 256 MB. Seconds
    between two looks grow from ``first_pause`` to ``longest_pause``."""

    documents: int = Field(1_000, gt=0)
    requests: int = Field(10_000, gt=0, le=100_000)
    bytes: int = Field(64_000_000, gt=0, le=256_000_000)
    first_pause: float = Field(10.0, gt=0)
    longest_pause: float = Field(300.0, gt=0)


class BatchReport(Frozen):
    """What reading by batches did. ``landed`` items went into the cache; ``errored``,
    ``expired``, ``canceled`` and ``unfit`` ones are left to the ordinary run, as are
    ``withheld`` calls, which the cap on money did not allow."""

    submitted: int = 0
    """Batches."""
    resumed: int = 0
    """Batches of an earlier run."""
    items: int = 0
    landed: int = 0
    errored: int = 0
    expired: int = 0
    canceled: int = 0
    unfit: int = 0
    withheld: int = 0
    usage: Usage = Usage()
    dollars: float = 0.0
    problems: tuple[str, ...] = ()


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


def read_in_batches(
    documents: Iterable[Document],
    surveyor: Surveyor,
    model: BatchModel,
    cache: OutputCache,
    book: BatchBook,
    purse: Purse,
    *,
    name: str,
    left: Callable[[], float | None] = lambda: None,
    price: Callable[[ModelCall], float] = lambda call: 0.0,
    settings: BatchSettings | None = None,
    progress: Progress | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> BatchReport:
    """Fill ``cache`` with what reading ``documents`` by the model ``name`` will ask for.

    ``documents`` are gone over several times and must be the same each time (DocumentSpool).
    ``left``: dollars that may still be spent, None for any; ``price``: what a call may cost at
    the ordinary price. Batches of an earlier run that are still open are gone on with.

    Raises StoreError, ModelUnavailable, ModelError. A KeyboardInterrupt goes through; batches
    under way stay under way and are resumed by the next run.
    """
    raise NotImplementedError


def cancel_batches(model: BatchModel, book: BatchBook) -> list[str]:
    """Ask the provider to stop every open batch; returns their ids. What was finished in them
    is picked up by the next run in batches."""
    raise NotImplementedError
