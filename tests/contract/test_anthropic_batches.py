"""Message Batches by the real SDK, on a scripted server."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from importlib.util import find_spec
from typing import Any

import pytest
from pydantic import SecretStr

from resin_es.adapters.anthropic.batches import AnthropicBatches
from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.adapters.anthropic.requests import request_of
from resin_es.errors import ModelError, ModelUnavailable
from resin_es.ports import BatchState, ModelCall
from resin_es.testing.batch_server import ScriptedBatches, fault
from resin_es.testing.model_server import Asked, ModelServer, Reply, claude_message, claude_says

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def a_call(user: str, **fields: Any) -> ModelCall:
    values = {"stage": "units", "model": "m", "prompt_version": "1", "system": "Count."}
    return ModelCall.model_validate({**values, "user": user, "output": SCHEMA, **fields})


@contextmanager
def batches_on(script: ScriptedBatches, **fields: Any) -> Iterator[AnthropicBatches]:
    with ModelServer(script) as server:
        script.asked = server.asked  # type: ignore[attr-defined]
        given = {"key": SecretStr("sk-test-12345"), "url": server.url, "timeout": 5, **fields}
        yield AnthropicBatches(AnthropicOptions(**given))


def counted(params: Any) -> Reply | str:
    """``errored``, ``expired``, ``canceled`` as the item asks for, else its length."""
    said = params["messages"][0]["content"]
    said = said if isinstance(said, str) else said[0]["text"]
    return said if said in ("errored", "expired", "canceled") else claude_says(f'{{"n": {said}}}')


def test_a_batch_from_submission_to_results() -> None:
    calls = [a_call(user) for user in ("1", "errored", "2", "expired", "canceled")]
    script = ScriptedBatches(counted, polls=2)
    with batches_on(script, prices={"m": (1.0, 10.0)}) as batches:
        name = batches.submit(calls)
        running = [batches.status(name), batches.status(name)]
        assert [one.state for one in running] == [BatchState.RUNNING] * 2
        assert (running[0].done, running[0].total) == (0, 5)
        ended = batches.status(name)
        assert (ended.state, ended.done, ended.total) == (BatchState.DONE, 5, 5)
        items = {item.call_id: item for item in batches.results(name, {c.id: c for c in calls})}
    assert [items[call.id].state for call in calls] == [
        BatchState.DONE,
        BatchState.FAILED,
        BatchState.DONE,
        BatchState.EXPIRED,
        BatchState.CANCELED,
    ]
    assert items[calls[1].id].error == "api_error: it failed inside"
    reply = items[calls[2].id].reply
    assert reply is not None
    assert (reply.data, reply.route, reply.usage.output_tokens) == ({"n": 2}, "schema", 5)
    # 10 tokens in at 1 dollar a million and 5 out at 10, halved
    assert reply.dollars == pytest.approx((10 + 50) / 2 / 1_000_000)


def test_the_body_is_the_ordinary_request_under_the_calls_id() -> None:
    script = ScriptedBatches(counted)
    call = a_call("1")
    extra = {
        "extra_body": {"service_tier": "x"},
        "extra_headers": {"x-team": "a"},
        "extra_query": {"beta": "true"},
    }
    with batches_on(script, options=extra) as batches:
        batches.submit([call])
    (asked,) = script.asked  # type: ignore[attr-defined]
    params = {**request_of(call, "schema"), "service_tier": "x"}
    assert asked.path == "/v1/messages/batches?beta=true"
    assert asked.body == {"requests": [{"custom_id": call.id, "params": params}]}
    assert asked.headers["x-team"] == "a"


def test_replies_come_only_for_the_calls_that_are_wanted() -> None:
    calls = [a_call("1"), a_call("2")]
    with batches_on(ScriptedBatches(counted, polls=0)) as batches:
        name = batches.submit(calls)
        batches.status(name)
        items = {one.call_id: one for one in batches.results(name, {calls[0].id: calls[0]})}
    assert items[calls[0].id].reply is not None
    assert (items[calls[1].id].reply, items[calls[1].id].state) == (None, BatchState.DONE)


@pytest.mark.parametrize(
    ("said", "state"), [("expired", BatchState.EXPIRED), ("canceled", BatchState.CANCELED)]
)
def test_a_batch_of_which_nothing_came_says_so(said: str, state: BatchState) -> None:
    with batches_on(ScriptedBatches(counted, polls=0)) as batches:
        name = batches.submit([a_call(said)])
        assert batches.status(name).state is state


def test_a_batch_is_cancelled_and_a_batch_that_is_gone_has_failed() -> None:
    script = ScriptedBatches(counted, polls=9)
    with batches_on(script) as batches:
        name = batches.submit([a_call("1")])
        batches.cancel(name)
        assert batches.status(name).state is BatchState.CANCELED
        script.forget()
        assert batches.status(name).state is BatchState.FAILED


def test_recent_batches_newest_first_down_to_a_moment() -> None:
    script = ScriptedBatches(counted)
    with batches_on(script) as batches:
        names = [batches.submit([a_call(str(number))]) for number in range(103)]
        for age, name in enumerate(reversed(names)):
            script.batches[name].created_at -= timedelta(minutes=age)
        now = datetime.now(timezone.utc)
        found = list(batches.recent(now - timedelta(minutes=101.5)))
    assert [one.id for one in found] == names[:0:-1]
    assert found[0].total == 1
    assert found[0].created_at is not None


@pytest.mark.parametrize("status", [429, 500, 529])
def test_a_submission_that_failed_is_not_repeated_unseen(status: int) -> None:
    script = ScriptedBatches(counted, faults=(fault(status, "api_error", "no"),))
    with batches_on(script, retries=3) as batches:
        with pytest.raises(ModelError) as caught:
            batches.submit([a_call("1")])
        assert not isinstance(caught.value, ModelUnavailable)
        assert len(script.asked) == 1  # type: ignore[attr-defined]
        assert batches.submit([a_call("1")])


def test_what_only_reads_is_repeated() -> None:
    script = ScriptedBatches(counted)
    failures = [fault(529, "overloaded_error", "busy"), fault(500, "api_error", "no")]

    def server_script(asked: Asked) -> Reply:
        return failures.pop() if failures and asked.method == "GET" else script(asked)

    with ModelServer(server_script) as server:
        key = SecretStr("sk-test-12345")
        batches = AnthropicBatches(AnthropicOptions(key=key, url=server.url, retries=2))
        assert batches.status(batches.submit([a_call("1")])).state is BatchState.RUNNING
    assert not failures


def test_an_endpoint_without_batches_is_named() -> None:
    with ModelServer([fault(404, "not_found_error", "no such page")]) as server:
        batches = AnthropicBatches(AnthropicOptions(key=SecretStr("sk-test-12345"), url=server.url))
        with pytest.raises(ModelUnavailable, match="takes no Message Batches") as caught:
            batches.submit([a_call("1")])
        with pytest.raises(ModelUnavailable, match="takes no Message Batches"):
            list(batches.recent(datetime.now(timezone.utc)))
    assert "--batch" in caught.value.hint


def test_results_that_break_off_are_an_error_after_those_that_came() -> None:
    line = {"type": "succeeded", "message": claude_message([], "end_turn", 1)}
    text = f'{{"custom_id": "a", "result": {{"type": "expired"}}}}\n{line!r}\n'.encode()
    with ModelServer([Reply(text)]) as server:
        batches = AnthropicBatches(AnthropicOptions(key=SecretStr("sk-test-12345"), url=server.url))
        results = batches.results("b", {})
        assert next(results).state is BatchState.EXPIRED
        with pytest.raises(ModelError):
            next(results)


@pytest.mark.parametrize(
    ("line", "states"),
    [
        ({"custom_id": "a"}, {"a": "failed"}),
        ({"custom_id": "a", "result": None}, {"a": "failed"}),
        ({"custom_id": "a", "result": {"type": "succeeded"}}, {"a": "failed"}),
        ({"custom_id": "a", "result": {"type": "new"}}, {"a": "failed"}),
        (
            {"custom_id": "a", "result": {"type": "errored", "error": {"error": "x"}}},
            {"a": "failed"},
        ),
        ({"custom_id": 5, "result": {"type": "expired"}}, {}),
        ({"result": {"type": "expired"}}, {}),
        ([1], {}),
        ("x", {}),
    ],
)
def test_an_outcome_that_cannot_be_read_is_its_items_alone(line: Any, states: Any) -> None:
    good = {"custom_id": "b", "result": {"type": "expired"}}
    text = f"{json.dumps(line)}\n{json.dumps(good)}\n".encode()
    with ModelServer([Reply(text, headers={"content-type": "application/x-jsonl"})]) as server:
        batches = AnthropicBatches(AnthropicOptions(key=SecretStr("sk-test-12345"), url=server.url))
        found = {one.call_id: one.state.value for one in batches.results("x", {"a": a_call("1")})}
    assert found == {**states, "b": "expired"}


def test_an_item_that_holds_no_message_has_failed() -> None:
    call = a_call("1")
    with batches_on(ScriptedBatches(lambda params: Reply({"content": 7}), polls=0)) as batches:
        name = batches.submit([call])
        batches.status(name)
        (item,) = batches.results(name, {call.id: call})
    assert item.state is BatchState.FAILED
    assert "no message" in item.error
