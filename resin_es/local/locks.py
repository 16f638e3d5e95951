"""One process at a time: file locks that the system takes back when their holder dies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resin_es.errors import LocalNodeError
from resin_es.local.settings import Progress

#: Seconds to wait for another process: longer than a slow download and start.
_PATIENCE_S = 1800.0


@contextmanager
def locked(
    path: Path, doing: str, progress: Progress, *, patience_s: float = _PATIENCE_S
) -> Iterator[None]:
    """Hold the lock ``path`` for the block; ``doing`` says to those who wait what it is for.

    Raises LocalNodeError when another process does not give it back in time.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(str(path))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress.update(0, None, f"Waiting for another resin-es process that is {doing}")
        try:
            lock.acquire(timeout=patience_s)
        except Timeout as error:
            raise LocalNodeError(
                f"Another process has been {doing} for more than {patience_s:.0f} s (it holds "
                f"{path}).",
                hint="End that process and run the command again.",
            ) from error
    try:
        yield
    finally:
        lock.release()
