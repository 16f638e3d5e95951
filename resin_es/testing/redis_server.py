"""A real Redis for the length of a test: its own port, nothing on disk, gone afterwards.

::

    with temporary_redis() as redis:
        settings = Settings(redis_url=redis.url())
        redis.restart()     # everything it held is gone, as after a crash
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from resin_es.testing.nodes import free_port

if TYPE_CHECKING:
    from redis import Redis

WAIT_S = 20.0


class RedisMissing(Exception):
    """There is no ``redis-server`` on the PATH (Debian: package ``redis-server``)."""


class TemporaryRedis:
    """A ``redis-server`` that keeps nothing. ``start`` and ``stop`` as often as wanted."""

    def __init__(self, folder: Path, password: str = "") -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise RedisMissing("redis-server is not on the PATH")
        self._program, self._folder, self.password = program, folder, password
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: int = 0) -> str:
        user = f":{self.password}@" if self.password else ""
        return f"redis://{user}127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Returns once it answers. Raises AssertionError if it does not."""
        command = [self._program, "--port", str(self.port), "--bind", "127.0.0.1"]
        command += ["--dir", str(self._folder), "--save", "", "--appendonly", "no"]
        command += ["--requirepass", self.password] if self.password else []
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + WAIT_S
        while not self._answers():
            assert self._process.poll() is None, (self._folder / "log").read_text()
            assert time.monotonic() < deadline, f"no Redis after {WAIT_S} s"
            time.sleep(0.05)

    def stop(self, *, kill: bool = False) -> None:
        """End it, by kill -9 if told."""
        if self._process is not None:
            if kill:
                self._process.kill()
            else:
                self._process.terminate()
            self._process.wait()
            self._process = None

    def restart(self, *, kill: bool = False) -> None:
        """Stop and start: what it held is gone."""
        self.stop(kill=kill)
        self.start()

    def flush(self) -> None:
        """Empty all its databases."""
        with self._client() as client:
            client.flushall()

    def _answers(self) -> bool:
        from redis.exceptions import RedisError

        try:
            with self._client() as client:
                return bool(client.ping())
        except RedisError:
            return False

    def _client(self) -> Redis:
        from redis import Redis

        return Redis.from_url(self.url(), socket_timeout=5.0)


@contextmanager
def temporary_redis(password: str = "") -> Iterator[TemporaryRedis]:
    """A Redis on a free port, stopped and removed at the end. Raises RedisMissing."""
    folder = Path(tempfile.mkdtemp(prefix="resin-es-redis-"))
    try:
        server = TemporaryRedis(folder, password)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
