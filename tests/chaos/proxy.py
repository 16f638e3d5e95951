"""A proxy before Elasticsearch that drops and delays bulk calls, and lets all others through."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

Fault = Literal["dropped", "answer dropped", "delayed", "refused"]
HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length"})
TOO_MANY = b'{"error":{"type":"es_rejected_execution_exception","reason":"busy"},"status":429}'


@dataclass
class Faults:
    """Which share of bulk calls goes wrong: cut off before Elasticsearch saw it, cut off after
    it did all of it, held up for up to ``delay_s``, or refused with 429."""

    chance: random.Random
    share: float = 0.0
    delay_s: float = 3.0
    met: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def draw(self, path: str) -> Fault | None:
        if not path.partition("?")[0].endswith("/_bulk"):
            return None
        with self._lock:
            self.met["bulk calls"] += 1
            if self.chance.random() >= self.share:
                return None
            kinds: tuple[Fault, ...] = ("dropped", "answer dropped", "delayed", "refused")
            fault = self.chance.choice(kinds)
            self.met[fault] += 1
            return fault


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    target: tuple[str, int]
    faults: Faults

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.faults.draw(self.path)
        if fault == "dropped":
            self.close_connection = True
            return
        if fault == "refused":
            self._answer(429, {"Content-Type": "application/json"}, TOO_MANY)
            return
        if fault == "delayed":
            time.sleep(self.faults.chance.random() * self.faults.delay_s)
        try:
            status, headers, content = self._forward(body)
        except (OSError, http.client.HTTPException):
            self.close_connection = True  # Elasticsearch is away: so is this
            return
        if fault == "answer dropped":
            self.close_connection = True
            return
        self._answer(status, headers, content)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_any  # noqa: N815

    def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(*self.target, timeout=60)
        try:
            headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP_BY_HOP}
            connection.request(self.command, self.path, body or None, headers)
            answer = connection.getresponse()
            content = answer.read()
            return answer.status, dict(answer.getheaders()), content
        finally:
            connection.close()

    def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
        try:
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)
        except OSError:  # whoever asked is dead
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is told."""


class Server(ThreadingHTTPServer):
    """Threads end with the process; a client that dies is no news."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A killed client leaves half a request behind."""


@contextmanager
def proxy(url: str, faults: Faults) -> Iterator[str]:
    """The address of a proxy before ``url``."""
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    handler = type("Bound", (Handler,), {"target": (parts.hostname, parts.port), "faults": faults})
    server = Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
