"""How reading by batches is done, and what it did."""

from __future__ import annotations

from collections import Counter
from typing import Any

from pydantic import Field

from resin_es.model.base import Frozen
from resin_es.ports.language import Usage


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
    ``withheld`` calls, which the cap on money did not allow. ``usage`` and ``dollars`` are what
    the items cost, at batch prices."""

    submitted: int = 0
    """Batches."""
    resumed: int = 0
    """Batches of an earlier run."""
    items: int = 0
    """Calls in the batches submitted."""
    landed: int = 0
    errored: int = 0
    expired: int = 0
    canceled: int = 0
    unfit: int = 0
    withheld: int = 0
    open: int = 0
    """Batches that stay open: they hold results for documents that this run did not see."""
    usage: Usage = Usage()
    dollars: float = 0.0
    problems: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


class Tally:
    """What was done, as it is counted. Names are those of BatchReport."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.usage = Usage()
        self.dollars = 0.0
        self.problems: list[str] = []

    def report(self) -> BatchReport:
        return BatchReport(
            **self.counts, usage=self.usage, dollars=self.dollars, problems=tuple(self.problems)
        )
