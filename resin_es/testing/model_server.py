"""A local HTTP server that speaks for a model by key: what it is sent is kept, what it answers
was written before."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

from resin_es.ports import Completion


class Asked(NamedTuple):
    """One request. Header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class Reply(NamedTuple):
    """One answer: ``content`` is sent as JSON, or as it stands if it is bytes. ``hangs`` never
    answers at all, until the server is closed."""

    content: Any = None
    status: int = 200
    hangs: bool = False


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

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = server._reply(Asked(self.path, headers, json.loads(sent or b"{}")))
                if reply.hangs:
                    server._closing.wait()
                    self.close_connection = True
                    return
                raw = isinstance(reply.content, bytes)
                content = reply.content if raw else json.dumps(reply.content).encode()
                self.send_response(reply.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


def claude_says(text: str, *, stop_reason: str = "end_turn", taken: int = 10) -> Reply:
    """A text message as the Messages API writes it; 5 output tokens."""
    return Reply(claude_message([{"type": "text", "text": text}], stop_reason, taken))


def claude_calls(tool: str, arguments: Mapping[str, Any]) -> Reply:
    """A tool call as the Messages API writes it."""
    block = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": dict(arguments)}
    return Reply(claude_message([block], "tool_use", 10))


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
