"""Work on documents: two passes, failures, crashes, races."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from resin_es.errors import (
    BudgetSpent,
    ModelError,
    ModelUnavailable,
    ReadingError,
    StoreRejected,
    StoreTimeout,
    StoreUnavailable,
)
from resin_es.model import DocumentStatus
from resin_es.ports.sync import Unreadable
from resin_es.sync.inline import Task
from resin_es.testing.scripted import ScriptedReader

SECONDS = 22.5
"""The first pause: 30 s, of which chance 0.5 takes the upper half's middle."""


def marked(world: Any, *names: str) -> list[str]:
    for name in names:
        world.put(name)
    world.sync()
    world.queue.flush()
    return [world.key(name) for name in names]


def fails_at(world: Any, call: str, error: BaseException) -> None:
    def before(name: str) -> None:
        if name == call:
            raise error

    world.store.before = before


def raising(error: BaseException) -> Callable[[Any], Any]:
    def script(item: Any) -> Any:
        raise error

    return script


# ---------------------------------------------------------------- two passes


def test_the_first_pass_makes_a_document_answerable_without_a_model(world: Any) -> None:
    keys = marked(world, "a", "b")
    report = world.service.embed_and_commit("s", keys)
    assert report.done == 2
    entry = world.entry("a")
    assert (entry.status, entry.attempts, entry.lease) == (DocumentStatus.PENDING, 0, None)
    assert entry.committed_version == entry.version
    assert len(entry.passages) == 1
    assert len(world.store.records_of("sentences")) == 6
    assert not world.store.records_of("units")
    assert world.reader.windows == []
    assert world.queue.put_tasks[-1] == Task("read_document", "s", tuple(keys))


def test_the_second_pass_reads_units_and_purges_what_the_first_left(world: Any) -> None:
    keys = marked(world, "a", "b")
    world.service.embed_and_commit("s", keys)
    report = world.service.read_document("s", keys)
    assert report.done == 2
    entry = world.entry("a")
    assert (entry.status, entry.attempts, entry.settled) == (DocumentStatus.INDEXED, 0, True)
    assert len(world.store.records_of("units")) == 6
    passages = {ref.id for name in "ab" for ref in world.entry(name).passages}
    assert set(world.store.records_of("passages")) == passages


def test_a_task_that_comes_twice_finds_nothing_to_do(world: Any) -> None:
    keys = marked(world, "a")
    for task in ("embed_and_commit", "read_document"):
        getattr(world.service, task)("s", keys)
    read, writes = len(world.reader.windows), world.store.calls["write"]
    assert world.service.embed_and_commit("s", keys).skipped == 1
    assert world.service.read_document("s", keys).skipped == 1
    assert (len(world.reader.windows), world.store.calls["write"]) == (read, writes)


def test_documents_are_fetched_as_they_stand_when_work_begins(world: Any) -> None:
    keys = marked(world, "a", "b")
    world.put("a", "A newer text.")
    world.index.remove("b")
    report = world.service.read_document("s", keys)
    assert (report.done, report.deleted) == (1, 1)
    assert world.entry("a").text == "A newer text."
    assert world.entry("b").status is DocumentStatus.DELETED
    assert world.sync(full=True).pending == 0


def test_a_document_without_text_is_empty_after_the_first_pass(world: Any) -> None:
    world.put("a", "")
    report = world.sync()
    assert report.empty == 1
    world.work_once()
    assert world.entry("a").status is DocumentStatus.EMPTY
    assert world.sync(full=True).unchanged == 1


@pytest.mark.parametrize("paused", [True, False])
def test_a_source_that_is_paused_or_removed_gets_no_work(world: Any, paused: bool) -> None:
    keys = marked(world, "a")
    if paused:
        world.book.change("s", paused=True)
    else:
        world.book.remove_source("s")
    assert world.service.read_document("s", keys).skipped == 1
    assert world.service.embed_and_commit("s", keys).skipped == 1
    assert world.entry("a").status is DocumentStatus.PENDING


def test_purging_takes_only_what_is_gone(world: Any) -> None:
    keys = marked(world, "a", "b")
    world.index.remove("b")
    assert world.service.purge_document("s", keys).deleted == 1
    assert world.entry("a").status is DocumentStatus.PENDING
    world.book.remove_source("s")
    assert world.service.purge_document("s", keys).deleted == 1
    assert world.entry("a").status is DocumentStatus.DELETED


# ---------------------------------------------------------------- failures


def test_the_attempt_is_written_before_the_work_starts(world: Any) -> None:
    keys = marked(world, "a")
    seen: list[Any] = []

    class Looking(ScriptedReader):
        def units(self, passages: Any) -> Any:
            seen.append(world.entry("a"))
            return super().units(passages)

    service = world.another(Looking(), owner=None)
    service.read_document("s", keys)
    (during,) = seen
    assert (during.status, during.attempts) == (DocumentStatus.WORKING, 1)
    assert during.lease.startswith(f"{socket.gethostname()}:{os.getpid()}:")


@pytest.mark.parametrize(
    "error",
    [ModelError("no vectors"), StoreRejected("too long"), StoreTimeout("too slow")],
)
def test_a_failed_attempt_waits_and_ends_as_a_dead_letter(
    make_world: Any, error: Exception
) -> None:
    world = make_world(max_attempts=2)
    keys = marked(world, "a")
    fails_at(world, "write", error)
    report = world.service.read_document("s", keys)
    assert (report.retried, report.dead) == (1, 0)
    entry = world.entry("a")
    assert (entry.status, entry.attempts, entry.lease) == (DocumentStatus.PENDING, 1, None)
    assert entry.not_before == world.now + timedelta(seconds=SECONDS)
    assert world.service.read_document("s", keys).skipped == 1, "it is not due yet"
    world.passes(SECONDS)
    report = world.service.read_document("s", keys)
    assert (report.retried, report.dead) == (0, 1)
    entry = world.entry("a")
    assert entry.status is DocumentStatus.FAILED
    assert (entry.error.stage, entry.error.type) == ("read_document", type(error).__name__)
    assert entry.error.message == str(error)
    world.passes(10_000)
    assert world.service.read_document("s", keys).skipped == 1


