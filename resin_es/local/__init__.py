"""The local Elasticsearch node: a real server on this machine, started when it is needed.

::

    from resin_es.local import default_settings, down, status, up

    node = up(default_settings())   # fetches, starts, waits; does nothing when it runs
    node.url                        # "http://127.0.0.1:9250"
    down(default_settings())

Everything is imported on first use, so that ``import resin_es.local`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from resin_es.errors import LocalNodeError

if TYPE_CHECKING:
    from resin_es.local.node import down, status, up
    from resin_es.local.settings import (
        LocalSettings,
        LocalUser,
        NodeStatus,
        Progress,
        default_settings,
    )
    from resin_es.local.versions import VERSIONS

__all__ = [
    "VERSIONS",
    "LocalSettings",
    "LocalUser",
    "NodeStatus",
    "Progress",
    "default_settings",
    "down",
    "status",
    "up",
]

_HOME = {
    "VERSIONS": "versions",
    "LocalSettings": "settings",
    "LocalUser": "settings",
    "NodeStatus": "settings",
    "Progress": "settings",
    "default_settings": "settings",
    "down": "node",
    "status": "node",
    "up": "node",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("resin_es"):
            raise
        raise _missing(error) from error


def _missing(error: ModuleNotFoundError) -> LocalNodeError:
    elsewhere = "or set RESIN_ES_URL to a cluster."
    if error.name == "pwd":
        return LocalNodeError(
            "The local node does not run on Windows.",
            hint=f"Use `docker compose up` or WSL, {elsewhere}",
        )
    return LocalNodeError(
        f"The local node needs the Python package {error.name}.",
        hint=f"pip install 'resin-es[local]', {elsewhere}",
    )
