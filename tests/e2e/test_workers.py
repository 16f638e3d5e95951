"""Workers as processes, on a real Redis and a real Elasticsearch: a source is read while Redis is
emptied, a worker is killed, the money runs out. Claude is a scripted server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from elasticsearch import helpers

from resin_es.bootstrap import Services
from resin_es.bootstrap.background import BackgroundServices, sync_service, task_queue
from resin_es.model import DocumentStatus, Principal
from resin_es.settings import Settings
from resin_es.testing.command import CommandLine
from resin_es.testing.model_server import ModelServer
from resin_es.testing.nodes import free_port
from resin_es.testing.redis_server import TemporaryRedis, temporary_redis
from resin_es.testing.scripted_claude import ScriptedClaude

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

COMMAND = (sys.executable, "-m", "resin_es.cli")
PRICES = '{"claude-haiku-5-5": [1.0, 5.0]}'
PATIENCE_S = 120.0
QUICK = {
    "RESIN_LLM": "claude",
    "RESIN_LLM_LANES": "1",
    "RESIN_PRICES": PRICES,
    "RESIN_TASK_DOCUMENTS": "2",
    "RESIN_SYNC_SECONDS": "2",
    "RESIN_RECONCILE_SECONDS": "1",
    "RESIN_BACKOFF_SECONDS": "0.2",
    "RESIN_LOG_FORMAT": "json",
}


def until(met: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while not (found := met()):
        assert time.monotonic() < deadline, f"not within {PATIENCE_S} s: {what}"
        time.sleep(0.1)
    return found


class Place:
    """A team's index, registered as a source, and processes that keep it fresh."""

    def __init__(
        self, es: Elasticsearch, line: CommandLine, redis: TemporaryRedis, folder: Path
    ) -> None:
        self.es, self.line, self.redis, self._folder = es, line, redis, folder
        self.name = f"kb-{uuid.uuid4().hex[:6]}"
        self.index = f"u-{self.name}"
        self._started: list[subprocess.Popen[bytes]] = []

    @property
    def settings(self) -> Settings:
        given = {name.removeprefix("RESIN_").lower(): v for name, v in self.line.environ.items()}
        fields = {name: given[name] for name in given if name in Settings.model_fields}
        return Settings(**{**fields, "prices": json.loads(PRICES)})

    def fill(self, documents: int) -> None:
        self.es.indices.create(index=self.index, mappings={"properties": {"at": {"type": "date"}}})
        bodies = (
            {
                "title": f"Lamp {n} of {self.name}",
                "body": f"Lamp {n} stands in hall {n}. It is lit at noon. Key {n} opens it.",
                "at": "2026-11-01T00:00:00Z",
            }
            for n in range(documents)
        )
        actions = (
            {"_index": self.index, "_id": f"lamp/{n} ✓", "_source": body}
            for n, body in enumerate(bodies)
        )
        helpers.bulk(self.es, actions, refresh=True)
        fields = ("--title", "title", "--text", "body", "--updated-at", "at", "--public")
        self.line.run("source", "add", self.name, "--index", self.index, *fields)

    def content(self) -> list[Any]:
        """The team's documents, with what any write would change."""
        hits = self.es.search(
            index=self.index, size=1000, sort="_doc", version=True, seq_no_primary_term=True
        )
        return sorted(
            (h["_id"], h["_version"], h["_seq_no"], json.dumps(h["_source"]))
            for h in hits["hits"]["hits"]
        )

    def sync(self) -> Any:
        """From this process, as a command would."""
        settings = self.settings
        return sync_service(Services(settings), task_queue(settings)).sync_source(self.name)

    def states(self) -> dict[str, int]:
        services = Services(self.settings)
        services.store.refresh()
        found = services.store.coverage(Principal(admin=True), [self.name])
        return dict(found[0].by_status) if found else {}

    def start(self, *arguments: str, **environ: str) -> subprocess.Popen[bytes]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RESIN_")}
        with self._folder.joinpath("log").open("ab") as log:
            process = subprocess.Popen(
                [*COMMAND, *arguments],
                env={**kept, **self.line.environ, **environ},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    @property
    def log(self) -> str:
        return self._folder.joinpath("log").read_text(encoding="utf-8")

    def logged(self, **fields: Any) -> list[Any]:
        """Lines with these fields."""
        lines = [json.loads(one) for one in self.log.splitlines() if one.startswith("{")]
        return [one for one in lines if fields.items() <= one.items()]

    def clear(self) -> None:
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.es.indices.delete(index=self.index)


@pytest.fixture(scope="module")
def redis(redis_server: TemporaryRedis) -> Iterator[TemporaryRedis]:
    """Of this file's own: it is emptied. (``redis_server`` skips or fails where there is none.)"""
    with temporary_redis("sesame-open") as server:
        yield server


@pytest.fixture
def place(
    es: Elasticsearch, cli: CommandLine, redis: TemporaryRedis, tmp_path: Path
) -> Callable[..., Any]:
    """``with place(claude) as at``: nothing of it runs afterwards."""

    @contextmanager
    def opened(claude: ScriptedClaude, **environ: str) -> Iterator[Place]:
        with ModelServer(claude) as server:
            places = {"RESIN_REDIS_URL": redis.url(3), "RESIN_ANTHROPIC_URL": server.url}
            line = cli.under(**{**QUICK, **places, **environ})
            made = Place(es, line, redis, tmp_path)
            try:
                yield made
            finally:
                made.line.run("source", "remove", made.name, "--yes", code=None)
                made.clear()
                redis.flush()

    return opened


def spent(at: Place) -> float:
    return BackgroundServices(at.settings).ledger.spent()


def test_an_emptied_redis_loses_nothing_and_two_workers_read_a_source(
    place: Any, redis: TemporaryRedis
) -> None:
    claude, port = ScriptedClaude(), free_port()
    with place(claude) as at:
        at.fill(9)
        before, paid = at.content(), spent(at)
        report = at.sync()
        assert (report.new, report.queued) == (9, 9)
        assert task_queue(at.settings).depth("index") == 5
        redis.flush()
        assert task_queue(at.settings).depth("index") == 0
        workers = [
            at.start("worker", "-c", "1", RESIN_METRICS_PORT=str(port)),
            at.start("worker", "-c", "1"),
        ]
        at.start("beat")
        until(lambda: at.states() == {"indexed": 9}, f"all indexed: {at.states()}\n{at.log}")
        assert at.content() == before, "the team's index is read, and never written"
        check_what_is_told(at, port)
        prices = {"input_tokens": 1e-6, "output_tokens": 5e-6}
        cost = sum(use[name] * price for use in claude.usages for name, price in prices.items())
        assert spent(at) - paid == pytest.approx(cost), "all workers' calls, each once"
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        assert [worker.wait(timeout=PATIENCE_S) for worker in workers] == [0, 0]
        check_what_was_logged(at)
        assert at.line.run("worker", "--check", "--json", code=1).json["workers"] == []


def check_what_is_told(at: Place, port: int) -> None:
    # the second may still be starting while the first has read everything
    check = partial(at.line.run, "worker", "--check", "--json")
    until(lambda: len(check().json["workers"]) == 2, at.log)
    assert check().json["alive"]
    assert at.line.run("beat", "--check", "--json").json["alive"]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        shown = answer.read().decode()
    assert f'resin_documents{{source="{at.name}",state="indexed"}} 9.0' in shown
    assert 'resin_queue_depth{queue="read"} 0.0' in shown
    assert 'resin_task_seconds_count{outcome="done"' in shown


def check_what_was_logged(at: Place) -> None:
    read = at.logged(task="read_document", source=at.name, message="task done")
    assert sum(line["report"].get("done", 0) for line in read) == 9, "each by one worker"
    taken = {(one["document"], one["attempt"]) for one in at.logged(message="document taken")}
    assert {(f"lamp/{n} ✓", 1) for n in range(9)} <= taken
    assert at.redis.password not in at.log


def test_a_worker_killed_while_it_reads_leaves_its_work_to_the_next(place: Any) -> None:
    asked, release = threading.Event(), threading.Event()

    def hold(number: int) -> None:
        if number == 1:
            asked.set()
            release.wait(PATIENCE_S)

    claude = ScriptedClaude(before=hold)
    with place(claude, RESIN_LEASE_SECONDS="3") as at:
        at.fill(3)
        at.sync()
        first = at.start("worker", "-c", "1")
        assert asked.wait(PATIENCE_S), at.log
        until(lambda: at.states().get("working"), "a document at work")
        assert first.poll() is None
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        release.set()
        assert at.states().get("working"), "nobody could say goodbye"
        assert at.line.run("worker", "--check", code=1).stdout.startswith("no worker runs")
        at.start("worker", "-c", "1")
        at.start("beat")
        until(lambda: at.states() == {"indexed": 3}, f"all indexed: {at.states()}\n{at.log}")


def test_one_cap_for_all_workers(place: Any) -> None:
    claude = ScriptedClaude()
    with place(claude, RESIN_MAX_COST="0", RESIN_TASK_DOCUMENTS="1") as at:
        at.fill(6)
        cap = spent(at) + 0.004
        capped = {"RESIN_MAX_COST": f"{cap:.6f}"}
        at.sync()
        workers = [at.start("worker", "-c", "1", **capped) for _ in range(2)]
        until(lambda: len({one["process"] for one in at.logged(error="BudgetSpent")}) == 2, at.log)
        used = [use["input_tokens"] * 1e-6 + use["output_tokens"] * 5e-6 for use in claude.usages]
        assert 0.004 <= sum(used) <= 0.004 + len(workers) * max(used)
        states = at.states()
        assert DocumentStatus.FAILED.value not in states
        assert sum(states.values()) == 6
