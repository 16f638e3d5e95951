"""ModelCall → body of a Messages API request. Pure.

https://docs.anthropic.com/en/api/messages; structured outputs, forced tools and prompt caching
each have a page of their own there.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from resin_es.ports.language import ModelCall

Route = Literal["text", "schema", "tool", "plain"]
"""How an answer's structure is asked for: not at all, by the endpoint's own JSON schema, by a
forced tool call, or in words."""

TOOL = "answer"
_TOOL_SAYS = "Hands over the whole answer. Call it exactly once."
_IN_WORDS = (
    "Answer with one JSON value and nothing else: no word before or after it, no code fence. "
    "It must fit this JSON schema:\n{schema}"
)


def request_of(call: ModelCall, route: Route, effort: str = "") -> dict[str, Any]:
    """The body of ``call``. ``route`` is "text" if and only if the call has no ``output``.
    ``effort`` says how hard the model is to think; an endpoint that did not take the schema is
    not asked for that either.

    The system prompt is a block that the provider may cache: it is the same for every call of a
    stage. Raises ValueError for a route that does not fit the call, and for a schema that cannot
    be written as the endpoint wants it.
    """
    if (route == "text") is not (call.output is None):
        raise ValueError(f"route {route!r} does not fit a call of stage {call.stage!r}")
    body: dict[str, Any] = {
        "model": call.model,
        "max_tokens": call.max_tokens,
        "messages": [{"role": "user", "content": call.user}],
    }
    system = f"{call.system}\n\n{_words(call)}".strip() if route == "plain" else call.system
    if system:
        cached = {"type": "ephemeral"}
        body["system"] = [{"type": "text", "text": system, "cache_control": cached}]
    config: dict[str, Any] = {"effort": effort} if effort else {}
    if route == "schema":
        config["format"] = {"type": "json_schema", "schema": _accepted(call)}
    if config and route in ("text", "schema"):
        body["output_config"] = config
    if route == "tool":
        schema = dict(call.output or {})
        body["tools"] = [{"name": TOOL, "description": _TOOL_SAYS, "input_schema": schema}]
        chosen = {"type": "tool", "name": TOOL, "disable_parallel_tool_use": True}
        body["tool_choice"] = chosen
    return body


def structured_routes(call: ModelCall) -> tuple[Route, ...]:
    """The routes to a structured answer, best first. A tool's input can only be an object."""
    takes_object = (call.output or {}).get("type") == "object"
    return ("schema", "tool", "plain") if takes_object else ("schema", "plain")


def _accepted(call: ModelCall) -> dict[str, Any]:
    """The schema in the subset that structured outputs take: what they do not know (bounds,
    patterns, defaults) goes into descriptions, and every object is closed."""
    from anthropic import transform_schema

    return transform_schema(dict(call.output or {}))


def _words(call: ModelCall) -> str:
    return _IN_WORDS.format(schema=json.dumps(call.output, ensure_ascii=False))
