"""Some at a time: in order, waiting for what has begun, starting nothing after an error."""

from __future__ import annotations

import threading
import time

import pytest

from resin_es.extract.lanes import in_lanes


@pytest.mark.parametrize("lanes", [0, 1, 3, 50])
def test_results_stand_in_the_order_of_the_items(lanes: int) -> None:
    assert in_lanes(lambda n: n * n, list(range(20)), lanes) == [n * n for n in range(20)]
    assert in_lanes(str, [], lanes) == []


def test_one_lane_uses_no_thread() -> None:
    here = threading.get_ident()
    assert set(in_lanes(lambda _: threading.get_ident(), [1, 2, 3], 1)) == {here}


def test_lanes_run_together_but_not_more_of_them() -> None:
    together = threading.Barrier(4, timeout=10)
    running, most, lock = 0, 0, threading.Lock()

    def ask(item: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait()
        with lock:
            running -= 1
        return item

    assert in_lanes(ask, list(range(8)), 4) == list(range(8))
    assert most == 4


def test_an_error_stops_what_has_not_begun_and_waits_for_what_has() -> None:
    begun, failed, done = threading.Event(), threading.Event(), []

    def ask(item: int) -> None:
        if item == 0:
            begun.set()
            assert failed.wait(10)
        if item == 1:
            assert begun.wait(10)
            failed.set()
            raise ValueError("one")
        if item > 1:
            time.sleep(0.01)  # 48 of them last longer than the error takes to be seen
        done.append(item)

    with pytest.raises(ValueError, match="one"):
        in_lanes(ask, list(range(50)), 2)
    assert 0 in done
    assert len(done) < 48


def test_of_several_errors_the_first_item_s_is_raised() -> None:
    both = threading.Barrier(2, timeout=10)

    def ask(item: int) -> None:
        both.wait()
        raise ValueError(str(item))

    with pytest.raises(ValueError, match="0"):
        in_lanes(ask, [0, 1], 2)
