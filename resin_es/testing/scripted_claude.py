"""Claude on a scripted server: answers all five stages sensibly and always the same way, from
the request alone.

::

    claude = ScriptedClaude(faults={("units", 3): REFUSED})
    with ModelServer(claude) as server: ...      # RESIN_ANTHROPIC_URL=server.url
    claude.calls["units"], claude.asked_twice()
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from resin_es.model.base import content_id, token_count
from resin_es.ports.language import Stage
from resin_es.prompts import STAGES, prompt
from resin_es.testing.model_server import Asked, Reply, claude_fails
from resin_es.testing.scripted_answers import ANSWERS


class Request(NamedTuple):
    """What a request of the Messages API asks, read from its body alone."""

    stage: Stage
    system: str
    user: str
    room: int
    form: Literal["text", "schema", "tool"]
    """By a schema of the endpoint's own, by a forced tool, or neither."""
    tool: str = ""

    @property
    def content(self) -> str:
        """Hash of what is asked, however it is asked."""
        return content_id(self.stage, self.user)


class Told(NamedTuple):
    """What is said instead of the right answer: ``text`` as it stands (whatever the form), with
    another ``stop_reason``."""

    text: str
    stop_reason: str = "end_turn"


Said = Mapping[str, Any] | str
Fault = Reply | Told | Callable[[Said], "Said | Told"]
"""A whole reply (a status, a connection that drops), other words, or the right answer changed."""

REFUSED = Told("I cannot help with that.", "refusal")
EMPTY = Told("")
NOT_JSON = Told("Certainly! The article is about several things, all of them interesting.")
OVERLOADED = claude_fails(529, "overloaded_error", "Overloaded")
BROKEN = claude_fails(500, "api_error", "Internal server error")
SLOW_DOWN = claude_fails(429, "rate_limit_error", "Too many requests", {"retry-after": "0"})


def truncated(said: Said) -> Told:
    """The first half of the answer, cut off by ``max_tokens``."""
    text = said if isinstance(said, str) else json.dumps(said)
    return Told(text[: len(text) // 2], "max_tokens")


def each_unit(**fields: Any) -> Callable[[Said], Said]:
    """A change that overwrites these fields of every unit: ``quote``, ``sentences``, ``kind``."""

    def change(said: Said) -> Said:
        assert not isinstance(said, str)
        return {"units": [{**unit, **fields} for unit in said["units"]]}

    return change


class ScriptedClaude:
    """The script of a ModelServer, which calls it one request at a time.

    ``faults``: by stage and number of the call to that stage (from 1), what happens instead of
    the right answer; ``each``: by stage, what happens at every call. ``forms``: how the endpoint
    can be asked for structure; a form that it does not know gets an answer without any JSON,
    and what is asked in words a code fence amid talk. An answer longer than ``max_tokens`` is
    cut off. ``before`` is called with the number of each request
    (from 1) before it is answered. ``seconds``: how long every answer takes; ``thinking``: the
    tokens that each costs beyond its words.

    ``requests`` holds all that was asked, ``calls`` counts by stage, ``paid`` counts answers by
    the hash of what was asked, ``usages`` what each of them took, in order.
    """

    def __init__(
        self,
        *,
        faults: Mapping[tuple[Stage, int], Fault] | None = None,
        each: Mapping[Stage, Fault] | None = None,
        forms: tuple[str, ...] = ("schema", "tool"),
        before: Callable[[int], None] | None = None,
        seconds: float = 0.0,
        thinking: int = 0,
    ) -> None:
        self.faults = dict(faults or {})
        self.each = dict(each or {})
        self.before = before
        self.requests: list[Request] = []
        self.calls: Counter[Stage] = Counter()
        self.paid: Counter[str] = Counter()
        self.usages: list[Mapping[str, int]] = []
        self._forms, self._seconds, self._thinking = forms, seconds, thinking

    def __call__(self, asked: Asked) -> Reply:
        if asked.method != "POST" or asked.path.partition("?")[0] != "/v1/messages":
            return claude_fails(404, "not_found_error", f"nothing answers {asked.path}")
        request = request_in(asked.body)
        if request is None:
            return claude_fails(400, "invalid_request_error", "no system prompt of resin-es")
        self.requests.append(request)
        self.calls[request.stage] += 1
        if self.before is not None:
            self.before(len(self.requests))
        fault = self.faults.get((request.stage, self.calls[request.stage]))
        return self._answer(request, self.each.get(request.stage) if fault is None else fault)

    def asked_twice(self) -> dict[str, int]:
        """Hashes of what was paid for more than once, with how often."""
        return {content: times for content, times in self.paid.items() if times > 1}

    def forget(self) -> None:
        """Count from zero; faults start anew."""
        self.requests.clear()
        self.calls.clear()
        self.paid.clear()
        self.usages.clear()

    def _answer(self, request: Request, fault: Fault | None) -> Reply:
        if isinstance(fault, Reply):
            return fault
        self.paid[request.content] += 1
        said: Said | Told = fault if isinstance(fault, Told) else ""
        if not isinstance(fault, Told):
            right = ANSWERS[request.stage](request.user)
            said = right if fault is None else fault(right)
        blocks, reason, written = self._written(request, said)
        if token_count(written) > request.room and not isinstance(said, Told):
            blocks, reason = [_text(written[: request.room * 4])], "max_tokens"
        return Reply(self._message(request, blocks, reason, written), after=self._seconds)

    def _written(self, request: Request, said: Said | Told) -> tuple[list[Any], str, str]:
        """Content blocks, stop reason, and the words."""
        if isinstance(said, Told):
            return ([_text(said.text)] if said.text else []), said.stop_reason, said.text
        if isinstance(said, str):
            return [_text(said)], "end_turn", said
        written = json.dumps(said, ensure_ascii=False)
        if request.form == "text":
            written = f"Here you are:\n```json\n{written}\n```\nAnything else?"
        elif request.form not in self._forms:
            written = NOT_JSON.text
        elif request.form == "tool":
            name = f"toolu_{len(self.requests)}"
            block = {"type": "tool_use", "id": name, "name": request.tool, "input": dict(said)}
            return [block], "tool_use", written
        return [_text(written)], "end_turn", written

    def _message(
        self, request: Request, blocks: list[Any], reason: str, written: str
    ) -> Mapping[str, Any]:
        words = token_count(written) + self._thinking
        usage = {
            "input_tokens": token_count(request.system) + token_count(request.user),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": min(words, request.room),
        }
        self.usages.append(usage)
        return {
            "id": f"msg_{len(self.requests)}",
            "type": "message",
            "role": "assistant",
            "model": "scripted-claude",
            "content": blocks,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": usage,
        }


def request_in(body: Mapping[str, Any]) -> Request | None:
    """What ``body`` asks; None where its system prompt is none of the five."""
    system = _words(body.get("system") or "")
    stage = next((one for one in STAGES if prompt(one).text in system), None)
    if stage is None:
        return None
    forced = body.get("tool_choice") or {}
    form: Literal["text", "schema", "tool"] = "tool" if forced.get("type") == "tool" else "text"
    if (body.get("output_config") or {}).get("format"):
        form = "schema"
    user = "\n".join(_words(message["content"]) for message in body["messages"])
    return Request(stage, system, user, int(body["max_tokens"]), form, forced.get("name") or "")


def _words(content: str | list[Mapping[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text") or "") for block in content)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
