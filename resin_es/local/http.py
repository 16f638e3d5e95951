"""The little HTTP the launcher needs: is the port free, and is the node ready.

The standard library alone, and straight to loopback: no proxy setting of the environment may
come between.
"""

from __future__ import annotations

import base64
import http.client
import json
import socket
from collections.abc import Iterable
from contextlib import suppress
from typing import Literal

from resin_es.errors import PortInUse
from resin_es.local.settings import LocalUser

_HOST = "127.0.0.1"
#: ``ready``: every index can be searched; ``recovering``: it answers, but some cannot yet.
Health = Literal["down", "recovering", "ready"]


def health(port: int, users: Iterable[LocalUser] = (), *, timeout_s: float = 10.0) -> Health:
    """How the node on ``port`` is doing; asked as the first of ``users``, if there is one."""
    headers = {}
    for user in users:
        pair = f"{user.name}:{user.password.get_secret_value()}".encode()
        headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()
        break
    connection = http.client.HTTPConnection(_HOST, port, timeout=timeout_s)
    try:
        connection.request(
            "GET", "/_cluster/health?wait_for_status=yellow&timeout=1s", headers=headers
        )
        answer = connection.getresponse()
        return read_health(answer.status, answer.read())
    except (OSError, http.client.HTTPException):
        return "down"
    finally:
        connection.close()


def read_health(status: int, body: bytes) -> Health:
    """What an answer to ``_cluster/health`` means.

    401 and 403 say that the node serves requests, to others than us: ready enough.
    """
    if status in (401, 403):
        return "ready"
    with suppress(ValueError):
        told = json.loads(body)
        if isinstance(told, dict) and told.get("status") in ("yellow", "green"):
            return "ready" if status == 200 else "recovering"
    return "recovering"


def check_port(port: int) -> None:
    """PortInUse when something listens on the port, or this user may not."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        if probe.connect_ex((_HOST, port)) == 0:
            raise port_in_use(port)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except PermissionError as error:
            raise PortInUse(
                f"This user may not listen on port {port}.",
                hint="Set RESIN_LOCAL_PORT to a port above 1023.",
            ) from error
        except OSError as error:
            raise port_in_use(port) from error


def port_in_use(port: int) -> PortInUse:
    """The error for a busy port, naming who has it where the system tells."""
    owner = _owner(port)
    return PortInUse(
        f"Port {port} is taken{f' by {owner}' if owner else ' by another program'}, so the local "
        "node cannot listen there.",
        hint="Set RESIN_LOCAL_PORT to a free port, or, if an Elasticsearch of yours listens "
        f"there, RESIN_ES_URL to http://{_HOST}:{port}.",
    )


def _owner(port: int) -> str:
    import psutil

    with suppress(psutil.Error, OSError):
        for connection in psutil.net_connections("tcp"):
            if connection.status != psutil.CONN_LISTEN or connection.pid is None:
                continue
            if getattr(connection.laddr, "port", None) == port:
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
    return ""
