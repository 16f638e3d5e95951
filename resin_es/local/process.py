"""The node's process: found by a mark on its own command line, so no file can lie about it.

A pid file goes stale when a machine is switched off, and its number may belong to another program
by then. So the pid file is a hint only: what counts is a live process that carries the mark of
this data folder, which also finds a node whose pid file is missing.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import psutil

from resin_es.errors import LocalNodeError, NodeStartError
from resin_es.local.account import Account

_OPTION = "-Dresin.es.node="
#: Seconds for an orderly end before the process is killed.
_GRACE_S = 30.0
#: Seconds for the end of a killed process.
_KILL_S = 10.0


@dataclass(frozen=True)
class RunningNode:
    """A live node, as its command line tells."""

    pid: int
    port: int
    version: str
    java: str


def mark(data_dir: Path) -> str:
    """What tells the node of this data folder from every other process."""
    return hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:16]


def node_option(data_dir: Path, port: int, version: str) -> str:
    """The JVM option that carries the mark, and what one needs to know of the node."""
    return f"{_OPTION}{mark(data_dir)}/{port}/{version}"


def read_command_line(pid: int, words: Sequence[str], wanted: str) -> RunningNode | None:
    """The node that a command line tells of, if it carries the mark ``wanted``."""
    for word in words:
        if word.startswith(f"{_OPTION}{wanted}/"):
            fields = word.split("/")
            if len(fields) == 3 and fields[1].isdigit():
                java = str(Path(words[0]).parent.parent)
                return RunningNode(pid, int(fields[1]), fields[2], java)
    return None


def find(data_dir: Path, pid_files: Sequence[Path]) -> RunningNode | None:
    """The running node of ``data_dir``: looked for where the pid files point, then everywhere."""
    wanted = mark(data_dir)
    for path in pid_files:
        with suppress(OSError, ValueError, psutil.Error):
            pid = int(path.read_text("ascii").strip())
            found = read_command_line(pid, psutil.Process(pid).cmdline(), wanted)
            if found is not None:
                return found
    for process in psutil.process_iter(["cmdline"]):
        found = read_command_line(process.pid, process.info["cmdline"] or (), wanted)
        if found is not None:
            return found
    return None


def alive(node: RunningNode, data_dir: Path) -> bool:
    """Whether that very process still runs (a zombie, or a reused pid, doesn't count)."""
    with suppress(psutil.Error):
        words = psutil.Process(node.pid).cmdline()
        return read_command_line(node.pid, words, mark(data_dir)) is not None
    return False


def stop(node: RunningNode, *, grace_s: float = _GRACE_S) -> None:
    """End the node: asked first, killed after ``grace_s``. LocalNodeError if it may not be."""
    try:
        victim = psutil.Process(node.pid)
        victim.terminate()
        if not _wait_gone([victim], grace_s):
            victim.kill()
            if not _wait_gone([victim], _KILL_S):
                raise LocalNodeError(
                    f"The local node (pid {node.pid}) does not end, not even when killed."
                )
    except psutil.NoSuchProcess:
        return
    except psutil.AccessDenied as error:
        raise LocalNodeError(
            f"The local node (pid {node.pid}) belongs to another user.",
            hint="Stop it as the user (or root) who started it.",
        ) from error


def end_launchers(pid_files: Sequence[Path]) -> bool:
    """End launchers that a killed ``up`` left behind, before they start a node nobody waits for.

    They are known by the pid file they were told to write. Whether there was one.
    """
    told = {str(path) for path in pid_files}
    left = []
    for each in psutil.process_iter(["cmdline"]):
        words = each.info["cmdline"] or []
        if any(a == "-p" and b in told for a, b in pairwise(words)):
            left.append(each)
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                each.kill()
    _wait_gone(left, _KILL_S)
    return bool(left)


def _wait_gone(processes: Sequence[psutil.Process], patience_s: float) -> bool:
    """Whether all have ended in time, so that their ports and locks are free."""
    deadline = time.monotonic() + patience_s
    while not all(_gone(each) for each in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _gone(each: psutil.Process) -> bool:
    """A zombie is gone: where nobody collects orphans (containers), it stays listed for ever."""
    with suppress(psutil.NoSuchProcess):
        return not each.is_running() or each.status() == psutil.STATUS_ZOMBIE
    return True


def _session(leader: int) -> list[psutil.Process]:
    """The processes of the session that ``leader`` began."""
    found = []
    for each in psutil.process_iter():
        with suppress(OSError):
            if os.getsid(each.pid) == leader:
                found.append(each)
    return found


class Launch:
    """A node being started: Elasticsearch's own launcher, which ends once the node is up."""

    def __init__(
        self, home: Path, java: Path, folder: Path, config: Path, account: Account | None
    ) -> None:
        self.start_log = folder / "start.log"
        command = [str(home / "bin" / "elasticsearch"), "-d", "-p", str(folder / "node.pid")]
        env = child_environment(java, folder, config)
        with self.start_log.open("wb") as log:
            try:
                self._process = subprocess.Popen(
                    command,
                    env=env,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    umask=0o022,
                    user=account.uid if account else None,
                    group=account.gid if account else None,
                    extra_groups=[] if account else None,
                )
            except OSError as error:
                raise _not_started(command[0], account, error) from error

    def exit_code(self) -> int | None:
        """None while the launcher runs; 0 when it has left a running node behind."""
        return self._process.poll()

    def abort(self) -> None:
        """Kill the launcher and whatever it has started, and wait for their end."""
        members = _session(self._process.pid)
        for each in members:
            with suppress(psutil.NoSuchProcess):
                each.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_KILL_S)
        _wait_gone(members, _KILL_S)

    def release(self) -> None:
        """Let the launcher end by itself; the node lives on."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=30)


def child_environment(java: Path, folder: Path, config: Path) -> dict[str, str]:
    """A small environment: nothing of the caller's (keys, JAVA_OPTS) reaches the node."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "ES_JAVA_HOME": str(java),
        "ES_PATH_CONF": str(config),
        "ES_TMPDIR": str(folder / "tmp"),
        # The launcher lives for seconds: the thorough compiler would only cost it time.
        "CLI_JAVA_OPTS": "-XX:TieredStopAtLevel=1",
    }


def _not_started(command: str, account: Account | None, error: OSError) -> NodeStartError:
    if account is not None and isinstance(error, PermissionError):
        return NodeStartError(
            f"This process is root but may not start a program as uid {account.uid}: {error}.",
            hint="Elasticsearch refuses to run as root: start it as an ordinary user, or set "
            "RESIN_ES_URL to a cluster.",
        )
    return NodeStartError(
        f"{command} cannot be started: {error}.",
        hint="It needs bash at /bin/bash; RESIN_ES_URL uses a cluster instead.",
    )
