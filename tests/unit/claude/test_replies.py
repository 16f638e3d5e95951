"""What messages of the Messages API say, good ones and bad ones."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.adapters.anthropic.replies import fits, obeyed, reply_of
from resin_es.adapters.anthropic.requests import Route
from resin_es.errors import ModelError
from resin_es.ports.language import ModelCall, ModelReply, Usage

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
CALL = ModelCall(
    stage="units", model="m-1", prompt_version="1", system="s", user="u", output=SCHEMA
)
FREE = CALL.model_copy(update={"output": None})
GOOD = {"a": 1}


def message(*blocks: dict[str, Any], reason: str = "end_turn", **usage: int) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "model": "m-1-2026",
        "content": list(blocks),
        "stop_reason": reason,
        "usage": {"input_tokens": 100, "output_tokens": 10, **usage},
    }


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def tool(value: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t", "name": "answer", "input": value}


def read(route: Route, *blocks: dict[str, Any], reason: str = "end_turn") -> ModelReply:
    return reply_of(message(*blocks, reason=reason), CALL, route, {})


def test_free_text_and_its_price() -> None:
    said = message(
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        text("Because "),
        text("of it."),
        cache_creation_input_tokens=20,
        cache_read_input_tokens=3000,
    )
    prices = {"m-1": (1.0, 10.0, 2.0, 0.1)}
    usage = Usage(input_tokens=100, cache_write_tokens=20, cache_read_tokens=3000, output_tokens=10)
    assert reply_of(said, FREE, "text", prices) == ModelReply(
        text="Because of it.",
        model="m-1-2026",
        stop_reason="end_turn",
        route="text",
        usage=usage,
        dollars=(100 * 1.0 + 20 * 2.0 + 3000 * 0.1 + 10 * 10.0) / 1_000_000,
    )
    half = reply_of(said, FREE, "text", prices, batch=True)
    assert half.dollars == pytest.approx((100 + 20 * 2 + 3000 * 0.1 + 10 * 10) / 2e6)


def test_a_gateways_own_name_is_priced_by_the_model_that_answered() -> None:
    prices = {"m-1-2026": (1.0, 10.0)}
    assert reply_of(message(text("x")), FREE, "text", prices).dollars == (100 + 100) / 1_000_000


@pytest.mark.parametrize(
    ("route", "block", "data", "got"),
    [
        ("schema", text('{"a": 1}'), GOOD, "schema"),
        ("schema", text(' \n{"a": 1}\n'), GOOD, "schema"),
        ("schema", text('```json\n{"a": 1}\n```'), GOOD, "plain"),
        ("schema", text("no"), None, "plain"),
        ("schema", text("{'a': 1,}"), None, "plain"),  # never repaired where a route is left
        ("schema", text('{"b": 1}'), {"b": 1}, "schema"),
        ("tool", tool({"a": 1}), GOOD, "tool"),
        ("tool", tool('{"a": 1}'), GOOD, "tool"),
        ("tool", tool("half"), None, "tool"),
        ("tool", tool({"b": 2}), {"b": 2}, "tool"),
        ("tool", text('{"a": 1}'), GOOD, "plain"),
        ("plain", text('{"a": 1}'), GOOD, "plain"),
        ("plain", text('Here it is:\n```\n{"a": 1}\n```\nDone.'), GOOD, "plain"),
        ("plain", text('Sure! {"a": 1} is it, {not that}.'), GOOD, "plain"),
        ("plain", text("Sure! {'a': 1, }"), GOOD, "repaired"),
        ("plain", text('{"a": 1, "b": "cut'), {"a": 1, "b": "cut"}, "repaired"),
        ("plain", text("I cannot say."), None, "plain"),
        ("plain", text('{"type": "object" "required": ["a"]}'), None, "plain"),  # the schema's echo
        ("plain", text("7"), None, "plain"),
        ("plain", text("[" * 100_000), None, "plain"),
        ("plain", text(""), None, "plain"),
    ],
)
def test_structure(route: Route, block: dict[str, Any], data: Any, got: str) -> None:
    reply = read(route, block)
    assert (reply.data, reply.route) == (data, got)
    assert not reply.truncated
    assert not reply.refused


@pytest.mark.parametrize("route", ["schema", "tool", "plain"])
@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal"])
def test_an_unfinished_answer_has_no_data_however_whole_it_looks(route: Route, reason: str) -> None:
    for block in (text('{"a": 1}'), tool({"a": 1}), text('{"a": 1, "b": [2')):
        reply = read(route, block, reason=reason)
        assert reply.data is None
        assert reply.stop_reason == reason
        assert reply.refused is (reason == "refusal")
        assert reply.truncated is (reason != "refusal")


def test_a_pause_leaves_a_text_unfinished_and_whole_json_whole() -> None:
    said = message(text("It is"), reason="pause_turn")
    assert reply_of(said, FREE, "text", {}).truncated
    reply = read("schema", text('{"a": 1}'), reason="pause_turn")
    assert (reply.data, reply.truncated) == (GOOD, False)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [60, 300, 900])
@pytest.mark.parametrize("route", ["schema", "tool", "plain"])
def test_what_is_nested_too_deep_is_no_data(route: Route, levels: int) -> None:
    """It could be read, but neither kept, recorded nor shown."""
    data = {"a": nested(levels)}
    for block in (tool(data), tool(json.dumps(data)), text(json.dumps(data))):
        assert read(route, block).data is None
        assert read(route, text("Here: " + json.dumps(data))).data is None
    assert read(route, tool({"a": nested(40)})).data == {"a": nested(40)}


def test_nothing_said() -> None:
    reply = read("schema")
    assert (reply.text, reply.data, reply.truncated, reply.refused) == ("", None, False, False)


@pytest.mark.parametrize("answer", ["<html>", None, {"x": 1}, {"content": None}, [], 5])
def test_what_is_no_message(answer: Any) -> None:
    with pytest.raises(ModelError, match="no message of the Messages API") as raised:
        reply_of(answer, CALL, "schema", {})
    assert "RESIN_ANTHROPIC_URL" in raised.value.hint


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": None}, {"input_tokens": 0}, "many"])
def test_what_an_endpoint_does_not_count_is_counted_by_length(usage: Any) -> None:
    said = {**message(text("x" * 30)), "usage": usage}
    found = reply_of(said, FREE, "text", {"m-1": (1.0, 10.0)})
    assert found.usage == Usage(input_tokens=2, output_tokens=10)
    assert found.dollars == pytest.approx(102 / 1_000_000)
    said["content"] = [tool({"a": "x" * 30})]
    assert reply_of(said, CALL, "tool", {}).usage.output_tokens > 10


@pytest.mark.parametrize("number", ["120", 120.0, "120.0"])
def test_numbers_in_other_spellings_count(number: Any) -> None:
    said = {**message(text("x")), "usage": {"input_tokens": number, "output_tokens": number}}
    found = reply_of(said, FREE, "text", {})
    assert found.usage == Usage(input_tokens=120, output_tokens=120)


def test_usage_that_makes_no_sense_counts_as_nothing() -> None:
    said = message(text("x"))
    said["usage"] = {"input_tokens": 5, "cache_read_input_tokens": float("nan")}
    assert reply_of(said, FREE, "text", {}).usage == Usage(input_tokens=5)
    said["usage"] = {"input_tokens": 5, "cache_read_input_tokens": None, "output_tokens": "x"}
    assert reply_of(said, FREE, "text", {}).usage == Usage(input_tokens=5)


def test_fits() -> None:
    assert fits({"a": "of any kind", "more": 1}, SCHEMA)
    assert not fits({"b": 1}, SCHEMA)
    assert not fits([GOOD], SCHEMA)
    assert not fits(None, SCHEMA)
    assert fits([], {"type": "array"})
    assert not fits({}, {"type": "array"})


@pytest.mark.parametrize(
    ("route", "block", "reason", "expected"),
    [
        ("schema", text('{"a": 1}'), "end_turn", True),
        ("schema", text("prose"), "end_turn", False),
        ("schema", text('{"b": 1}'), "end_turn", False),  # an enforced schema could not
        ("schema", text('```{"a": 1}```'), "end_turn", True),  # ignored, but nothing is lost
        ("schema", text('{"a": '), "max_tokens", True),
        ("schema", text("prose on and"), "max_tokens", False),
        ("schema", text(""), "end_turn", True),
        ("schema", text("I will not"), "refusal", True),
        ("tool", tool({"b": 1}), "tool_use", True),  # the model's fault
        ("tool", tool({}), "max_tokens", True),
        ("tool", text("prose"), "end_turn", False),
        ("tool", text("prose on and"), "max_tokens", False),
        ("tool", text('{"a": 1}'), "end_turn", True),
        ("tool", text(""), "end_turn", True),
        ("tool", text("I will not"), "refusal", True),
        ("plain", text("prose"), "end_turn", True),
    ],
)
def test_whether_the_endpoint_did_as_asked(
    route: Route, block: dict[str, Any], reason: str, expected: bool
) -> None:
    assert obeyed(read(route, block, reason=reason), CALL, route) is expected


@given(st.text())
def test_no_text_breaks_the_reading(said: str) -> None:
    for route in ("schema", "tool", "plain"):
        reply = read(route, text(said))
        assert reply.text == said
        assert reply.data is None or fits(reply.data, SCHEMA) or json.loads(said) == reply.data


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner)))
def test_any_whole_answer_survives_its_fence(inner: Any) -> None:
    said = json.dumps({"a": inner})
    for wrapped in (said, f"```json\n{said}\n```", f"Here:\n{said}\nDone."):
        assert read("plain", text(wrapped)).data == {"a": inner}
