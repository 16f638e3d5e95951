"""What the local node is told, and what it says about itself. Frozen values, no I/O."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from resin_es.errors import SettingsError

#: Away from 9200, where a cluster of the user's own may listen.
DEFAULT_PORT = 9250


class Progress(Protocol):
    """Told how far a slow step is. ``total`` is None where nobody knows it."""

    def update(self, done: int, total: int | None, description: str) -> None:
        """``done`` of ``total`` (bytes or files) of the step called ``description``."""
        ...


class LocalUser(BaseModel):
    """A user of the node's file realm; counts only with ``LocalSettings.security``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9_.@-]+$")
    password: SecretStr
    roles: tuple[str, ...] = ()


class LocalSettings(BaseModel):
    """Where the local node lives and how it runs.

    One node runs per ``data_dir``. ``cache_dir`` holds what can be fetched again (distribution,
    copy of a Java runtime) and may be shared by many nodes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    cache_dir: Path
    data_dir: Path
    port: int = Field(default=DEFAULT_PORT, ge=1, le=65535)
    #: One of ``VERSIONS``; None takes the one that the data were written by, or the one that
    #: fits the Java found.
    version: str | None = None
    heap: str = Field(default="512m", pattern=r"^[1-9][0-9]*[mMgG]$")
    #: Asked before the ``java`` on the path.
    java_home: str | None = None
    #: Folders that are searched for ``java`` (as PATH is written); None means PATH itself.
    search_path: str | None = None
    #: Seconds; generous, since a busy machine starts a JVM slowly.
    start_timeout_s: float = Field(default=180.0, gt=0)
    #: Another Maven repository than the one that ``maven-artifact`` knows, e.g. a mirror.
    repository: str | None = None
    #: When started as root: the user the node runs as instead (a name or a number).
    run_as: str | None = None
    #: More JVM options, one each, e.g. ``-XX:TieredStopAtLevel=1`` for a node that lives briefly.
    jvm_options: tuple[str, ...] = ()
    security: bool = False
    users: tuple[LocalUser, ...] = ()
    #: Role name → role descriptor, as the body of Elasticsearch's create-role API.
    roles: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)

    @property
    def url(self) -> str:
        """The address the node listens on: loopback only."""
        return node_url(self.port)


class NodeStatus(BaseModel):
    """How the local node is doing. ``url`` is where it listens or, when it is down, would."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    running: bool
    ready: bool
    url: str
    version: str | None = None
    pid: int | None = None
    #: Home of the Java runtime it runs on.
    java: str | None = None
    data_dir: Path
    log: Path | None = None
    #: What its user should know, one sentence each; for people, on stderr.
    notes: tuple[str, ...] = ()


def node_url(port: int) -> str:
    """The address of a local node on ``port``."""
    return f"http://127.0.0.1:{port}"


def default_settings(environ: Mapping[str, str] | None = None) -> LocalSettings:
    """Settings from the environment (``RESIN_LOCAL_*``, ``ES_JAVA_HOME``, ``JAVA_HOME``).

    Raises SettingsError for a value that cannot be meant.
    """
    env = os.environ if environ is None else environ
    cache_dir, data_dir = default_folders(env.get("RESIN_LOCAL_DIR"))
    given: dict[str, Any] = {
        "port": env.get("RESIN_LOCAL_PORT"),
        "version": env.get("RESIN_LOCAL_VERSION"),
        "heap": env.get("RESIN_LOCAL_HEAP"),
        "java_home": env.get("ES_JAVA_HOME") or env.get("JAVA_HOME"),
        "repository": env.get("RESIN_LOCAL_REPOSITORY"),
        "search_path": env.get("PATH", os.defpath),
    }
    values = {name: value for name, value in given.items() if value}
    try:
        return LocalSettings(cache_dir=cache_dir, data_dir=data_dir, **values)
    except ValidationError as error:
        first = error.errors()[0]
        name = f"RESIN_LOCAL_{str(first['loc'][0]).upper()}"
        raise SettingsError(
            f"{name} is {first['input']!r}: {first['msg']}.",
            hint=f"Correct {name} or unset it to take the default.",
        ) from error


def default_folders(base: str | Path | None = None, *, uid: int | None = None) -> tuple[Path, Path]:
    """Cache and data folder: below ``base`` when given, else where the system keeps such things.

    Root gets system folders: Elasticsearch runs under another uid then, and root's own home is
    closed to it.
    """
    if base:
        root = Path(base).expanduser().absolute()
        return root / "cache", root / "node"
    if (os.getuid() if uid is None else uid) == 0:
        return Path("/var/cache/resin-es"), Path("/var/lib/resin-es/node")
    from platformdirs import user_cache_path, user_data_path

    return user_cache_path("resin-es"), user_data_path("resin-es") / "node"