def test_one_bad_document_of_a_batch_does_not_hurt_the_others(world: Any) -> None:
    keys = marked(world, "a", "b", "c")
    world.queue.put_tasks.clear()
    write = world.store.write

    def refusing(addresses: Any, passages: Any) -> Any:
        if any("b " in one.body["statement"] for one in addresses):
            raise StoreRejected("a field is too long")
        return write(addresses, passages)

    world.store.write = refusing
    report = world.service.read_document("s", keys)
    assert report.retried == 3
    assert world.queue.put_tasks == [Task("read_document", "s", (key,)) for key in keys]
    world.work_once()
    assert [world.entry(name).status.value for name in "abc"] == ["indexed", "pending", "indexed"]
    assert world.entry("a").attempts == 0
    assert world.entry("b").attempts == 2
    assert world.entry("b").not_before > world.now


@pytest.mark.parametrize(
    "error",
    [ModelUnavailable("no key"), BudgetSpent("the cap is reached", spent=1.0, cap=1.0)],
)
def test_errors_of_the_set_up_burn_no_attempt_and_are_named(world: Any, error: Any) -> None:
    keys = marked(world, "a", "b")
    service = world.another(ScriptedReader(passages=raising(error)), owner=None)
    with pytest.raises(type(error)):
        service.read_document("s", keys)
    entry = world.entry("a")
    assert (entry.status, entry.attempts) == (DocumentStatus.PENDING, 0)
    assert entry.not_before > world.now
    told = world.book.source("s").source.state.error
    assert (told.stage, told.type) == ("work", type(error).__name__)
    world.passes(60)
    assert world.sync().pending == 0
    assert world.book.source("s").source.state.error == told, "a sync does not hide it"
    world.service.read_document("s", keys)
    assert world.book.source("s").source.state.error is None


def test_a_document_read_in_part_is_tried_again_later_and_not_for_ever(make_world: Any) -> None:
    world = make_world(max_attempts=2)
    keys = marked(world, "a")
    broken = world.another(ScriptedReader(units=raising(ReadingError("no", stage="units"))))
    assert broken.read_document("s", keys).done == 1
    entry = world.entry("a")
    assert (entry.status, entry.attempts) == (DocumentStatus.PARTIAL, 1)
    assert entry.not_before == world.now + timedelta(seconds=SECONDS)
    assert world.service.read_document("s", keys).skipped == 1
    assert world.sync(full=True).pending == 0
    world.passes(SECONDS)
    broken.read_document("s", keys)
    assert world.entry("a").attempts == 2
    world.passes(10_000)
    assert world.service.read_document("s", keys).skipped == 1
    assert [one.external_id for one in world.service.failed("s")] == ["a"]
    assert world.service.retry("s") == 1
    world.work()
    assert (world.entry("a").status, world.entry("a").attempts) == (DocumentStatus.INDEXED, 0)


@pytest.mark.parametrize(
    "error",
    [
        StoreUnavailable("away"),
        StoreRejected("rejected (429): too many", reasons={"es_rejected_execution": 1}),
    ],
)
def test_an_overloaded_store_costs_no_attempt(world: Any, error: Exception) -> None:
    keys = marked(world, "a")
    fails_at(world, "write", error)
    with pytest.raises(type(error)):
        world.service.read_document("s", keys)
    entry = world.entry("a")
    assert (entry.status, entry.attempts) == (DocumentStatus.PENDING, 0)
    assert entry.not_before > world.now


def test_what_an_outage_kept_from_being_let_go_is_let_go_before_the_next_work(
    world: Any,
) -> None:
    keys = marked(world, "a")
    out = False

    def before(name: str) -> None:
        nonlocal out
        out = out or name == "write"
        if out:
            raise StoreUnavailable("away")

    world.store.before = before
    with pytest.raises(StoreUnavailable):
        world.service.read_document("s", keys)
    with pytest.raises(StoreUnavailable):
        world.service.read_document("s", keys)
    assert world.entry("a").status is DocumentStatus.WORKING
    world.store.before = lambda name: None
    assert world.service.read_document("s", keys).done == 1
    assert world.entry("a").status is DocumentStatus.INDEXED


def test_a_bug_is_recorded_and_raised(world: Any) -> None:
    keys = marked(world, "a")
    service = world.another(ScriptedReader(units=raising(ZeroDivisionError("a bug"))))
    with pytest.raises(ZeroDivisionError):
        service.read_document("s", keys)
    entry = world.entry("a")
    assert (entry.status, entry.error.type) == (DocumentStatus.PENDING, "ZeroDivisionError")
    assert entry.not_before > world.now


def test_a_record_that_makes_no_document_any_more_is_a_failed_attempt(make_world: Any) -> None:
    world = make_world(max_attempts=1)
    keys = marked(world, "a")
    world.index.put(Unreadable(external_id="a", reason="its date is broken"))
    assert world.service.read_document("s", keys).dead == 1
    assert world.entry("a").error.message == "its date is broken"


def test_the_teams_cluster_being_away_costs_no_attempt(world: Any) -> None:
    keys = marked(world, "a")
    world.index.away = True
    with pytest.raises(StoreUnavailable):
        world.service.read_document("s", keys)
    assert (world.entry("a").status, world.entry("a").attempts) == (DocumentStatus.PENDING, 0)
