"""Claude as a text model, through the real SDK on a scripted server."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest
from pydantic import SecretStr

from resin_es.adapters.text_model import AnthropicTextModel, request
from resin_es.errors import ModelError, ModelUnavailable
from resin_es.testing.model_server import HANGS, ModelServer, Reply, claude_says

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)

KEY = "sk-a-secret-key"


@contextmanager
def model_on(*replies: Reply, **options: float) -> Iterator[tuple[AnthropicTextModel, ModelServer]]:
    with ModelServer(replies) as server:
        chosen = {"timeout": 5.0, "retries": 2, **options}
        yield (
            AnthropicTextModel(
                "m-1",
                SecretStr(KEY),
                url=server.url,
                timeout=chosen["timeout"],
                retries=int(chosen["retries"]),
                prices={"m-1": (1.0, 100.0)},
            ),
            server,
        )


def refusal(status: int, message: str = "no") -> Reply:
    return Reply({"type": "error", "error": {"type": "an_error", "message": message}}, status)


def test_request_body() -> None:
    assert request("m", "be brief", "why?", 7) == {
        "model": "m",
        "max_tokens": 7,
        "system": "be brief",
        "messages": [{"role": "user", "content": "why?"}],
    }


def test_what_is_sent_and_read() -> None:
    with model_on(claude_says("Because.", stop_reason="max_tokens")) as (model, server):
        done = model.complete("be brief", "why?", 7)
    assert (done.text, done.stop_reason) == ("Because.", "max_tokens")
    assert (done.input_tokens, done.output_tokens) == (10, 5)
    assert done.dollars == pytest.approx((10 * 1.0 + 5 * 100.0) / 1e6)
    (asked,) = server.asked
    assert asked.path == "/v1/messages"
    assert KEY in " ".join(asked.headers.values())
    assert asked.body == request("m-1", "be brief", "why?", 7)


def test_no_key_or_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/")
    with model_on(claude_says("Yes.")) as (model, server):
        model.complete("", "?", 1)
    sent = " ".join(server.asked[0].headers.values())
    assert KEY in sent
    assert "another" not in sent


@pytest.mark.parametrize("status", [429, 500, 529])
def test_passing_failures_are_repeated(status: int) -> None:
    with model_on(refusal(status), refusal(status), claude_says("At last.")) as (model, server):
        assert model.complete("", "?", 1).text == "At last."
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (refusal(401, f"invalid key {KEY}"), ModelUnavailable, "refused the key"),
        (refusal(403), ModelUnavailable, "refused the key"),
        (refusal(404), ModelUnavailable, "no model 'm-1'"),
        (refusal(400, "too long"), ModelError, "too long"),
        (refusal(429), ModelError, "no more calls"),
        (refusal(500), ModelError, "failed"),
        (Reply(b"<html>a proxy"), ModelError, "failed"),
        (Reply({"object": "something else"}), ModelError, "no message"),
    ],
)
def test_failures_are_named_and_keep_the_key(
    reply: Reply, kind: type[ModelError], says: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with model_on(reply, retries=1) as (model, _), pytest.raises(ModelError) as raised:
        model.complete("", "?", 1)
    assert type(raised.value) is kind
    assert says in str(raised.value)
    assert KEY not in str(raised.value)
    assert KEY not in caplog.text


def test_a_model_that_hangs() -> None:
    with (
        model_on(HANGS, timeout=0.2, retries=0) as (model, _),
        pytest.raises(ModelError, match=r"did not answer within 0\.2 s"),
    ):
        model.complete("", "?", 1)


def test_nobody_there() -> None:
    with ModelServer([HANGS]) as gone:
        address = gone.url
    model = AnthropicTextModel("m", SecretStr(KEY), url=address, retries=0)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        model.complete("", "?", 1)
