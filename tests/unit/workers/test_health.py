"""Alive is who consumes."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.settings import Settings
from resin_es.workers import health
from resin_es.workers.health import Pulse, judge, next_pulse

FIRST = Pulse(host="h", pid=7, started=0.0, at=0.0, queues=("sync",), hands=2)


def after(*looks: tuple[int, list[float], int]) -> Pulse:
    """The pulse after a look every 5 seconds: (tasks taken, when those at work began, depth)."""
    pulse = FIRST
    for number, (taken, began, depth) in enumerate(looks, 1):
        pulse = next_pulse(pulse, 5.0 * number, taken, began, depth)
    return pulse


@pytest.mark.parametrize(
    ("looks", "since"),
    [
        ([(0, [], 0), (0, [], 0)], None),  # nothing to do
        ([(0, [], 3), (1, [9.0], 2), (2, [9.0], 1)], None),  # it takes
        ([(2, [4.0, 4.0], 9), (2, [4.0, 4.0], 9)], None),  # both hands full
        ([(2, [4.0, 4.0], 9), (2, [4.0], 9)], None),  # one has just become free
        ([(2, [4.0], 9), (2, [4.0], 9)], 10.0),  # a free hand, and nothing moves
        ([(0, [], 1), (0, [], 1), (0, [], 1)], 5.0),  # for longer and longer
        ([(0, [], 1), (0, [], 1), (1, [], 1)], None),  # and over
        ([(0, [], 1), (0, [], 0), (0, [], 1)], 15.0),  # somebody else took it
    ],
)
def test_since_when_messages_wait_before_a_free_hand(
    looks: list[tuple[int, list[float], int]], since: float | None
) -> None:
    assert after(*looks).waiting_since == since


def test_a_pulse_tells_of_the_longest_task() -> None:
    pulse = after((2, [4.0, 3.0], 0))
    assert (pulse.at, pulse.active, pulse.oldest, pulse.taken) == (5.0, 2, 3.0, 2)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, ""),
        ({"at": 969.0}, "silent for 31 s"),
        ({"waiting_since": 941.0, "depth": 8}, ""),
        ({"waiting_since": 939.0, "depth": 8}, "8 messages wait, and it took none for 61 s"),
        ({"oldest": 850.0}, ""),
        ({"oldest": 839.0}, "a task has run for 161 s, its limit is 100 s"),
    ],
)
def test_who_is_held_to_be_dead(fields: dict[str, Any], reason: str) -> None:
    pulse = FIRST.model_copy(update={"at": 1000.0, **fields})
    verdict = judge("w", pulse, 1000.0, task_s=100.0)
    assert verdict.alive == (not reason)
    assert reason in verdict.reason


class Broker:
    def __init__(self, *pulses: Pulse) -> None:
        self.pulses = pulses

    def told(self, kind: str = "worker") -> dict[str, Any]:
        return {f"w{n}": pulse.model_dump() for n, pulse in enumerate(self.pulses)}

    def close(self) -> None:
        pass


def test_only_workers_of_this_host_that_are_there_are_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here, gone = FIRST, FIRST.model_copy(update={"pid": 8})
    elsewhere = FIRST.model_copy(update={"host": "another"})
    monkeypatch.setattr(health, "redis_broker", lambda _: Broker(here, gone, elsewhere))
    found = health.check(Settings(), host="h", now=lambda: 100.0, runs=lambda pid: pid == 7)
    assert [(one.worker, one.alive) for one in found] == [("w0", False)]


def test_a_beat_that_puts_nothing_is_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"b": {"host": "h", "pid": 7, "at": 100.0}}

    class Beats(Broker):
        def told(self, kind: str = "worker") -> dict[str, Any]:
            assert kind == "beat"
            return words

    monkeypatch.setattr(health, "redis_broker", lambda _: Beats())
    settings = Settings(sync_seconds=60, reconcile_seconds=20)

    def look(now: float) -> list[bool]:
        found = health.check_beat(settings, host="h", now=lambda: now, runs=lambda pid: True)
        return [one.alive for one in found]

    assert look(170.0) == [True]
    assert look(171.0) == [False]
