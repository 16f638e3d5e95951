"""Claude's text as it is written, and streams that break off."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

import pytest

from resin_es.adapters.anthropic.requests import request_of
from resin_es.errors import ModelError
from resin_es.ports.language import ModelReply, Usage
from resin_es.testing.model_events import ModelEvent, error_event, message_events
from resin_es.testing.model_server import (
    Reply,
    claude_fails,
    claude_says,
)
from tests.contract.claude_calls import CALL, FREE, GOOD

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)

ONE = 10 * 1.0 / 1e6 + 5 * 100.0 / 1e6
"""Dollars of one scripted answer: 10 tokens in, 5 out."""


def test_text_as_it_comes_then_the_whole(model_on: Any) -> None:
    with model_on(claude_says("One two  three.")) as (model, server):
        *texts, whole = model.stream(FREE)
    assert texts == ["One", " two", "  three."]
    assert isinstance(whole, ModelReply)
    assert (whole.text, whole.route, whole.stop_reason) == (
        "One two  three.",
        "text",
        "end_turn",
    )
    assert whole.usage == Usage(input_tokens=10, output_tokens=5)
    assert whole.dollars == pytest.approx(ONE)
    assert [one.body for one in server.asked] == [{**request_of(FREE, "text"), "stream": True}]


def test_truncated(model_on: Any) -> None:
    with model_on(claude_says("One", stop_reason="max_tokens")) as (model, _):
        *_, whole = model.stream(FREE)
    assert isinstance(whole, ModelReply)
    assert whole.truncated


def test_the_first_text_comes_before_the_last_is_written(model_on: Any) -> None:
    with model_on(claude_says("One two three")._replace(stalls_after=4)) as (model, _):
        stream = model.stream(FREE)
        assert next(stream) == "One"
        stream.close()


def test_a_failure_before_the_first_text_is_repeated(model_on: Any) -> None:
    busy = claude_fails(529, "overloaded_error", "later")
    with model_on(busy, claude_says("Yes.")) as (model, server):
        *texts, _ = model.stream(FREE)
    assert (texts, len(server.asked)) == (["Yes."], 2)


def test_a_schema_cannot_be_streamed(model_on: Any) -> None:
    with model_on(GOOD) as (model, server), pytest.raises(ValueError, match="does not fit"):
        list(model.stream(CALL))
    assert not server.asked


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ({"drops_after": 5}, "The connection to {url} broke off: peer closed connection"),
        ({"stalls_after": 5}, "m-1 at {url} fell silent for 0.3 s in the middle"),
        ("ends", "The answer of m-1 at {url} broke off before its end."),
        ("overloaded", "{url} is overloaded: busy."),
    ],
)
def test_broken_off(model_on: Any, events: Any, says: str) -> None:
    whole = claude_says("One two three four")
    begun: list[ModelEvent] = message_events(whole.content)[:5]
    if events == "ends":
        whole = Reply(events=begun)
    elif events == "overloaded":
        whole = Reply(events=[*begun, error_event("overloaded_error", "busy")])
    else:
        whole = whole._replace(**events)
    texts: list[str | ModelReply] = []
    with model_on(whole, timeout=0.3) as (model, server):
        with pytest.raises(ModelError) as failed:
            texts.extend(model.stream(FREE))
        assert len(server.asked) == 1
    assert type(failed.value) is ModelError
    assert says.format(url=server.url) in failed.value.message
    assert texts == ["One", " two"]
    assert failed.value.reply.text == "One two"
    assert failed.value.reply.usage == Usage(input_tokens=10, output_tokens=2)
    assert failed.value.reply.dollars == pytest.approx(10 / 1e6 + 2 * 100 / 1e6)


@pytest.mark.parametrize("answer", [Reply({"x": 1}), Reply(b"<html>"), Reply(events=[])])
def test_what_is_no_stream(model_on: Any, answer: Reply) -> None:
    with (
        model_on(answer) as (model, _),
        pytest.raises(ModelError, match="no event stream") as failed,
    ):
        list(model.stream(FREE))
    assert "RESIN_ANTHROPIC_URL" in failed.value.hint


def test_a_stream_that_leaves_out_what_the_sdk_needs_is_said_to_be_foreign(model_on: Any) -> None:
    events = message_events(claude_says("One two.").content)
    bare = [
        ModelEvent(one.name, {k: v for k, v in one.data.items() if k != "usage"}) for one in events
    ]
    with model_on(Reply(events=bare)) as (model, _), pytest.raises(ModelError) as caught:
        list(model.stream(FREE))
    assert "does not keep to the Messages API" in caught.value.message
    assert "RESIN_ANTHROPIC_URL" in caught.value.hint
