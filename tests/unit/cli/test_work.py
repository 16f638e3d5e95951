"""worker and beat on the command line: what is told where something is missing or dead."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from resin_es.cli.app import app
from resin_es.testing.command import CommandLine
from resin_es.testing.nodes import free_port
from resin_es.workers import app as workers
from resin_es.workers import health
from resin_es.workers.health import Verdict

ALIVE = Verdict(worker="host-1", alive=True)
STUCK = Verdict(worker="host-2", alive=False, reason="8 messages wait, and it took none for 61 s")


@pytest.fixture
def line() -> CommandLine:
    url = f"redis://:sesame-open@127.0.0.1:{free_port()}/7"
    return CommandLine(app, {"RESIN_REDIS_URL": url, "RESIN_ES_URL": "http://127.0.0.1:9"})


@pytest.mark.parametrize(
    ("verdicts", "code"), [([ALIVE], 0), ([ALIVE, STUCK], 1), ([STUCK], 1), ([], 1)]
)
def test_check_ends_well_only_where_every_worker_consumes(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch, verdicts: list[Verdict], code: int
) -> None:
    monkeypatch.setattr(health, "check", lambda settings: verdicts)
    told = line.run("worker", "--check", code=code)
    for one in verdicts:
        assert f"{one.worker}: {one.reason or 'alive'}" in told.stdout
    found = line.run("worker", "--check", "--json", code=code).json
    assert found["alive"] == (code == 0)
    assert [one["worker"] for one in found["workers"]] == [one.worker for one in verdicts]


def test_a_beat_is_checked_likewise(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "check_beat", lambda settings: [ALIVE])
    assert line.run("beat", "--check", "--json").json["beats"][0]["worker"] == "host-1"
    monkeypatch.setattr(health, "check_beat", lambda settings: [])
    assert "no beat runs" in line.run("beat", "--check", code=1).stdout


@pytest.mark.parametrize("command", ["worker", "beat"])
def test_a_redis_that_is_away_is_unhealthy_and_named(line: CommandLine, command: str) -> None:
    told = line.run(command, "--check", "--json", code=1)
    assert told.json["error"]["type"] == "QueueUnavailable"
    assert "sesame" not in told.everything


@pytest.mark.parametrize("command", [("worker",), ("beat",)])
def test_neither_starts_without_redis(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    real = workers.redis_broker

    def impatient(settings: Any) -> Any:
        broker = real(settings)
        broker._sleep = lambda _: None
        return broker

    monkeypatch.setattr(workers, "redis_broker", impatient)
    told = line.run(*command, code=1)
    assert "cannot be used (connecting)" in told.stderr
    assert "RESIN_REDIS_URL" in told.stderr
    assert "sesame" not in told.everything


def test_an_unknown_queue_is_refused_before_anything_starts(line: CommandLine) -> None:
    told = line.run("worker", "--queues", "sync,write", code=2)
    assert "'write'" in told.stderr
    assert "sync, read, index" in told.stderr


def test_queues_are_chosen_by_name() -> None:
    assert workers.queue_names(None) == ("sync", "read", "index")
    assert workers.queue_names(" read, sync,read") == ("read", "sync")


def test_a_cap_without_a_price_is_refused(line: CommandLine) -> None:
    paid = line.under(
        RESIN_LLM="claude", RESIN_LLM_READ_MODEL="a-model-of-mine", RESIN_MAX_COST="1"
    )
    assert "a-model-of-mine" in paid.run("worker", code=2).stderr


def test_without_the_extra_it_says_what_to_install(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] in ("celery", "kombu", "redis"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    for command in (("worker",), ("beat",), ("worker", "--check")):
        told = line.run(*command, code=1)
        assert "resin-es[workers]" in told.stderr, command
