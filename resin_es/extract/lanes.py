"""Asking about many things, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
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
    with ThreadPoolExecutor(min(lanes, len(items)), thread_name_prefix="lane") as pool:
        futures: list[Future[Result]] = [pool.submit(ask, item) for item in items]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            for future in futures:
                future.cancel()
    for future in futures:
        if not future.cancelled() and (error := future.exception()):
            raise error
    return [future.result() for future in futures]
