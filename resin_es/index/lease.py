"""Who works on a document, and whether they still do.

A lease names host, process and start; the same host can see whether that process lives, other
hosts go by the heartbeat. Taking over is always safe: the flip is guarded, so the loser's
commit fails and it purges its own writes.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from resin_es.model import RegistryEntry


def new_owner() -> str:
    """A lease owner for this process: ``host:pid:random``."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def process_alive(pid: int) -> bool:
    """Whether a process of this host lives (signal 0)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def silent(
    owner: str | None,
    heartbeat: datetime | None,
    *,
    now: datetime,
    lease: timedelta,
    alive: Callable[[int], bool] = process_alive,
) -> bool:
    """Whether whoever held this is gone: a process of this host that does not live, or no
    heartbeat within the lease. The own process counts as alive."""
    if not owner or heartbeat is None or now - heartbeat >= lease:
        return True
    host, pid, _ = owner.rsplit(":", 2)
    return host == socket.gethostname() and not alive(int(pid))


def held_by_other(
    entry: RegistryEntry,
    *,
    owner: str,
    now: datetime,
    lease: timedelta,
    alive: Callable[[int], bool] = process_alive,
) -> bool:
    """Whether somebody else is reading this document right now."""
    if not entry.lease or entry.lease == owner:
        return False
    host, pid, _ = entry.lease.rsplit(":", 2)
    own_host, own_pid, _ = owner.rsplit(":", 2)
    if host == own_host and (pid == own_pid or not alive(int(pid))):
        return False
    return entry.heartbeat is not None and now - entry.heartbeat < lease
