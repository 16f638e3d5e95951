"""Claude through the real SDK on a scripted server: the routes to a structured answer."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

import pytest

from resin_es.adapters.anthropic.requests import request_of
from resin_es.errors import ModelError
from resin_es.ports.language import ModelReply, Usage
from resin_es.testing.model_server import (
    ModelServer,
    Reply,
    claude_calls,
    claude_fails,
    claude_message,
    claude_says,
)
from tests.contract.claude_calls import CALL, FREE, GOOD, KEY, SCHEMA

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)

TOOL = claude_calls("answer", {"a": 1})
PROSE = claude_says("I would say one.")
ONE = 10 * 1.0 / 1e6 + 5 * 100.0 / 1e6
"""Dollars of one scripted answer: 10 tokens in, 5 out."""


def routes_of(server: ModelServer) -> list[str]:
    """Which route each request took."""
    return [
        "schema" if "output_config" in one.body else "tool" if "tools" in one.body else "plain"
        for one in server.asked
    ]


def refused(message: str, status: int = 400) -> Reply:
    return claude_fails(status, "invalid_request_error", message)


def test_by_schema(model_on: Any) -> None:
    with model_on(GOOD) as (model, server):
        reply = model.call(CALL)
    assert reply == ModelReply(
        text='{"a": 1}',
        data={"a": 1},
        model="scripted",
        stop_reason="end_turn",
        route="schema",
        usage=Usage(input_tokens=10, output_tokens=5),
        dollars=reply.dollars,
    )
    assert reply.dollars == pytest.approx(ONE)
    (asked,) = server.asked
    assert asked.path == "/v1/messages"
    assert asked.body == request_of(CALL, "schema")
    assert KEY in " ".join(asked.headers.values())


def test_free_text(model_on: Any) -> None:
    with model_on(claude_says("Because.")) as (model, server):
        reply = model.call(FREE)
    assert (reply.text, reply.data, reply.route, reply.calls) == ("Because.", None, "text", 1)
    assert [one.body for one in server.asked] == [request_of(FREE, "text")]


def test_an_ignored_schema_leads_to_a_tool_and_is_paid_for_once(model_on: Any) -> None:
    with model_on(PROSE, TOOL) as (model, server):
        first, second = model.call(CALL), model.call(CALL.model_copy(update={"user": "more"}))
    assert routes_of(server) == ["schema", "tool", "tool"]
    assert server.asked[1].body == request_of(CALL, "tool")
    assert (first.data, first.route, first.calls) == ({"a": 1}, "tool", 2)
    assert first.usage == Usage(input_tokens=20, output_tokens=10)
    assert first.dollars == pytest.approx(2 * ONE)
    assert (second.data, second.route, second.calls) == ({"a": 1}, "tool", 1)


def test_all_ignored_ends_in_words_and_is_paid_for_once(model_on: Any) -> None:
    with model_on(PROSE, PROSE, GOOD) as (model, server):
        first, second = model.call(CALL), model.call(CALL)
    assert routes_of(server) == ["schema", "tool", "plain", "plain"]
    assert server.asked[2].body == request_of(CALL, "plain")
    assert (first.data, first.route, first.calls) == ({"a": 1}, "plain", 3)
    assert first.usage == Usage(input_tokens=30, output_tokens=15)
    assert (second.data, second.calls) == ({"a": 1}, 1)


def test_one_model_ignoring_it_says_nothing_of_another(model_on: Any) -> None:
    with model_on(PROSE, TOOL, GOOD) as (model, server):
        model.call(CALL)
        model.call(CALL.model_copy(update={"model": "m-2"}))
    assert routes_of(server) == ["schema", "tool", "schema"]


@pytest.mark.parametrize(
    "message",
    [
        "output_config: Extra inputs are not permitted",
        "This model does not support structured outputs.",
        "output_config.format.schema: Compiled grammar is too large",
    ],
)
def test_a_refused_schema_is_asked_once(model_on: Any, message: str) -> None:
    with model_on(refused(message), TOOL) as (model, server):
        first, second = model.call(CALL), model.call(CALL)
    assert routes_of(server) == ["schema", "tool", "tool"]
    assert (first.data, first.route, first.calls) == ({"a": 1}, "tool", 2)
    assert first.usage == Usage(input_tokens=10, output_tokens=5)
    assert second.calls == 1


def test_a_refusal_may_be_about_one_schema_alone(model_on: Any) -> None:
    with model_on(refused("schema is too complex"), TOOL, GOOD) as (model, server):
        model.call(CALL)
        model.call(CALL.model_copy(update={"output": {**SCHEMA, "title": "Another"}}))
    assert routes_of(server) == ["schema", "tool", "schema"]


def test_refused_schema_and_tool_end_in_words(model_on: Any) -> None:
    no_tools = claude_fails(500, "api_error", "tools param requires --jinja flag")
    with model_on(refused("output_format"), no_tools, GOOD, retries=0) as (model, server):
        reply = model.call(CALL)
    assert routes_of(server) == ["schema", "tool", "plain"]
    assert (reply.data, reply.route, reply.calls) == ({"a": 1}, "plain", 3)
    assert reply.usage == Usage(input_tokens=10, output_tokens=5)


def test_broken_json_is_repaired_only_in_words(model_on: Any) -> None:
    with model_on(PROSE, PROSE, claude_says("Well: {'a': 1,")) as (model, server):
        reply = model.call(CALL)
    assert len(server.asked) == 3
    assert (reply.data, reply.route) == ({"a": 1}, "repaired")


def test_what_is_no_json_anywhere_comes_back_as_its_text(model_on: Any) -> None:
    with model_on(PROSE) as (model, server):
        reply = model.call(CALL)
    assert len(server.asked) == 3
    assert (reply.data, reply.text, reply.route) == (None, "I would say one.", "plain")


@pytest.mark.parametrize(
    ("reply", "fields"),
    [
        (claude_says('{"a": 1}', stop_reason="max_tokens"), {"truncated": True}),
        (claude_says("I will not.", stop_reason="refusal"), {"refused": True}),
        (claude_says(""), {"text": ""}),
        (Reply(claude_message([], "end_turn", 10)), {"text": ""}),
    ],
)
def test_truncated_refused_and_empty_answers_ask_nothing_more(
    model_on: Any, reply: Reply, fields: dict[str, Any]
) -> None:
    with model_on(reply) as (model, server):
        got = model.call(CALL)
    assert len(server.asked) == 1
    assert got.data is None
    assert {name: getattr(got, name) for name in fields} == fields


def test_prose_that_ran_out_of_room_shows_that_the_schema_is_ignored(model_on: Any) -> None:
    endless = claude_says("Once upon a time", stop_reason="max_tokens")
    with model_on(endless, TOOL) as (model, server):
        assert model.call(CALL).data == {"a": 1}
    assert routes_of(server) == ["schema", "tool"]


def test_what_was_paid_before_a_failure_is_told(model_on: Any) -> None:
    too_much = claude_fails(529, "overloaded_error", "Overloaded")
    with model_on(PROSE, too_much, retries=0) as (model, server):
        with pytest.raises(ModelError, match="overloaded") as failed:
            model.call(CALL)
        assert len(server.asked) == 2
    assert failed.value.reply.usage == Usage(input_tokens=10, output_tokens=5)
    assert failed.value.reply.dollars == pytest.approx(ONE)


def test_a_tool_call_nested_too_deep_is_an_answer_without_data(model_on: Any) -> None:
    deep: Any = 1
    for _ in range(400):
        deep = [deep]
    with model_on(PROSE, claude_calls("answer", {"a": 1, "b": deep})) as (model, _):
        reply = model.call(CALL)
    assert (reply.route, reply.data, reply.calls) == ("tool", None, 2)
    assert reply.dollars == pytest.approx(2 * ONE)
