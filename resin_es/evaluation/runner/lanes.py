"""Questions asked side by side: a lane each, with systems of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import NamedTuple

from resin_es.evaluation.systems.system import EvalSystem
from resin_es.evaluation.values import EvalQuestion


def _nothing() -> None:
    """Nothing to forget."""


class Lane(NamedTuple):
    """The systems that one question at a time is asked of. ``new_question`` is called before
    each question (memories forget), ``lent`` tells seconds that a memory spared a row."""

    systems: Sequence[EvalSystem]
    new_question: Callable[[], None] = _nothing
    lent: Callable[[], float] = float


Ask = Callable[[Lane, EvalSystem, EvalQuestion], None]


def ask_all(
    lanes: Sequence[Lane],
    questions: Sequence[EvalQuestion],
    ask: Ask,
    done: Callable[[int], None],
) -> None:
    """``ask`` every system of some lane each question, one after the other; ``done`` is told how
    many questions are through. Raises what ``ask`` and ``done`` raise, and KeyboardInterrupt:
    then questions that wait are not asked, and each lane ends after the system that it is at.
    """
    ended = threading.Event()
    free: queue.SimpleQueue[Lane] = queue.SimpleQueue()
    for lane in lanes:
        free.put(lane)

    def taken(question: EvalQuestion) -> None:
        lane = free.get()
        try:
            lane.new_question()
            for system in lane.systems:
                if ended.is_set():
                    return
                ask(lane, system, question)
        finally:
            free.put(lane)

    with ThreadPoolExecutor(len(lanes), thread_name_prefix="lane") as threads:
        try:
            waiting = [threads.submit(taken, question) for question in questions]
            for number, future in enumerate(as_completed(waiting), 1):
                future.result()
                done(number)
        except BaseException:
            ended.set()
            threads.shutdown(wait=False, cancel_futures=True)
            raise
