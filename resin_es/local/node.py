"""``up``, ``down`` and ``status`` of the local node.

What runs is read from the process table, never from a file; ``up`` and ``down`` hold a lock, so
two at once start one node.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from resin_es.errors import LocalNodeError, NodeStartError
from resin_es.local import http, process
from resin_es.local.account import Account, check_open, node_account
from resin_es.local.autopsy import died, silent
from resin_es.local.config import NodeFolders, write_config
from resin_es.local.fetch import maven_opener
from resin_es.local.files import closed_to, disk_errors, give_to, make_folder
from resin_es.local.install import installed, readable_java
from resin_es.local.java import JavaRuntime
from resin_es.local.locks import locked
from resin_es.local.process import Launch, RunningNode
from resin_es.local.selection import Selection, select, versions_here
from resin_es.local.settings import LocalSettings, NodeStatus, Progress, node_url

_POLL_S = 0.1


class _Silent:
    def update(self, done: int, total: int | None, description: str) -> None:
        """Say nothing."""


def status(settings: LocalSettings) -> NodeStatus:
    """Whether the node of ``settings.data_dir`` runs, and where. Starts and changes nothing."""
    running = _find(settings)
    if running is None:
        return NodeStatus(running=False, ready=False, url=settings.url, data_dir=settings.data_dir)
    return _status(settings, running, http.health(running.port, settings.users))


def up(settings: LocalSettings, progress: Progress | None = None) -> NodeStatus:
    """The node, running and ready; started (and fetched) when it isn't.

    Raises DownloadError, JavaNotFound, PortInUse, NodeStartError, SettingsError (a version that
    isn't offered), LocalNodeError (folders). After an error nothing is left running.
    """
    report = progress or _Silent()
    running = _find(settings)
    if running is not None:
        return _join(settings, running, report)
    with disk_errors("the local node's data", settings.data_dir, LocalNodeError):
        make_folder(settings.data_dir)
        with locked(_lock(settings), "starting or stopping the local node", report):
            running = _find(settings)
            if running is None:
                process.end_launchers(_pid_files(settings))
                return _start(settings, report)
    return _join(settings, running, report)


def down(settings: LocalSettings, progress: Progress | None = None) -> bool:
    """Stop the node; its data stay. False when it did not run. Raises LocalNodeError."""
    if not settings.data_dir.is_dir():
        return False
    with (
        disk_errors("stopping the local node", settings.data_dir, LocalNodeError),
        locked(_lock(settings), "starting or stopping the local node", progress or _Silent()),
    ):
        left = process.end_launchers(_pid_files(settings))
        running = _find(settings)
        if running is None:
            return left
        process.stop(running)
        _folders(settings, running.version).pid_file.unlink(missing_ok=True)
        return True


def _start(settings: LocalSettings, progress: Progress) -> NodeStatus:
    http.check_port(settings.port)
    choice = select(settings)
    account = node_account(settings.data_dir, settings.run_as)
    if account is not None:
        check_open(settings.data_dir, account, what="its data in")
    home = installed(choice.dist, settings.cache_dir, maven_opener(settings.repository), progress)
    if account is not None:
        check_open(home, account, what="Elasticsearch itself, in")
    java = _java_home(choice.java, settings.cache_dir, account, progress)
    _prepare(settings, choice, home, account)
    folders = _folders(settings, choice.dist.version)
    launch = Launch(home, java, folders.home, folders.config, account)
    try:
        state = _await(settings, launch, folders, progress)
        launch.release()
        running = _find(settings)
        if running is None:
            raise died(folders.start_log, settings.port)
    except BaseException:
        launch.abort()
        folders.pid_file.unlink(missing_ok=True)
        raise
    return _status(settings, running, state, notes=choice.notes)


def _prepare(
    settings: LocalSettings, choice: Selection, home: Path, account: Account | None
) -> None:
    """Write the node's folders, and give them to the user it runs as."""
    version = choice.dist.version
    folders = _folders(settings, version)
    marker = process.node_option(settings.data_dir, settings.port, version)
    folders.pid_file.unlink(missing_ok=True)
    write_config(settings, folders, home, choice.java.modules, marker)
    if account is not None:
        give_to(folders.home, account.uid, account.gid)
        os.chown(_lock(settings), account.uid, account.gid)


def _java_home(java: JavaRuntime, cache: Path, account: Account | None, progress: Progress) -> Path:
    """The runtime itself, or a copy where the node's user cannot reach it."""
    if account is None or closed_to(java.binary, account.uid, account.gid) is None:
        return java.home
    return readable_java(java, cache, progress)


def _await(
    settings: LocalSettings, launch: Launch, folders: NodeFolders, progress: Progress
) -> http.Health:
    """Wait until the node is ready. NodeStartError when it dies, or never answers."""
    begun = time.monotonic()
    state: http.Health = "down"
    while (waited := time.monotonic() - begun) < settings.start_timeout_s:
        progress.update(int(waited), None, "Starting Elasticsearch")
        state = http.health(settings.port, settings.users)
        if state == "ready":
            return state
        code = launch.exit_code()
        if code or (code == 0 and _find(settings) is None):
            raise died(folders.start_log, settings.port)
        time.sleep(_POLL_S)
    if state == "recovering":
        return state
    raise silent(folders.start_log, settings.start_timeout_s)


def _join(settings: LocalSettings, running: RunningNode, progress: Progress) -> NodeStatus:
    """Wait for a node that is there already. It is not ours to stop if it never gets ready."""
    if settings.version not in (None, running.version):
        raise NodeStartError(
            f"The local node runs Elasticsearch {running.version} (pid {running.pid}), but "
            f"RESIN_LOCAL_VERSION asks for {settings.version}.",
            hint="Run `resin-es down` first, or unset RESIN_LOCAL_VERSION.",
        )
    begun = time.monotonic()
    state = http.health(running.port, settings.users)
    while state != "ready" and time.monotonic() - begun < settings.start_timeout_s:
        progress.update(int(time.monotonic() - begun), None, "Waiting for Elasticsearch")
        time.sleep(_POLL_S)
        if not process.alive(running, settings.data_dir):
            raise died(_folders(settings, running.version).start_log, running.port)
        state = http.health(running.port, settings.users)
    if state == "down":
        raise NodeStartError(
            f"The local node (pid {running.pid}) runs but does not answer on port {running.port}.",
            hint="Run `resin-es down`, then `resin-es up`.",
        )
    return _status(settings, running, state)


def _status(
    settings: LocalSettings,
    running: RunningNode,
    state: http.Health,
    notes: tuple[str, ...] = (),
) -> NodeStatus:
    if running.port != settings.port:
        notes += (f"Until it is started anew, the local node listens on port {running.port}.",)
    if state == "recovering":
        notes += ("Elasticsearch answers, but some of its indices cannot be searched yet.",)
    return NodeStatus(
        running=True,
        ready=state == "ready",
        url=node_url(running.port),
        version=running.version,
        pid=running.pid,
        java=running.java,
        data_dir=settings.data_dir,
        log=_folders(settings, running.version).log,
        notes=notes,
    )


def _find(settings: LocalSettings) -> RunningNode | None:
    return process.find(settings.data_dir, _pid_files(settings))


def _pid_files(settings: LocalSettings) -> list[Path]:
    return [folders.pid_file for folders in versions_here(settings.data_dir).values()]


def _folders(settings: LocalSettings, version: str) -> NodeFolders:
    return NodeFolders(settings.data_dir / version)


def _lock(settings: LocalSettings) -> Path:
    return settings.data_dir / "node.lock"
