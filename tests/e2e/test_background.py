"""A team's index read by two worker processes, and kept fresh: what it costs, what changes when,
and what two bad documents do to the others.

``RESIN_TEST_RECORDS`` says how many documents the team has (1,000; `make test-workers-full`:
5,000)."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.cli.app import app
from resin_es.model import DocumentStatus
from resin_es.testing.command import CommandLine
from tests.background.command import read_by_marks
from tests.background.office import name, text, wait_until
from tests.background.processes import Processes
from tests.background.reading import DEADLY, LATE, calls
from tests.background.world import World, logged
from tests.conftest import delete_below

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

    from resin_es.testing.redis_server import TemporaryRedis

RECORDS = int(os.environ.get("RESIN_TEST_RECORDS", "1000"))
PATIENCE_S = 60.0 + RECORDS / 5
PER_RECORD = {"units": 3, "sentences": 3, "passages": 1}


class Kept:
    """A world, its processes, and what the first build was."""

    def __init__(self, world: World, processes: Processes) -> None:
        self.world, self.processes = world, processes
        self.checksum = world.office.checksum()
        self.first_calls = 0

    @property
    def calls(self) -> int:
        return len(calls(self.world.folder))

    def command(self) -> CommandLine:
        environ = {k: v for k, v in self.world.environ.items() if k.startswith("RESIN_")}
        return CommandLine(app, environ)

    def await_finished(self, records: int, seconds: float = PATIENCE_S) -> None:
        if not wait_until(lambda: self.world.finished(records), seconds, pause=0.5):
            pytest.fail(f"{self.world.states()} after {seconds} s\n{self.processes.logs()}")

    def await_synced(self) -> None:
        """Until a sync that began after now is over, and nothing waits."""
        book = self.world.service.desk.book
        source = self.world.office.source

        def synced_at() -> Any:
            stored = book.source(source)
            assert stored is not None
            return stored.source.state.synced_at

        # the one under way may have begun before: two have to come
        for _ in range(2):
            before = synced_at()
            assert wait_until(lambda: synced_at() != before, 60), self.processes.logs()  # noqa: B023


def a_world(
    es: Elasticsearch, es_url: str, redis: TemporaryRedis, folder: Path, **settings: str
) -> World:
    prefix = f"t-{uuid.uuid4().hex[:10]}"
    return World(es, es_url, redis.url(), prefix, folder, settings=settings)


@pytest.fixture(scope="module", autouse=True)
def _read_by_marks() -> Iterator[None]:
    with read_by_marks():
        yield


@pytest.fixture(scope="module")
def kept(
    es: Elasticsearch,
    es_url: str,
    redis_server: TemporaryRedis,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Kept]:
    """All of it read by two workers; they and beat go on."""
    folder = tmp_path_factory.mktemp("world")
    world = a_world(es, es_url, redis_server, folder, RESIN_TASK_DOCUMENTS="50")
    try:
        world.set_up(RECORDS)
        with world.processes() as processes:
            found = Kept(world, processes)
            started = time.monotonic()
            found.await_finished(RECORDS)
            print(f"{RECORDS} records read in {time.monotonic() - started:.0f} s")
            found.first_calls = found.calls
            yield found
    finally:
        delete_below(es, world.prefix)


# ---------------------------------------------------------------- the first build


def test_every_document_is_read(kept: Kept) -> None:
    assert kept.world.states() == {"indexed": RECORDS}
    for family, each in PER_RECORD.items():
        count = kept.world.es.count(index=f"{kept.world.prefix}-{family}")["count"]
        assert count == each * RECORDS, family


def test_no_document_was_read_twice(kept: Kept) -> None:
    """One call for its passages, one for its units."""
    assert kept.first_calls == 2 * RECORDS


def test_both_workers_took_part(kept: Kept) -> None:
    for worker in kept.processes.workers:
        assert '"read_document"' in worker.log.read_text(), worker.name


def test_the_teams_index_is_untouched(kept: Kept) -> None:
    assert kept.world.office.checksum() == kept.checksum


# ---------------------------------------------------------------- kept fresh


def test_nothing_edited_costs_no_call(kept: Kept) -> None:
    before = kept.calls
    kept.await_synced()
    assert kept.calls == before
    told = kept.command().run("sync", "office", "--full", "--json").json
    assert (told["listed"], told["unchanged"]) == (RECORDS, RECORDS)
    assert told["pending"] == 0
    kept.await_synced()
    assert kept.calls == before


def test_one_percent_edited(kept: Kept) -> None:
    before = kept.calls
    edited = range(0, RECORDS, 100)
    kept.world.office.put((n, kept.world.office.record(n, 2)) for n in edited)
    told = kept.command().run("sync", "office", "--follow", "--json").json
    assert told["changed"] <= len(edited)  # beat may have been there first
    kept.await_finished(RECORDS)
    spent = kept.calls - before
    assert spent == 2 * len(edited)
    assert spent <= 0.03 * kept.first_calls
    number = edited[:2][-1]
    question = f"Who keeps record {number} of version 2?"
    asked = kept.command().run("ask", question, "--json").json
    assert f"record {number} of version 2 in room {number * 3 + 2}" in asked["text"]


def test_rights_hold_when_the_sync_has_returned(kept: Kept) -> None:
    before = kept.calls
    line = kept.command()
    assert shown(line, 7)
    kept.world.office.put([(7, kept.world.office.record(7, groups=["board"]))])
    line.run("sync", "office", "--json")
    assert not shown(line, 7)
    assert shown(line.under(RESIN_GROUPS="board"), 7)
    kept.await_synced()
    assert kept.calls == before


def test_revoked_at_once_and_until_it_is_undone(kept: Kept) -> None:
    line = kept.command()
    assert shown(line, 8)
    line.run("revoke", "office", "--id", name(8))
    assert not shown(line, 8)
    kept.world.office.put([(8, kept.world.office.record(8, 3))])
    line.run("sync", "office", "--follow", "--json")
    kept.await_synced()
    assert not shown(line, 8, 3)
    line.run("revoke", "office", "--id", name(8), "--undo")
    assert shown(line, 8, 3)


def test_gone_when_the_sync_has_returned(kept: Kept) -> None:
    line = kept.command()
    assert shown(line, 9)
    kept.world.office.drop([9])
    line.run("notify", "office", "--id", name(9))
    assert not shown(line, 9)
    kept.world.office.put([(9, kept.world.office.record(9, 2))])
    line.run("sync", "office", "--json")
    kept.await_finished(RECORDS)
    assert shown(line, 9, 2)


def shown(line: CommandLine, number: int, version: int = 1) -> bool:
    """Whether a search for the very words of a record finds it."""
    told = line.run("search", text(number, version), "--limit", "5", "--json").json
    return name(number) in {one["candidate"]["document_id"] for one in told["hits"]}


# ---------------------------------------------------------------- bad documents

BAD = {
    "RESIN_LEASE_SECONDS": "4",
    "RESIN_RECONCILE_SECONDS": "1",
    "RESIN_BACKOFF_SECONDS": "0.2",
    "RESIN_TASK_DOCUMENTS": "4",
    "RESIN_MAX_ATTEMPTS": "3",
}
FEW = 12


@pytest.fixture
def few(
    es: Elasticsearch, es_url: str, redis_server: TemporaryRedis, tmp_path: Path
) -> Iterator[World]:
    world = a_world(es, es_url, redis_server, tmp_path, **BAD)
    yield world
    delete_below(es, world.prefix)


def test_a_reader_blocked_past_its_lease(few: World) -> None:
    few.set_up(FEW)
    hangs = "The first look at this record takes 15 seconds."
    few.office.put([(3, few.office.record(3, body=f"Record 3 of version 1 is long. {hangs}"))])
    with few.processes() as processes:
        kept = Kept(few, processes)
        kept.await_finished(FEW, 60)
        assert (few.folder / "hung").exists()
        # all are done while the first reader still sleeps: its call has not been followed by
        # anything it says
        done = few.records()
        registry = {one.key: one for one in few.briefs()}
        assert wait_until(lambda: refused_late(few, processes), 40), processes.logs()
        assert few.records() == done
        assert {one.key: one for one in few.briefs()} == registry
    assert not any(LATE in one["statement"] for one in done["units"].values())


def refused_late(world: World, processes: Processes) -> bool:
    """Whether the reader that hung has spoken, and its task then told that others had taken over
    what it held: one document or, since a task holds several, all of them."""
    spoken = world.folder / "spoken"
    if not spoken.exists() or not (process := spoken.read_text()):
        return False
    tasks = [one for worker in processes.workers for one in logged(worker.log, "task done")]
    return any(
        str(one["process"]) == process
        and datetime.strptime(one["at"], "%Y-%m-%dT%H:%M:%S%z").timestamp()
        >= int(spoken.stat().st_mtime)
        and (one["report"] or {}).get("busy", 0) >= 1
        for one in tasks
    )


def test_a_document_that_kills_its_worker(few: World) -> None:
    few.set_up(FEW)
    few.office.put([(5, few.office.record(5, body=f"Record 5 of version 1 is bad. {DEADLY}"))])
    line = CommandLine(app, {k: v for k, v in few.environ.items() if k.startswith("RESIN_")})
    with few.processes() as processes:
        wanted = {"indexed": FEW - 1, "failed": 1}
        if not wait_until(lambda: few.states() == wanted, 90, pause=0.5):
            pytest.fail(f"{few.states()}\n{processes.logs()}")
        [dead] = line.run("failed", "list", "--json").json
        assert (dead["id"], dead["attempts"]) == (name(5), 3)
        assert dead["error"]["type"] == "WorkerDied"
        assert len([call for call in calls(few.folder) if "is bad" in call]) == 3
        # mended by the team, it is read like any other
        few.office.put([(5, few.office.record(5, 2))])
        line.run("sync", "office", "--json")
        assert wait_until(lambda: few.finished(FEW), 60, pause=0.5), processes.logs()
    assert all(one.status is DocumentStatus.INDEXED for one in few.briefs())
