"""A local HTTP server that speaks for a model by key: what it is sent is kept, what it answers
was written before."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

from resin_es.ports import Completion
from resin_es.testing.model_events import ModelEvent, encoded, message_events


class Asked(NamedTuple):
    """One request. Header names are in lower case; a GET has an empty body."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    method: str = "POST"


class Reply(NamedTuple):
    """One answer: ``content`` is sent as JSON, or as it stands if it is bytes. A message of the
    Messages API goes out as an event stream where the request says ``stream``.

    ``headers`` join the usual ones. ``events``: a stream, written out. ``hangs`` never answers at
    all, until the server is closed. ``after``: seconds before the answer begins. ``drops_after``
    and ``stalls_after``: so many events of the stream, or bytes of another answer, are sent, then
    the connection is cut, or stays silent until the server is closed.
    """

    content: Any = None
    status: int = 200
    hangs: bool = False
    headers: Mapping[str, str] = {}
    events: Sequence[ModelEvent] | None = None
    after: float = 0.0
    drops_after: int | None = None
    stalls_after: int | None = None


HANGS = Reply(hangs=True)
Script = Callable[[Asked], Reply]


class ModelServer:
    """Use it as a context manager. ``script``: replies in order, the last one again and again,
    or a function of the request. ``asked`` holds every request."""

    def __init__(self, script: Script | Iterable[Reply]) -> None:
        self.asked: list[Asked] = []
        self._script = script if callable(script) else self._in_order(list(script))
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @staticmethod
    def _in_order(replies: list[Reply]) -> Script:
        return lambda asked: replies.pop(0) if len(replies) > 1 else replies[0]

    def _reply(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            return self._script(asked)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(_Answering):
            closing = server._closing

            def do_GET(self) -> None:
                self.do_POST()

            def do_DELETE(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.path, headers, json.loads(sent or b"{}"), self.command)
                with suppress(ConnectionError):  # whoever asked may have left
                    self.answer(asked, server._reply(asked))

        return Handler


class _Answering(BaseHTTPRequestHandler):
    """Writes replies. HTTP/1.1, so that a stream cut short is seen to be; one request for each
    connection, so that none outlives the server."""

    protocol_version = "HTTP/1.1"
    closing: threading.Event

    def answer(self, asked: Asked, reply: Reply) -> None:
        self.close_connection = True
        self.closing.wait() if reply.hangs else self.closing.wait(reply.after)
        if reply.hangs:
            return
        streams = reply.events is not None or (asked.body.get("stream") and _is_message(reply))
        parts = _parts(reply, bool(streams))
        self._head(reply, None if streams else sum(map(len, parts)))
        for sent, part in enumerate(parts):
            if sent == reply.stalls_after:
                self.wfile.flush()
                self.closing.wait()
            if sent in (reply.stalls_after, reply.drops_after):
                return
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part) if streams else part)
        if streams and reply.drops_after is None and reply.stalls_after is None:
            self.wfile.write(b"0\r\n\r\n")

    def _head(self, reply: Reply, length: int | None) -> None:
        kind = "application/json" if length is not None else "text/event-stream"
        body = ("transfer-encoding", "chunked") if length is None else ("content-length", length)
        waits = {} if "retry-after" in reply.headers else {"retry-after-ms": "1"}
        usual = {"content-type": kind, body[0]: str(body[1]), "connection": "close", **waits}
        self.send_response(reply.status)
        for name, value in {**usual, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _is_message(reply: Reply) -> bool:
    return isinstance(reply.content, Mapping) and reply.content.get("type") == "message"


def _parts(reply: Reply, streams: bool) -> list[bytes]:
    if streams:
        events = message_events(reply.content) if reply.events is None else reply.events
        return [encoded(event) for event in events]
    raw = isinstance(reply.content, bytes)
    content: bytes = reply.content if raw else json.dumps(reply.content).encode()
    if reply.drops_after is None and reply.stalls_after is None:
        return [content]
    return [content[at : at + 1] for at in range(len(content))]


def claude_says(text: str, *, stop_reason: str = "end_turn", taken: int = 10) -> Reply:
    """A text message as the Messages API writes it; 5 output tokens."""
    return Reply(claude_message([{"type": "text", "text": text}], stop_reason, taken))


def claude_calls(tool: str, arguments: Mapping[str, Any]) -> Reply:
    """A tool call as the Messages API writes it."""
    block = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": dict(arguments)}
    return Reply(claude_message([block], "tool_use", 10))


def claude_fails(
    status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
) -> Reply:
    """An error as the Messages API writes it: 429 rate_limit_error, 529 overloaded_error, 500
    api_error, 400 invalid_request_error, …"""
    error = {"type": "error", "error": {"type": kind, "message": message}}
    return Reply(error, status, headers=headers or {})


def claude_message(
    content: list[dict[str, Any]], stop_reason: str, taken: int
) -> Mapping[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": taken, "output_tokens": 5},
    }


def openai_says(text: str) -> Reply:
    """A chat completion; 10 tokens in, 5 out."""
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    }
    return Reply(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [choice],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }
    )


class ScriptedTextModel:
    """A TextModel that answers in order; ``prompts`` holds what it was asked."""

    def __init__(self, *answers: str | Exception, name: str = "scripted") -> None:
        self.name = name
        self.prompts: list[tuple[str, str, int]] = []
        self._answers = list(answers)

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        self.prompts.append((system, prompt, max_tokens))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Completion(text=answer, input_tokens=100, output_tokens=20, dollars=0.01)
