"""Worker and beat as processes, each in a group of its own, with its log in a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 30.0
MARKED = (sys.executable, "-m", "tests.background.command")
COMMAND = (sys.executable, "-m", "resin_es.cli")


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with ``settings`` for its RESIN_* variables."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RESIN_")}
    return {**kept, "PYTHONPATH": os.pathsep.join([str(ROOT), *_path()]), **settings}


def _path() -> list[str]:
    return [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]


class Process:
    """A command that runs until it is ended, and may be started again."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        settings: Mapping[str, str],
        folder: Path,
        command: Sequence[str] = MARKED,
    ) -> None:
        self.name = name
        self._command = [*command, *arguments]
        self._environ = environment(settings)
        self.log = folder / f"{name}.log"
        self._running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(
                self._command, env=self._environ, cwd=ROOT, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    @property
    def pid(self) -> int:
        assert self._running is not None, f"{self.name} was not started"
        return self._running.pid

    @property
    def alive(self) -> bool:
        return self._running is not None and self._running.poll() is None

    def children(self) -> list[psutil.Process]:
        """The processes that do its tasks."""
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self.pid).children(recursive=True)
        return []

    def kill_child(self) -> bool:
        """kill -9 of one process that does tasks, as the kernel does when memory is short."""
        for child in self.children():
            with suppress(psutil.NoSuchProcess):
                child.kill()
                return True
        return False

    def kill(self) -> None:
        """kill -9 of the process alone; those it had started see to themselves."""
        if self._running is not None:
            self._running.kill()
            self._running.wait()

    def kill_all(self) -> None:
        """kill -9 of all of it at once, as if the machine had lost its power."""
        if self._running is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._running.pid, signal.SIGKILL)
        self._running.wait()

    def terminate(self) -> None:
        """Ask it to end. Its own deadline passed, all of it is killed."""
        if self._running is None:
            return
        self._running.terminate()
        try:
            self._running.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill_all()

    def ensure(self) -> bool:
        """Start it again if it has ended, as whatever runs services does; whether it had."""
        if self.alive:
            return False
        self.kill_all()
        self.start()
        return True


class Processes:
    """Two workers and a beat. A context manager: none is left behind."""

    def __init__(self, settings: Mapping[str, str], folder: Path, *, workers: int = 2) -> None:
        hands = ("worker", "--concurrency", "2", "--json")
        self.workers = [Process(f"worker-{n}", hands, settings, folder) for n in range(workers)]
        self.beat = Process("beat", ("beat", "--json"), settings, folder)

    @property
    def all(self) -> list[Process]:
        return [*self.workers, self.beat]

    def __enter__(self) -> Processes:
        for one in self.all:
            one.start()
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.all:
            one.kill_all()

    def logs(self, characters: int = 3000) -> str:
        """The ends of their logs, for whoever has to find out why."""
        return "\n".join(
            f"--- {one.name}\n{one.log.read_text(errors='replace')[-characters:]}"
            for one in self.all
            if one.log.exists()
        )
