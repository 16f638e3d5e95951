"""The judge through the real ragas, the real SDKs and a scripted server for each API."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from resin_es.adapters.ragas import RagasJudge
from resin_es.errors import ModelError, ModelUnavailable
from resin_es.evaluation.judging import JudgeCall
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.model_server import (
    HANGS,
    Asked,
    ModelServer,
    Reply,
    claude_calls,
    claude_says,
    openai_says,
)

pytestmark = pytest.mark.slow
if find_spec("ragas") is None and not os.environ.get("CI"):
    pytest.skip("the extra [judge] is not installed", allow_module_level=True)

KEY = "sk-a-secret-key"
APIS = ("openai", "gemini", "anthropic")
QUESTION, ANSWER = "Who founded Acme?", "Ann did."
contacts: list[tuple[str, object]] = []
"""Every host name looked up and every address connected to by this process."""


def _overhear(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo":
        contacts.append(("name", arguments[0]))
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        contacts.append(("address", arguments[1][:2]))


sys.addaudithook(_overhear)


def says(api: str, **fields: Any) -> Reply:
    """A structured answer as ``api`` gives it."""
    if api == "anthropic":
        tool = "AnswerRelevanceOutput" if "question" in fields else "ContextRecallOutput"
        return claude_calls(tool, fields)
    return openai_says(json.dumps(fields))


def asks(api: str, question: str, noncommittal: int = 0) -> Reply:
    return says(api, question=question, noncommittal=noncommittal)


def finds(api: str, *attributed: int) -> Reply:
    verdicts = [{"statement": "s", "reason": "r", "attributed": one} for one in attributed]
    return says(api, classifications=verdicts)


def garbled(api: str) -> Reply:
    return claude_says("no tool") if api == "anthropic" else openai_says("{not json")


def cut_off(api: str) -> Reply:
    if api == "anthropic":
        return claude_says("{", stop_reason="max_tokens")
    content = dict(openai_says("{").content)
    return Reply({**content, "choices": [{**content["choices"][0], "finish_reason": "length"}]})


@contextmanager
def judge_on(
    api: str, *replies: Reply | Callable[[Asked], Reply], **options: Any
) -> Iterator[tuple[RagasJudge, ModelServer, list[JudgeCall]]]:
    script: Any = replies[0] if callable(replies[0]) else replies
    calls: list[JudgeCall] = []
    with ModelServer(script) as server:
        url = server.url if api == "anthropic" else f"{server.url}/v1"
        chosen = {"timeout": 20.0, "retries": 1, "prices": {"m": (1.0, 2.0)}, **options}
        judge = RagasJudge(
            api, "m", SecretStr(KEY), HashEmbedder(), url=url, record=calls.append, **chosen
        )
        try:
            yield judge, server, calls
        finally:
            judge.close()


def cosine(one: str, other: str) -> float:
    a, b = HashEmbedder().embed([one, other])
    return float(np.dot(a, b))


@pytest.mark.parametrize("api", APIS)
def test_answer_relevancy(api: str) -> None:
    made = ["Who founded Acme?", "Who made it?", "Which person founded Acme in Bonn?"]
    with judge_on(api, *(asks(api, one) for one in made)) as (judge, server, calls):
        judged = judge.answer_relevancy(QUESTION, ANSWER)
        spent = judge.spent()
    assert judged.failure == ""
    assert judged.score == pytest.approx(np.mean([cosine(QUESTION, one) for one in made]))
    assert 0 < judged.score < 1
    assert len(server.asked) == 3
    assert (spent.calls, spent.input_tokens, spent.output_tokens) == (3, 30, 15)
    assert spent.dollars == pytest.approx(60e-6)
    (call,) = calls
    assert (call.metric, call.question, call.answer) == ("answer_relevancy", QUESTION, ANSWER)
    assert call.contexts == ()
    assert [json.loads(one)["question"] for one in call.outputs] == made
    assert (call.judgement, call.spent) == (judged, spent)
    assert call.judge == judge.name == "m by ragas 0.4.3, embeddings hash-64"
    assert all(ANSWER in json.dumps(asked.body) for asked in server.asked)
    assert not any(QUESTION in json.dumps(asked.body) for asked in server.asked)


@pytest.mark.parametrize("api", APIS)
def test_context_recall(api: str) -> None:
    with judge_on(api, finds(api, 1, 0, 1)) as (judge, server, calls):
        judged = judge.context_recall(QUESTION, ["Ann made it.", " ", "In Bonn."], "A reference.")
    assert judged.score == pytest.approx(2 / 3)
    (asked,) = server.asked
    assert "Ann made it.\\\\nIn Bonn." in json.dumps(asked.body)
    (call,) = calls
    assert (call.metric, call.reference) == ("context_recall", "A reference.")
    assert call.contexts == ("Ann made it.", " ", "In Bonn.")
    assert len(json.loads(call.outputs[0])["classifications"]) == 3


@pytest.mark.parametrize(
    ("api", "path", "sampling"),
    [
        ("openai", "/v1/chat/completions", {"temperature": 0.01, "top_p": 0.1}),
        ("gemini", "/v1/chat/completions", {"temperature": 0.01, "top_p": 0.1}),
        ("anthropic", "/v1/messages", {}),
    ],
)
def test_what_is_sent(
    api: str, path: str, sampling: Mapping[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "another")
    with judge_on(api, finds(api, 1)) as (judge, server, _):
        judge.context_recall(QUESTION, ["c"], "r")
    (asked,) = server.asked
    sent = " ".join(asked.headers.values())
    assert asked.path == path
    assert KEY in sent
    assert "another" not in sent
    assert asked.body["max_tokens"] == 4096
    assert {k: v for k, v in asked.body.items() if k in ("temperature", "top_p")} == sampling


def test_options_change_and_leave_out() -> None:
    options = {"temperature": None, "max_tokens": 9, "seed": 7}
    with judge_on("openai", finds("openai", 1), options=options) as (judge, server, _):
        judge.context_recall(QUESTION, ["c"], "r")
    body = server.asked[0].body
    assert "temperature" not in body
    assert (body["max_tokens"], body["seed"], body["top_p"]) == (9, 7, 0.1)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("status", [429, 500])
def test_passing_failures_are_repeated(api: str, status: int) -> None:
    refused = Reply({"error": {"message": "no"}}, status)
    with judge_on(api, refused, refused, finds(api, 1, 1), retries=2) as (judge, server, _):
        assert judge.context_recall(QUESTION, ["c"], "r").score == 1.0
    assert len(server.asked) == 3


@pytest.mark.parametrize("api", APIS)
def test_an_answer_that_cannot_be_parsed_is_asked_for_again(api: str) -> None:
    with judge_on(api, garbled(api), finds(api, 1, 0)) as (judge, server, _):
        assert judge.context_recall(QUESTION, ["c"], "r").score == 0.5
        assert judge.spent().calls == len(server.asked) == 2


FAILURES: Mapping[str, tuple[Callable[[str], Reply], str]] = {
    "too many calls": (lambda api: Reply({"error": {"message": "slow"}}, 429), "RateLimitError"),
    "server error": (lambda api: Reply({"error": {"message": "broken"}}, 500), "Error: "),
    "refused": (
        lambda api: Reply({"error": {"message": f"key {KEY} is wrong"}}, 401),
        "AuthenticationError",
    ),
    "garbage": (lambda api: Reply(b"<html>"), ""),
    "another API": (lambda api: Reply({"hello": "world"}), ""),
    "unparsable": (garbled, "cannot be read"),
    "other fields": (lambda api: says(api, verdict="good"), "cannot be read"),
    "cut off": (cut_off, "cut off at max_tokens"),
    "no statements": (finds, "no verdict"),
    "verdict 7": (lambda api: finds(api, 1, 7), "neither 0 nor 1"),
    "hangs": (lambda api: HANGS, "no judgement within 0.4 s"),
}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_call_is_no_score_and_no_exception(
    api: str, failure: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    reply, told = FAILURES[failure]
    timeout = 0.4 if failure == "hangs" else 20.0
    with judge_on(api, reply(api), timeout=timeout) as (judge, server, calls):
        judged = judge.context_recall(QUESTION, ["c"], "r")
        spent = judge.spent()
    assert judged.score is None
    assert told in judged.failure
    assert judged.failure
    assert spent.calls >= 1
    assert server.asked
    (call,) = calls
    assert call.judgement == judged
    captured = capfd.readouterr()
    for said in (judged.failure, call.model_dump_json(), caplog.text, captured.out, captured.err):
        assert KEY not in said
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.parametrize("api", APIS)
def test_answer_relevancy_by_a_judge_that_asks_nothing(api: str) -> None:
    with judge_on(api, asks(api, "")) as (judge, _, _):
        assert judge.answer_relevancy(QUESTION, ANSWER).failure == (
            "the judge made no question of the answer"
        )


@pytest.mark.parametrize("api", APIS)
def test_an_answer_that_commits_to_nothing_is_not_relevant(api: str) -> None:
    with judge_on(api, asks(api, QUESTION, noncommittal=1)) as (judge, _, _):
        assert judge.answer_relevancy(QUESTION, "It depends.").score == 0.0


def test_nobody_there() -> None:
    with ModelServer([HANGS]) as gone:
        address = gone.url
    judge = RagasJudge("openai", "m", None, HashEmbedder(), url=address, retries=0)
    assert "APIConnectionError" in judge.context_recall(QUESTION, ["c"], "r").failure
    judge.close()


def test_what_needs_no_call() -> None:
    with judge_on("openai", HANGS) as (judge, server, calls):
        assert judge.context_recall(QUESTION, [], "r").score == 0.0
        assert judge.context_recall(QUESTION, [" "], "r").score == 0.0
        assert judge.answer_relevancy(QUESTION, " ").score == 0.0
        unreferenced = judge.context_recall(QUESTION, ["c"], "")
        assert (unreferenced.score, unreferenced.failure) == (None, "there is no reference answer")
        assert (server.asked, judge.spent().calls, len(calls)) == ([], 0, 4)


def test_a_failing_embedder_is_not_the_judges_failure() -> None:
    class Broken(HashEmbedder):
        def embed(self, texts: Any) -> Any:
            raise ModelError("no vectors")

    with ModelServer([asks("openai", "Why?")]) as server:
        judge = RagasJudge("openai", "m", None, Broken(), url=server.url)
        with pytest.raises(ModelError, match="no vectors"):
            judge.answer_relevancy(QUESTION, ANSWER)
        judge.close()


def test_check() -> None:
    with judge_on("openai", finds("openai", 1)) as (judge, server, calls):
        judge.check()
        assert (len(server.asked), judge.spent().calls, calls) == (1, 1, [])
    with (
        judge_on("openai", FAILURES["refused"][0]("openai")) as (judge, _, _),
        pytest.raises(ModelUnavailable, match="AuthenticationError") as refused,
    ):
        judge.check()
    assert KEY not in str(refused.value)


def test_many_threads_and_each_judgement_counts_its_own() -> None:
    def script(asked: Asked) -> Reply:
        body = json.dumps(asked.body)
        return finds("openai", *([1] * body.count("wanted-") + [0]))

    with judge_on("openai", script) as (judge, _, calls), ThreadPoolExecutor(8) as pool:
        references = [" ".join(["wanted-"] * (n % 4)) + " end" for n in range(24)]
        scores = list(
            pool.map(lambda one: judge.context_recall(QUESTION, ["c"], one).score, references)
        )
        assert judge.spent().calls == 24
    assert scores == [pytest.approx((n % 4) / (n % 4 + 1)) for n in range(24)]
    assert {(call.spent.calls, len(call.outputs)) for call in calls} == {(1, 1)}


def test_nobody_else_is_contacted() -> None:
    contacts.clear()
    for api in APIS:
        with judge_on(api, asks(api, QUESTION)) as (judge, server, _):
            judge.answer_relevancy(QUESTION, ANSWER)
            port = server.url.rpartition(":")[2]
        assert ("address", ("127.0.0.1", int(port))) in contacts
    from ragas import _analytics

    _analytics.track(_analytics.LLMUsageEvent(provider="p", llm_type="t"))
    names = {name for kind, name in contacts if kind == "name"}
    hosts = {address[0] for kind, address in contacts if kind == "address"}  # type: ignore[index]
    assert names <= {"127.0.0.1"}
    assert hosts == {"127.0.0.1"}


def test_the_ear_hears() -> None:
    """Were RAGAS not told to keep still, it would be heard looking its address up."""
    import socket

    contacts.clear()
    with pytest.raises(OSError):
        socket.create_connection(("no-such-host.invalid", 9), timeout=1)
    assert ("name", "no-such-host.invalid") in contacts


def test_closing_leaves_no_thread() -> None:
    with judge_on("openai", finds("openai", 1)) as (judge, _, _):
        judge.context_recall(QUESTION, ["c"], "r")
        assert "judge" in {thread.name for thread in threading.enumerate()}
    assert "judge" not in {thread.name for thread in threading.enumerate()}
