"""Our own encoder, lent to a runner: an OpenAI-compatible endpoint on the loopback interface.

So every system searches with the same vectors, and an endpoint that has a chat model alone
serves too. The path holds a random part, so that nobody else on the machine uses it by chance.
"""

from __future__ import annotations

import base64
import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import TYPE_CHECKING, Any

from resin_es.errors import ResinError
from resin_es.evaluation.systems.external.jobs import EmbeddingEndpoint

if TYPE_CHECKING:
    from resin_es.ports import Embedder


class LentEmbedder:
    """Serves ``embedder`` while the context is open. ``calls`` counts the texts."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._lock = embedder, threading.Lock()
        self._path = f"/{secrets.token_urlsafe(12)}/v1"
        self.texts = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)

    @property
    def endpoint(self) -> EmbeddingEndpoint:
        identity = self._embedder.identity
        return EmbeddingEndpoint(
            url=f"http://127.0.0.1:{self._server.server_port}{self._path}",
            model=model_name(identity.name),
            dims=identity.dims,
        )

    def __enter__(self) -> LentEmbedder:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """Status and JSON for one request."""
        if path.split("?")[0] != f"{self._path}/embeddings":
            return 404, _error(f"{path} is not served here")
        try:
            request = json.loads(body)
            texts = request["input"]
            texts = [texts] if isinstance(texts, str) else list(texts)
        except (ValueError, KeyError, TypeError):
            return 400, _error("input must be a text or a list of texts")
        if not texts or not all(isinstance(text, str) for text in texts):
            return 400, _error("input must be a text or a list of texts, not tokens")
        try:
            with self._lock:
                vectors = self._embedder.embed(texts)
                self.texts += len(texts)
        except ResinError as error:
            return 500, _error(str(error))
        coded = request.get("encoding_format") == "base64"
        rows = [_coded(row) if coded else row.tolist() for row in vectors]
        size = sum(len(text) for text in texts) // 4
        return 200, {
            "object": "list",
            "model": self.endpoint.model,
            "data": [
                {"object": "embedding", "index": index, "embedding": row}
                for index, row in enumerate(rows)
            ],
            "usage": {"prompt_tokens": size, "total_tokens": size},
        }


def model_name(identity: str) -> str:
    """HippoRAG takes a model for an OpenAI-compatible one by these words in its name."""
    return f"text-embedding-{identity.rsplit('/', 1)[-1]}"


def _coded(row: Any) -> str:
    return base64.b64encode(row.astype("<f4").tobytes()).decode("ascii")


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error"}}


def _handler(lent: LentEmbedder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            status, value = lent.answer(self.path, body)
            raw = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
