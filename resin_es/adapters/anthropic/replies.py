"""A message of the Messages API → ModelReply. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from pydantic import BaseModel

from resin_es.adapters.anthropic.requests import Route
from resin_es.adapters.prices import Prices, price_of, usage_dollars
from resin_es.errors import ModelError
from resin_es.llm.pricing import input_tokens, tokens_of
from resin_es.ports.language import ModelCall, ModelReply, Usage

Got = Literal["text", "schema", "tool", "plain", "repaired"]

_CUT = ("max_tokens", "model_context_window_exceeded")
"""Why an answer ended before it was whole."""
_PAUSED = "pause_turn"
"""A text that stops there is no whole one; JSON shows by itself whether it is."""
_DEEPEST = 50
"""Levels of an output; those asked for have five. What is deeper cannot be written again."""
_FENCE = re.compile(r"```[\w+-]*\s*\n?(.*?)```", re.DOTALL)
_OPENINGS = ("{", "[")


def reply_of(
    message: Mapping[str, Any] | Any,
    call: ModelCall,
    route: Route,
    prices: Prices,
    *,
    batch: bool = False,
) -> ModelReply:
    """What ``message``, the answer to ``request_of(call, route)``, says. ``batch``: it came by a
    batch, at its price.

    ``data`` is None where the text is no JSON, and for a truncated or refused answer, however
    whole its text may look. Broken JSON is repaired on the route "plain" alone, the last there
    is. Raises ModelError if it is no message of the Messages API.
    """
    read = fields_of(message)
    blocks = read.get("content")
    if not isinstance(blocks, list):
        raise ModelError(
            "What answered is no message of the Messages API.", hint="Check RESIN_ANTHROPIC_URL."
        )
    text = "".join(str(block.get("text") or "") for block in _of_type(blocks, "text"))
    reason = str(read.get("stop_reason") or "")
    usage = usage_of(read.get("usage")) or counted(call, blocks)
    model = str(read.get("model") or call.model)
    data, got = _structure(blocks, text, call, route, usable=reason not in (*_CUT, "refusal"))
    return ModelReply(
        text=text,
        data=data,
        model=model,
        stop_reason=reason,
        truncated=reason in _CUT or (call.output is None and reason == _PAUSED),
        refused=reason == "refusal",
        route=got,
        usage=usage,
        dollars=cost_of(usage, call, model, prices, batch=batch),
    )


def usage_of(usage: Any) -> Usage | None:
    """Tokens as the API counts them: those written to or read from the prompt cache stand beside
    the input tokens, not among them. None where it does not say."""
    read = fields_of(usage)
    found = Usage(
        input_tokens=_count(read.get("input_tokens")),
        cache_write_tokens=_count(read.get("cache_creation_input_tokens")),
        cache_read_tokens=_count(read.get("cache_read_input_tokens")),
        output_tokens=_count(read.get("output_tokens")),
    )
    return found if found.total else None


def counted(call: ModelCall, blocks: Sequence[Any]) -> Usage:
    """Tokens by length, for an endpoint that does not say: no cap would hold on nothing."""
    said = [str(block.get("text") or "") for block in _of_type(blocks, "text")]
    inputs = [block.get("input") for block in _of_type(blocks, "tool_use")]
    said += [str(one) for one in inputs if not _too_deep(one)]
    return Usage(input_tokens=input_tokens(call), output_tokens=tokens_of("".join(said)))


def cost_of(
    usage: Usage, call: ModelCall, model: str, prices: Prices, *, batch: bool = False
) -> float:
    """US dollars of one request, by the model that was asked for; where that name has no price,
    as a gateway's own, by the ``model`` that says it answered."""
    named = call.model if price_of(prices, call.model) else model
    return usage_dollars(prices, named, usage, batch=batch)


def fits(data: Any, schema: Mapping[str, Any]) -> bool:
    """Whether ``data`` has the outermost shape of ``schema``: its type and required names. What
    lies within is for the stage's own model to judge."""
    kind = schema.get("type")
    if kind == "object":
        return isinstance(data, dict) and all(name in data for name in schema.get("required", ()))
    return data is not None if kind != "array" else isinstance(data, list)


def obeyed(reply: ModelReply, call: ModelCall, route: Route) -> bool:
    """Whether the endpoint did as ``route`` asked, as far as its answer tells. An answer that is
    refused or empty tells nothing against it."""
    silent = reply.refused or (not reply.text.strip() and reply.data is None)
    if route == "plain" or fits(reply.data, call.output or {}):
        return True
    if route == "tool":  # a tool call of the wrong shape is the model's fault
        return reply.route == "tool" or (silent and not reply.truncated)
    return silent or (reply.truncated and reply.route == "schema")


def _structure(
    blocks: list[Any], text: str, call: ModelCall, route: Route, *, usable: bool
) -> tuple[Any, Got]:
    if call.output is None:
        return None, "text"
    tools = _of_type(blocks, "tool_use")
    if tools:
        return (_tool_input(tools[0]) if usable else None), "tool"
    opens = text.lstrip().startswith(_OPENINGS)
    got: Got = "schema" if route == "schema" and opens else "plain"
    if not usable:
        return None, got
    whole = _parsed(text)
    if whole is not None:
        return whole, got
    for part in _within(text):
        if fits(part, call.output):
            return part, "plain"
    repaired = _repaired(text) if route == "plain" else None
    return (repaired, "repaired") if fits(repaired, call.output) else (None, "plain")


def _tool_input(block: Mapping[str, Any]) -> Any:
    given = block.get("input")
    if isinstance(given, str):  # some endpoints send it as text
        return _parsed(given)
    return None if _too_deep(given) else given


def _parsed(text: str) -> Any:
    """JSON objects and arrays alone: a bare word or number is prose as likely as JSON."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, (dict, list)) and not _too_deep(data) else None


def _too_deep(data: Any) -> bool:
    level = [data]
    for _ in range(_DEEPEST):
        if not level:
            return False
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return bool(level)


def _within(text: str) -> list[Any]:
    """Whole JSON values inside a text: in code fences, or from its first bracket on."""
    found = [_parsed(part) for part in _FENCE.findall(text)]
    start = min((at for at in map(text.find, _OPENINGS) if at >= 0), default=-1)
    if start >= 0:
        with suppress(ValueError, RecursionError):
            found.append(json.JSONDecoder().raw_decode(text, start)[0])
    return [one for one in found if one is not None and not _too_deep(one)]


def _repaired(text: str) -> Any:
    import json_repair

    try:
        data = json_repair.loads(text)
    except (ValueError, RecursionError):
        return None
    return None if _too_deep(data) else data


def _of_type(blocks: Sequence[Any], kind: str) -> list[Mapping[str, Any]]:
    return [read for read in map(fields_of, blocks) if read.get("type") == kind]


def fields_of(value: Any) -> Mapping[str, Any]:
    """The fields of a JSON object or of one of the SDK's values, one level deep: what a model
    nested too deep cannot be dumped."""
    if isinstance(value, Mapping):
        return value
    return {**vars(value), **(value.model_extra or {})} if isinstance(value, BaseModel) else {}


def _count(value: Any) -> int:
    """Some endpoints write numbers as text, or with a point."""
    try:
        return max(0, int(float(value)))
    except (TypeError, ValueError, OverflowError):
        return 0
