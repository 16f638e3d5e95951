"""kill -9 at twenty moments of one read: nothing is lost, and hardly anything paid for twice."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from resin_es.testing.model_server import ModelServer
from resin_es.testing.scripted_claude import Request, ScriptedClaude
from resin_es.testing.warm import WarmCommands

pytestmark = pytest.mark.slow

KILLS, LANES, KILLED = 20, 4, -9


class Moment(NamedTuple):
    """So many requests after a process began, and so many seconds later."""

    requests: int
    seconds: float


def moments(seed: int) -> list[Moment]:
    """Kills hit requests, and what follows them: outputs kept, documents written, committed."""
    drawn = random.Random(seed)
    return [Moment(drawn.randint(1, 12), drawn.random() * 0.08) for _ in range(KILLS)]


class Killer:
    """Kills what runs at the moment set for it, seen from the server."""

    def __init__(self, commands: WarmCommands) -> None:
        self._commands = commands
        self._left: int | None = None
        self._seconds = 0.0

    def aim(self, moment: Moment | None) -> None:
        self._left = None if moment is None else moment.requests
        self._seconds = 0.0 if moment is None else moment.seconds

    def __call__(self, number: int) -> None:
        if self._left is None:
            return
        self._left -= 1
        if self._left == 0:
            threading.Timer(self._seconds, self._commands.kill).start()


def test_twenty_kills_lose_nothing_and_pay_hardly_anything_twice(
    lines: Any, stops: Path, unkilled: Any, everything: Callable[..., Any], tmp_path: Path
) -> None:
    claude = ScriptedClaude(seconds=0.02)
    log = tmp_path / "log"
    with ModelServer(claude) as server, WarmCommands(log) as commands:
        line = lines(server.url, RESIN_LLM_LANES=str(LANES), RESIN_BATCH_DOCUMENTS="12")
        environ = {k: v for k, v in os.environ.items() if not k.startswith("RESIN_")}
        environ.update(line.environ)
        claude.before = killer = Killer(commands)
        arguments = ("index", str(stops), "--public", "--yes", "--json")
        bounds = [0]
        for moment in moments(seed=5):
            killer.aim(moment)
            code = commands.run(environ, *arguments)
            assert code == KILLED, f"it ended with {code} before it was killed: {log.read_text()}"
            bounds.append(len(claude.requests))
        killer.aim(None)
        assert commands.run(environ, *arguments) == 0, log.read_text()
        bounds.append(len(claude.requests))
        assert everything(line) == unkilled
        # what is done costs nothing more
        assert commands.run(environ, *arguments) == 0
        assert len(claude.requests) == bounds[-1]
    paid_again(claude.requests, bounds)
    assert len(claude.paid) == 400


def paid_again(requests: list[Request], bounds: list[int]) -> None:
    """No process pays twice for the same, and each kill costs at most the calls that were in
    flight: one a lane."""
    known: set[str] = set()
    again = 0
    for kills, (start, end) in enumerate(pairwise(bounds)):
        asked = [one.content for one in requests[start:end]]
        assert len(asked) == len(set(asked))
        again += len(known & set(asked))
        assert again <= kills * LANES
        known |= set(asked)
    assert len(requests) <= len(known) + KILLS * LANES
