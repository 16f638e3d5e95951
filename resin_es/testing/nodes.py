"""A real Elasticsearch for the length of a test: its own port, its own folder, gone afterwards.

::

    with temporary_node() as node:
        client = Elasticsearch(node.url)

    with temporary_node(security=True, users=[LocalUser(name="ann", password="secret-1",
                        roles=("reader",))], roles={"reader": {"indices": [...]}}) as node:
        client = Elasticsearch(node.url, basic_auth=node.admin)

The distribution is taken from the user's cache folder (and fetched into it once).
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from resin_es.errors import LocalNodeError
from resin_es.local.account import node_account
from resin_es.local.files import closed_to
from resin_es.local.node import down, up
from resin_es.local.settings import LocalSettings, LocalUser, NodeStatus, default_settings

_ADMIN = "resin-test-admin"
#: Start of a temporary folder's name; the pid of the process that made it follows.
_PREFIX = "resin-es-test-"
#: Where temporary folders are tried: the usual place first.
_PARENTS = (None, "/var/tmp", "/tmp")
#: Java's fast compiler alone: starting takes half the work, and tests run no long loops.
_QUICK = "-XX:TieredStopAtLevel=1"


@dataclass(frozen=True)
class TemporaryNode:
    """A node that lives for a test. ``admin`` is (name, password) of a superuser with security."""

    status: NodeStatus
    settings: LocalSettings
    admin: tuple[str, str] | None

    @property
    def url(self) -> str:
        """Where it listens."""
        return self.status.url


@contextmanager
def temporary_node(
    version: str | None = None,
    *,
    security: bool = False,
    users: Sequence[LocalUser] = (),
    roles: Mapping[str, Mapping[str, Any]] | None = None,
    base: LocalSettings | None = None,
) -> Iterator[TemporaryNode]:
    """A node on a free port, with data of its own, stopped and removed at the end.

    ``users`` and ``roles`` (name → role descriptor) count with ``security``; a superuser is added
    then. ``base`` gives everything else (cache folder, Java, heap); by default the environment.
    Raises what ``resin_es.local.up`` raises.
    """
    given = base or default_settings()
    sweep(given)
    folder = _open_folder(given.run_as)
    password = secrets.token_urlsafe(12)
    admin = LocalUser(name=_ADMIN, password=password, roles=("superuser",))
    settings = given.model_copy(
        update={
            "data_dir": folder / "node",
            "port": free_port(),
            "version": version or given.version,
            "jvm_options": (*given.jvm_options, _QUICK),
            "security": security,
            "users": (admin, *users) if security else (),
            "roles": dict(roles or {}),
        }
    )
    try:
        node = up(settings)
        yield TemporaryNode(node, settings, (_ADMIN, password) if security else None)
    finally:
        down(settings)
        shutil.rmtree(folder)


def sweep(settings: LocalSettings) -> None:
    """Stop and remove what killed test runs of this user have left."""
    for parent in {Path(each or tempfile.gettempdir()) for each in _PARENTS}:
        for folder in parent.glob(f"{_PREFIX}*-*"):
            pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
            if pid.isdigit() and not psutil.pid_exists(int(pid)):
                with suppress(OSError, LocalNodeError):  # another user's
                    if folder.stat().st_uid == os.getuid():
                        down(settings.model_copy(update={"data_dir": folder / "node"}))
                        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """A port nobody listens on at the moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _open_folder(run_as: str | None) -> Path:
    """A new folder that the node's user can enter; root's own TMPDIR may be closed to it."""
    for parent in _PARENTS:
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))
        folder.chmod(0o755)
        account = node_account(folder, run_as)
        if account is None or closed_to(folder, account.uid, account.gid) is None:
            return folder
        shutil.rmtree(folder)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
