"""The node's configuration files, as text (pure) and written out.

Each node has a configuration folder of its own, so the unpacked distribution stays as it came and
serves many nodes. JSON is valid YAML, so values are written as JSON.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resin_es.local.files import make_folder
from resin_es.local.settings import LocalSettings, LocalUser
from resin_es.local.versions import VECTOR_MODULE

CLUSTER_NAME = "resin-es-local"
_PBKDF2_ROUNDS = 10_000
#: Lines of the shipped jvm.options with paths relative to the distribution, or of no use here.
_DROPPED = ("-Xlog:gc", "-XX:+HeapDumpOnOutOfMemoryError", "-XX:HeapDumpPath", "-XX:ErrorFile")


@dataclass(frozen=True)
class NodeFolders:
    """Where one node of one version keeps its things."""

    home: Path

    @property
    def config(self) -> Path:
        """elasticsearch.yml, jvm.options, users and roles."""
        return self.home / "config"

    @property
    def data(self) -> Path:
        """The indices."""
        return self.home / "data"

    @property
    def logs(self) -> Path:
        """Elasticsearch's own logs."""
        return self.home / "logs"

    @property
    def tmp(self) -> Path:
        """Java's temporary files."""
        return self.home / "tmp"

    @property
    def pid_file(self) -> Path:
        """Written by the node, removed by it when it ends in order."""
        return self.home / "node.pid"

    @property
    def start_log(self) -> Path:
        """What was printed while starting."""
        return self.home / "start.log"

    @property
    def log(self) -> Path:
        """The node's log."""
        return self.logs / f"{CLUSTER_NAME}.log"

    def has_indices(self) -> bool:
        """Whether an index was ever made here."""
        indices = self.data / "indices"
        return indices.is_dir() and any(indices.iterdir())


def elasticsearch_yml(settings: LocalSettings, folders: NodeFolders) -> dict[str, Any]:
    """The node's settings, flat.

    Loopback only, one node, no watermarks: a developer's disk is often nearly full, and an index
    that turned read-only for it helps nobody.
    """
    values: dict[str, Any] = {
        "cluster.name": CLUSTER_NAME,
        "node.name": "local",
        "path.data": str(folders.data),
        "path.logs": str(folders.logs),
        "network.host": "127.0.0.1",
        "http.port": settings.port,
        "transport.port": 0,
        "discovery.type": "single-node",
        "cluster.routing.allocation.disk.threshold_enabled": False,
        "xpack.security.enabled": settings.security,
    }
    if settings.security:
        values["xpack.security.enrollment.enabled"] = False
        values["xpack.security.authc.realms.file.file1.order"] = 0
    return values


def jvm_options(shipped: str, modules: Iterable[str]) -> str:
    """The shipped ``jvm.options`` without what this Java lacks and what writes elsewhere."""
    kept = []
    for line in shipped.splitlines():
        option = line.split(":", 1)[1] if line[:1].isdigit() and ":" in line else line
        if option.startswith(_DROPPED):
            continue
        if VECTOR_MODULE in option and VECTOR_MODULE not in set(modules):
            continue
        kept.append(line)
    return "\n".join(kept) + "\n"


def own_jvm_options(settings: LocalSettings, folders: NodeFolders, marker: str) -> str:
    """Heap and marker; the heap is not touched in advance, so a small node stays small."""
    lines = [
        f"-Xms{settings.heap}",
        f"-Xmx{settings.heap}",
        "-XX:-AlwaysPreTouch",
        f"-XX:ErrorFile={folders.logs}/hs_err_pid%p.log",
        *settings.jvm_options,
        marker,
    ]
    return "\n".join(lines) + "\n"


def users_file(users: Iterable[LocalUser]) -> str:
    """``users`` of the file realm: name and salted hash."""
    return "".join(f"{u.name}:{password_hash(u.password.get_secret_value())}\n" for u in users)


def users_roles_file(users: Iterable[LocalUser]) -> str:
    """``users_roles`` of the file realm: role and the names that have it."""
    names: dict[str, list[str]] = {}
    for user in users:
        for role in user.roles:
            names.setdefault(role, []).append(user.name)
    return "".join(f"{role}:{','.join(names[role])}\n" for role in sorted(names))


def roles_file(roles: Mapping[str, Mapping[str, Any]]) -> str:
    """``roles.yml``: one line per role, as Elasticsearch reads it line by line."""
    return "".join(f"{name}: {json.dumps(dict(body))}\n" for name, body in sorted(roles.items()))


def password_hash(password: str, salt: bytes | None = None) -> str:
    """The password as Elasticsearch's ``pbkdf2`` hasher stores it (HMAC-SHA512, 32 byte key)."""
    salt = os.urandom(32) if salt is None else salt
    key = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, _PBKDF2_ROUNDS, 32)
    fields = (base64.b64encode(salt).decode(), base64.b64encode(key).decode())
    return f"{{PBKDF2}}{_PBKDF2_ROUNDS}${fields[0]}${fields[1]}"


def write_config(
    settings: LocalSettings,
    folders: NodeFolders,
    distribution: Path,
    modules: Iterable[str],
    marker: str,
) -> None:
    """Write the whole configuration folder anew; data and logs stay. Raises OSError."""
    for folder in (folders.home, folders.data, folders.logs):
        make_folder(folder)
    folders.home.chmod(0o700)  # documents lie here
    for folder in (folders.config, folders.tmp):
        shutil.rmtree(folder, ignore_errors=True)
        make_folder(folder)
    make_folder(folders.config / "jvm.options.d")
    shipped = distribution / "config"
    yml = elasticsearch_yml(settings, folders)
    texts = {
        "elasticsearch.yml": "".join(f"{k}: {json.dumps(v)}\n" for k, v in yml.items()),
        "jvm.options": jvm_options((shipped / "jvm.options").read_text("utf-8"), modules),
        "jvm.options.d/resin.options": own_jvm_options(settings, folders, marker),
        "log4j2.properties": (shipped / "log4j2.properties").read_text("utf-8"),
        "users": users_file(settings.users),
        "users_roles": users_roles_file(settings.users),
        "roles.yml": roles_file(settings.roles),
    }
    for name, text in texts.items():
        (folders.config / name).write_text(text, "utf-8")
    for name in ("users", "users_roles", "roles.yml"):
        (folders.config / name).chmod(0o600)
