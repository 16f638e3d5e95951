"""What happens when: drawn from a seed before anything starts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

Trouble = Literal[
    "worker killed",
    "task killed",
    "machine killed",
    "worker terminated",
    "beat killed",
    "redis flushed",
    "redis restarted",
    "elasticsearch restarted",
    "elasticsearch killed",
    "bulk calls fail",
]
Change = Literal["edit", "delete", "delete and tell", "bring back", "close", "open"]

TROUBLES: tuple[Trouble, ...] = get_args(Trouble)
OFTEN: tuple[Trouble, ...] = (
    "task killed",
    "worker killed",
    "machine killed",
    "worker terminated",
    "redis flushed",
    "bulk calls fail",
)
"""What comes again within one round of all troubles."""
CHANGES: tuple[tuple[Change, int], ...] = (
    ("edit", 50),
    ("delete", 12),
    ("delete and tell", 14),
    ("bring back", 18),
    ("close", 3),
    ("open", 3),
)


@dataclass(frozen=True)
class Due:
    """Something to do, ``at`` seconds after the start."""

    at: float
    trouble: Trouble | None = None
    change: Change | None = None


def schedule(seconds: float, seed: int, *, changes_per_s: float, pause: float) -> list[Due]:
    """Troubles about ``pause`` seconds apart, every kind once before any comes the next round;
    changes to documents all the time."""
    chance = random.Random(seed)
    found = [*_troubles(chance, seconds, pause), *_changes(chance, seconds, changes_per_s)]
    return sorted(found, key=lambda one: one.at)


def _troubles(chance: random.Random, seconds: float, pause: float) -> Iterator[Due]:
    at, deck = pause, list[Trouble]()
    while at < seconds:
        if not deck:
            deck = [*TROUBLES, *OFTEN]
            chance.shuffle(deck)
        yield Due(at, trouble=deck.pop())
        at += pause * (0.5 + chance.random())


def _changes(chance: random.Random, seconds: float, per_s: float) -> Iterator[Due]:
    kinds, weights = zip(*CHANGES, strict=True)
    at = 1.0
    while at < seconds:
        yield Due(at, change=chance.choices(kinds, weights)[0])
        at += chance.expovariate(per_s)
