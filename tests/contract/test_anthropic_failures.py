"""Every way in which a call of Claude can fail: requests made, and the message shown."""

from __future__ import annotations

import logging
import os
import threading
import time
from email.utils import formatdate
from importlib.util import find_spec
from typing import Any

import pytest

from resin_es.errors import ModelError, ModelUnavailable
from resin_es.ports.language import Usage
from resin_es.testing.model_server import (
    HANGS,
    ModelServer,
    Reply,
    claude_fails,
)
from tests.contract.claude_calls import CALL, FREE, GOOD, KEY

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)


def refused(message: str, status: int = 400) -> Reply:
    return claude_fails(status, "invalid_request_error", message)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(429, "rate_limit_error"), (500, "api_error"), (529, "overloaded_error"), (502, "x")],
)
def test_what_passes_is_repeated(model_on: Any, status: int, kind: str) -> None:
    busy = claude_fails(status, kind, "later")
    with model_on(busy, busy, GOOD) as (model, server):
        reply = model.call(CALL)
    assert len(server.asked) == 3
    assert (reply.data, reply.calls) == ({"a": 1}, 1)
    assert reply.usage == Usage(input_tokens=10, output_tokens=5)


def test_retry_after_is_obeyed(model_on: Any) -> None:
    waits = claude_fails(429, "rate_limit_error", "slow down", {"retry-after": "1"})
    with model_on(waits, GOOD) as (model, server):
        watch = threading.Event()

        def ask() -> None:
            model.call(CALL)
            watch.set()

        started = threading.Thread(target=ask)
        started.start()
        assert not watch.wait(0.7)
        started.join()
    assert len(server.asked) == 2
    assert watch.is_set()


@pytest.mark.parametrize(("after", "seconds"), [("3600", "3600"), ("a date", "3")])
def test_a_wait_of_an_hour_is_said_instead_of_waited_for(
    model_on: Any, after: str, seconds: str
) -> None:
    if after == "a date":  # of now: tests are collected long before they run
        after = formatdate(time.time() + 3600, usegmt=True)
    waits = claude_fails(429, "rate_limit_error", "Quota used.", {"retry-after": after})
    with model_on(waits) as (model, server), pytest.raises(ModelError) as failed:
        model.call(CALL)
    assert len(server.asked) == 1
    assert f"takes no more calls: Quota used; it asks to wait {seconds}" in failed.value.message


