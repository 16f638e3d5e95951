"""Requests and tokens per minute, by a clock that the test moves."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace

import pytest

from resin_es.adapters.limits import LONGEST, LimitsRateLimiter
from resin_es.errors import ModelUnavailable, SettingsError

START = 1_800_000_000.0
"""On the edge of a minute: the library counts by those of the clock."""


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self) -> None:
        self.now = START
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("limits.storage.memory.time", SimpleNamespace(time=made))
    return made


def limiter(clock: Clock, requests: int | None, tokens: int | None) -> LimitsRateLimiter:
    return LimitsRateLimiter(requests, tokens, clock=clock, sleep=clock.sleep)


def test_without_limits_nothing_waits_and_the_library_is_not_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "limits", None)
    assert LimitsRateLimiter(None, None).wait(10**9) == 0.0
    with pytest.raises(ModelUnavailable, match="limits is missing"):
        LimitsRateLimiter(1, None)


def test_so_many_requests_go_at_once_and_the_next_one_waits(clock: Clock) -> None:
    limit = limiter(clock, 3, None)
    assert [limit.wait(10**6) for _ in range(3)] == [0.0, 0.0, 0.0]
    waited = limit.wait(1)
    assert waited == pytest.approx(clock.now - START)
    assert waited >= 60, "three in one minute: the fourth belongs to the next"
    assert len(clock.slept) < 60, "it sleeps instead of spinning"


def test_tokens_are_counted_by_what_a_call_takes(clock: Clock) -> None:
    limit = limiter(clock, None, 1_000)
    assert limit.wait(400) == limit.wait(600) == 0.0
    assert limit.wait(500) > 0


def test_no_minute_takes_more_than_its_limit(clock: Clock) -> None:
    limit = limiter(clock, None, 1_000)
    sent: list[tuple[float, int]] = []
    for number in range(60):
        tokens = 100 + 37 * (number % 5)
        limit.wait(tokens)
        sent.append((clock.now, tokens))
    for minute in range(int((clock.now - START) // 60) + 1):
        begin = START + 60 * minute
        assert sum(n for at, n in sent if begin <= at < begin + 60) <= 1_000
    assert clock.now - START < 60 * 14, "60 calls of 174 tokens on average take about 11 minutes"


def test_a_call_over_a_whole_minute_goes_out_alone(clock: Clock) -> None:
    limit = limiter(clock, None, 1_000)
    assert limit.wait(5_000) == 0.0
    assert limit.wait(1) > 0, "it took the whole minute"


def test_a_single_sleep_is_short_whatever_the_limit(clock: Clock) -> None:
    limit = limiter(clock, 1, 10)
    for _ in range(3):
        limit.wait(10)
    assert max(clock.slept) <= LONGEST


def test_threads_share_one_limit(clock: Clock) -> None:
    limit = limiter(clock, 5, None)
    waited: list[float] = []
    threads = [
        threading.Thread(target=lambda: waited.append(limit.wait(1)), daemon=True) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert len(waited) == 6
    assert sum(one > 0 for one in waited) >= 1
    assert clock.now - START >= 60


def test_an_unknown_storage_is_refused_without_its_password() -> None:
    with pytest.raises(SettingsError) as caught:
        LimitsRateLimiter(1, None, storage="carrier-pigeon://user:secret@loft")
    assert "carrier-pigeon://" in caught.value.message
    assert "secret" not in str(caught.value)


def test_a_storage_that_fails_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from limits.storage import MemoryStorage

    def broken(*_: object, **__: object) -> bool:
        raise ValueError("gone away")

    monkeypatch.setattr(MemoryStorage, "get", broken)
    with pytest.raises(ModelUnavailable, match="gone away"):
        LimitsRateLimiter(1, None).wait(1)
