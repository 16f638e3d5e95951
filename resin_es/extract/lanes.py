"""Asking about many things, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_EXCEPTION,
    CancelledError,
    Future,
    ThreadPoolExecutor,
    wait,
)
from threading import Event
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_lanes(ask: Callable[[Item], Result], items: Sequence[Item], lanes: int) -> list[Result]:
    """``[ask(item) for item in items]`` with up to ``lanes`` of them at a time; one lane uses
    no thread.

    The first error stops what has not begun; what has begun is waited for, so that nothing
    paid for is thrown away half done. Then the error of the earliest failed item is raised.
    """
    if lanes <= 1 or len(items) <= 1:
        return [ask(item) for item in items]
    stop = Event()

    def run(item: Item) -> Result:
        if stop.is_set():
            raise CancelledError
        try:
            return ask(item)
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(min(lanes, len(items)), thread_name_prefix="lane") as pool:
        futures: list[Future[Result]] = [pool.submit(run, item) for item in items]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:  # also where the waiting itself is interrupted
            stop.set()
            for future in futures:
                future.cancel()
    errors = (future.exception() for future in futures if not future.cancelled())
    for error in errors:
        if error is not None and not isinstance(error, CancelledError):
            raise error
    return [future.result() for future in futures]