@pytest.mark.parametrize(
    ("reply", "asked", "kind", "says", "hint"),
    [
        (
            claude_fails(401, "authentication_error", f"invalid key {KEY}"),
            1,
            ModelUnavailable,
            "{url} refused the key: invalid key ********.",
            "RESIN_ANTHROPIC_KEY",
        ),
        (
            claude_fails(403, "permission_error", "not for you"),
            1,
            ModelUnavailable,
            "{url} refused the key: not for you.",
            "RESIN_ANTHROPIC_KEY",
        ),
        (
            claude_fails(404, "not_found_error", "model: m-1"),
            1,
            ModelUnavailable,
            "{url} has no model 'm-1': model: m-1.",
            "RESIN_ANTHROPIC_URL",
        ),
        (
            refused("Your credit balance is too low."),
            1,
            ModelUnavailable,
            "{url} wants to be paid first: Your credit balance is too low.",
            "",
        ),
        (
            refused("prompt is too long: 210000 tokens > 200000 maximum"),
            1,
            ModelError,
            "m-1 at {url} takes no text this long: prompt is too long: 210000 tokens > "
            "200000 maximum.",
            "RESIN_BUDGET",
        ),
        (
            claude_fails(400, "exceed_context_size_error", "exceeds the available context size"),
            1,
            ModelError,
            "m-1 at {url} takes no text this long: exceeds the available context size.",
            "RESIN_BUDGET",
        ),
        (
            claude_fails(413, "request_too_large", "32 MB"),
            1,
            ModelError,
            "m-1 at {url} takes no text this long: 32 MB.",
            "RESIN_BUDGET",
        ),
        (
            refused("messages: at least one message is required"),
            1,
            ModelError,
            "m-1 at {url} turned the request down: messages: at least one message is required.",
            "",
        ),
        (
            claude_fails(429, "rate_limit_error", "30,000 tokens per minute"),
            3,
            ModelError,
            "{url} takes no more calls after 3 attempts: 30,000 tokens per minute.",
            "RESIN_LLM_TOKENS_PER_MINUTE",
        ),
        (
            claude_fails(529, "overloaded_error", "Overloaded"),
            3,
            ModelError,
            "{url} is overloaded after 3 attempts: Overloaded.",
            "finished is kept",
        ),
        (
            claude_fails(500, "api_error", "Internal server error"),
            3,
            ModelError,
            "m-1 at {url} failed after 3 attempts: Internal server error.",
            "",
        ),
        (
            GOOD._replace(drops_after=40),
            3,
            ModelError,
            "The connection to {url} broke off after 3 attempts: peer closed connection",
            "finished is kept",
        ),
        (
            Reply(b"<html>a portal</html>"),
            1,
            ModelError,
            "m-1 at {url} failed: its answer is no JSON",
            "RESIN_ANTHROPIC_URL",
        ),
        (
            Reply({"object": "something else"}),
            1,
            ModelError,
            "What answered is no message of the Messages API.",
            "RESIN_ANTHROPIC_URL",
        ),
        (Reply(b"<html>gone</html>", 404), 1, ModelUnavailable, "has no model", ""),
    ],
)
def test_each_is_named(
    model_on: Any,
    reply: Reply,
    asked: int,
    kind: type[ModelError],
    says: str,
    hint: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with model_on(reply) as (model, server), pytest.raises(ModelError) as failed:
        model.call(CALL)
    assert len(server.asked) == asked
    assert type(failed.value) is kind
    assert says.format(url=server.url) in failed.value.message
    assert hint in failed.value.hint
    assert failed.value.reply is None
    assert KEY not in f"{failed.value} {failed.value.__cause__} {caplog.text}"


@pytest.mark.parametrize("stalls", [HANGS, GOOD._replace(stalls_after=40)])
def test_a_stall_names_the_timeout(model_on: Any, stalls: Reply) -> None:
    with model_on(stalls, timeout=0.2, retries=1) as (model, server):
        with pytest.raises(ModelError) as failed:
            model.call(CALL)
        assert len(server.asked) == 2
    assert type(failed.value) is ModelError
    assert "did not answer within 0.2 s after 2 attempts" in failed.value.message
    assert "RESIN_LLM_TIMEOUT" in failed.value.hint


def test_a_stall_shorter_than_the_timeout_is_waited_for(model_on: Any) -> None:
    with model_on(GOOD._replace(after=0.3), retries=0) as (model, server):
        assert model.call(CALL).data == {"a": 1}
    assert len(server.asked) == 1


def test_nobody_there(model_on: Any) -> None:
    with ModelServer([HANGS]) as gone:
        address = gone.url
    with model_on(HANGS, url=address, retries=0) as (model, _):
        for ask in (lambda: model.call(CALL), lambda: list(model.stream(FREE))):
            with pytest.raises(ModelUnavailable, match=f"{address} cannot be reached"):
                ask()


def test_a_key_refused_elsewhere_says_which_key_goes_there_and_how(model_on: Any) -> None:
    with (
        model_on(claude_fails(401, "authentication_error", "no x-api-key")) as (model, _),
        pytest.raises(ModelUnavailable) as caught,
    ):
        model.call(CALL)
    assert "RESIN_ANTHROPIC_KEY (ANTHROPIC_API_KEY is not sent there)" in caught.value.hint
    assert "default_headers" in caught.value.hint
