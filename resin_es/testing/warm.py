"""Processes of the command line that begin with everything imported: a new one costs a fork.

For tests that kill many of them; what they do is otherwise what ``resin-es`` does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

PRELOADED = (
    "anthropic",
    "elasticsearch.helpers",
    "numpy",
    "resin_es.adapters.anthropic.client",
    "resin_es.adapters.elasticsearch",
    "resin_es.bootstrap",
    "resin_es.cli.app",
    "resin_es.index.indexer",
    "resin_es.llm.reader",
)
_SERVER = """
import importlib, json, os, runpy, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        os.environ.clear()
        os.environ.update(asked["environ"])
        sys.argv = ["resin-es", *asked["arguments"]]
        log = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, own in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(target, own)
        sys.stdin = open(0)
        runpy.run_module("resin_es.cli", run_name="__main__")
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class WarmCommands:
    """Runs commands one after the other, each in a forked process of its own. Use it as a
    context manager; ``log`` collects what they print."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._child: int | None = None
        self._server = subprocess.Popen(
            [sys.executable, "-c", _SERVER, json.dumps(PRELOADED)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> WarmCommands:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.kill()
        self._server.communicate(timeout=60)

    def run(self, environ: Mapping[str, str], *arguments: str) -> int:
        """The exit code of one command; -9 if it was killed."""
        assert self._server.stdin is not None
        asked = {"environ": dict(environ), "arguments": arguments, "log": str(self._log)}
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        with self._lock:
            self._child = self._told()
        code = self._told()
        with self._lock:
            self._child = None
        return code

    def kill(self) -> None:
        """``kill -9`` to the command that runs; nothing where none does. From any thread."""
        with self._lock:
            if self._child is not None:
                with suppress(ProcessLookupError):  # it has just ended
                    os.kill(self._child, signal.SIGKILL)
                self._child = None

    def _told(self) -> int:
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        if not line:
            raise RuntimeError(f"the process that forks is gone; see {self._log}")
        return int(line)
