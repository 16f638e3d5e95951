"""Keys, headers, proxies, threads and processes on the way to Claude."""

from __future__ import annotations

import logging
import os
import threading
from importlib.util import find_spec
from typing import Any

import pytest
from pydantic import SecretStr

from resin_es.adapters.anthropic.client import AnthropicModel
from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.adapters.anthropic.requests import request_of
from resin_es.errors import ModelError
from resin_es.testing.model_server import (
    Asked,
    ModelServer,
    Reply,
    claude_fails,
    claude_says,
)
from tests.contract.claude_calls import CALL, FREE, GOOD, KEY

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)


def refused(message: str, status: int = 400) -> Reply:
    return claude_fails(status, "invalid_request_error", message)


def sent(server: ModelServer) -> str:
    return " ".join(
        f"{name}: {value}" for one in server.asked for name, value in one.headers.items()
    )


def test_no_key_or_address_comes_from_the_environment(
    model_on: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/")
    with model_on(GOOD) as (model, server):
        model.call(CALL)
        keyless = AnthropicModel(AnthropicOptions(url=server.url))
        keyless.call(CALL)
        keyless.close()
    assert "another" not in sent(server)
    assert "authorization" not in server.asked[1].headers
    assert "x-api-key" not in server.asked[1].headers


def test_headers_of_ones_own_stand_instead_of_a_key() -> None:
    with ModelServer([GOOD]) as server:
        headers = {"authorization": "Bearer of-my-own", "x-team": "blue"}
        given = {"default_headers": headers, "extra_body": {"top_k": 1}}
        model = AnthropicModel(AnthropicOptions(url=server.url, options=given))
        model.call(CALL)
        model.close()
    (asked,) = server.asked
    assert asked.headers["authorization"] == "Bearer of-my-own"
    assert asked.headers["x-team"] == "blue"
    assert asked.body == {**request_of(CALL, "schema"), "top_k": 1}


def test_by_a_proxy(caplog: pytest.LogCaptureFixture) -> None:
    """The scripted server plays the proxy: it is asked for the whole address."""
    caplog.set_level(logging.DEBUG)
    with ModelServer([GOOD]) as proxy:
        at = proxy.url.replace("//", "//bob:proxy-secret@")
        options = AnthropicOptions(
            key=SecretStr(KEY), url="http://model.invalid", options={"proxy": at}
        )
        model = AnthropicModel(options)
        assert model.call(CALL).data == {"a": 1}
        model.close()
    assert proxy.asked[0].path == "http://model.invalid/v1/messages"
    assert "proxy-authorization" in proxy.asked[0].headers
    assert "proxy-secret" not in caplog.text


def test_secrets_of_options_are_not_repeated(model_on: Any) -> None:
    def echoes(asked: Asked) -> Reply:
        return refused(f"bad: {asked.headers['x-gateway']}, {asked.headers['authorization']}")

    given = {"default_headers": {"x-gateway": "Token gateway-secret"}}
    with model_on(script=echoes, options=given) as (model, _), pytest.raises(ModelError) as no:
        model.call(FREE)
    assert "bad: ********, Bearer ********." in str(no.value)
    assert "gateway-secret" not in str(no.value)
    assert KEY not in str(no.value)


def test_from_many_threads(model_on: Any) -> None:
    def echoes(asked: Asked) -> Reply:
        return claude_says(f'{{"a": {asked.body["messages"][0]["content"]}}}')

    got: dict[int, Any] = {}

    def ask(number: int) -> None:
        got[number] = model.call(CALL.model_copy(update={"user": str(number)})).data

    with model_on(script=echoes) as (model, server):
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert got == {number: {"a": number} for number in range(16)}
    assert len(server.asked) == 16


def test_after_a_fork(model_on: Any) -> None:
    with model_on(GOOD) as (model, server):
        assert model.call(CALL).data == {"a": 1}
        child = os.fork()
        if child == 0:  # pragma: no cover - the child's lines are not counted
            os._exit(0 if model.call(CALL).data == {"a": 1} else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert model.call(CALL).data == {"a": 1}
    assert len(server.asked) == 3
