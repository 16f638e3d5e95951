"""What the registry says is unfinished is queued again, and what no one will finish is swept."""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from typing import Any

import pytest

from resin_es.model import DocumentStatus, PassageRef
from resin_es.ports import RecordRef
from resin_es.sync.inline import Task, run_task
from resin_es.testing.records import sample


class Killed(BaseException):
    """The process died."""


def reconcile(world: Any) -> Any:
    world.store.refresh()
    report = world.service.reconcile()
    world.store.refresh()
    return report


def put_entry(world: Any, name: str, **fields: Any) -> None:
    """Change an entry, as somebody else would."""
    stored = world.store.entries([world.key(name)])[world.key(name)]
    world.store.put_entry(stored.entry.model_copy(update=fields), stored.guard)


def worked_on(world: Any, *names: str, lease: str, attempts: int = 1) -> None:
    """Documents that another process has claimed."""
    for name in names:
        world.put(name)
    world.sync()
    world.queue.flush()
    world.queue.put_tasks.clear()
    for name in names:
        put_entry(
            world,
            name,
            status=DocumentStatus.WORKING,
            lease=lease,
            heartbeat=world.now,
            attempts=attempts,
            settled=False,
        )


def test_a_flushed_queue_loses_nothing(world: Any) -> None:
    for number in range(10):
        world.put(f"d{number}")
    world.sync()
    assert len(world.queue.flush()) == 3
    report = reconcile(world)
    assert (report.due, report.queued, report.tasks) == (10, 10, 3)
    world.work()
    assert all(world.entry(f"d{n}").status is DocumentStatus.INDEXED for n in range(10))
    world.queue.flush()
    assert reconcile(world).due == 0


def test_what_is_on_its_way_is_not_queued_twice(world: Any) -> None:
    world.put("a")
    world.sync()
    assert reconcile(world).due == 0
    world.passes(world.settings.lease_s)
    assert reconcile(world).queued == 1, "it has been on its way for very long"


def test_what_waits_for_its_next_attempt_is_not_queued_before_its_time(world: Any) -> None:
    world.put("a")
    world.sync()
    world.queue.flush()
    put_entry(world, "a", not_before=world.now + timedelta(seconds=10), attempts=2, heartbeat=None)
    assert reconcile(world).due == 0
    world.passes(10)
    assert reconcile(world).due == 1


def test_documents_whose_worker_died_come_back_one_by_one(world: Any) -> None:
    lease = f"{socket.gethostname()}:999999999:x"
    worked_on(world, "a", "b", "c", lease=lease)
    report = reconcile(world)
    assert (report.crashed, report.dead, report.queued) == (3, 0, 3)
    keys = {world.key(name) for name in "abc"}
    assert {task.keys for task in world.queue.put_tasks} == {(key,) for key in keys}
    entry = world.entry("a")
    assert (entry.status, entry.attempts, entry.lease) == (DocumentStatus.PENDING, 1, None)
    assert entry.error.message == "its worker died 1 time or fell silent"


@pytest.mark.parametrize("lease", ["elsewhere:1:x", f"{socket.gethostname()}:{os.getpid()}:x"])
def test_a_worker_that_may_live_is_given_its_lease(world: Any, lease: str) -> None:
    worked_on(world, "a", lease=lease)
    world.passes(world.settings.lease_s - 1)
    assert reconcile(world).crashed == 0
    world.passes(1)
    assert reconcile(world).crashed == 1


def test_a_document_that_always_kills_its_worker_is_a_dead_letter(make_world: Any) -> None:
    """The others of its batch are read all the same."""
    world = make_world(max_attempts=3)
    for name in "abc":
        world.put(name)
    world.sync()
    deaths = 0

    class Dying:
        def __getattr__(self, name: str) -> Any:
            return getattr(world.reader, name)

        def units(self, passages: Any) -> Any:
            if any("Birch b" in item.passage.text for item in passages):
                raise Killed
            return world.reader.units(passages)

    for _ in range(40):
        task = world.queue.take()
        if task is None:
            world.passes(world.settings.lease_s)
            reconcile(world)
            if not world.queue.depth("read") and not world.queue.depth("index"):
                break
            continue
        try:
            run_task(world.another(Dying()), task)
        except Killed:
            deaths += 1
    assert deaths == 3
    assert world.entry("b").status is DocumentStatus.FAILED
    assert world.entry("b").error.message == "its worker died 3 times or fell silent"
    assert {world.entry(name).status for name in "ac"} == {DocumentStatus.INDEXED}


def test_a_crashed_entry_is_judged_as_it_stands_now(world: Any) -> None:
    worked_on(world, "a", lease="elsewhere:1:x")
    world.passes(world.settings.lease_s)
    world.store.refresh()
    put_entry(world, "a", heartbeat=world.now)
    assert world.service.reconcile().crashed == 0, "the listing was old"
    assert world.entry("a").status is DocumentStatus.WORKING


def test_sources_take_turns_and_the_newest_come_first(make_world: Any) -> None:
    world = make_world(queue_bound=4, chunk=2)
    held = world.book.source("s").source
    other = held.spec.model_copy(update={"name": "t"})
    world.book.put_source(held.model_copy(update={"spec": other}), None)
    world.queue.away = True
    for number in range(8):
        world.put(f"d{number}")
        world.passes(1)
    world.sync()
    world.index.documents_now.clear()
    for number in range(8):
        world.put(f"d{number}", source="t")
    world.store.refresh()
    world.service.sync_source("t")
    world.queue.away = False
    report = reconcile(world)
    assert dict(report.by_source) == {"s": 8, "t": 8}
    assert (report.tasks, report.queued, report.held) == (4, 8, 8)
    assert [task.source for task in world.queue.put_tasks] == ["s", "t", "s", "t"]
    assert world.queue.put_tasks[0].keys == (world.key("d7"), world.key("d6"))


def test_paused_sources_wait(world: Any) -> None:
    world.put("a")
    world.sync()
    world.queue.flush()
    world.book.change("s", paused=True)
    assert reconcile(world).due == 0
    world.book.change("s", paused=False)
    assert reconcile(world).due == 1


def test_an_unsettled_document_is_finished_without_reading(world: Any) -> None:
    world.put("a")
    world.settle()
    read = len(world.reader.asked)
    put_entry(world, "a", settled=False)
    assert reconcile(world).due == 1
    world.work()
    assert world.entry("a").settled
    assert len(world.reader.asked) == read


def test_a_delete_that_a_crash_cut_short_is_finished(world: Any) -> None:
    world.put("a")
    world.settle()

    def before(name: str) -> None:
        if name == "purge":
            raise Killed

    world.store.before = before
    with pytest.raises(Killed):
        world.service.desk.indexers.reading.delete("s", ["a"])
    world.store.before = lambda name: None
    assert world.store.held
    world.book.change("s", paused=True)
    assert reconcile(world).settled == 1
    assert not world.store.held
    assert world.entry("a").settled


def test_a_queue_that_is_away_is_told(world: Any) -> None:
    world.put("a")
    world.sync()
    world.queue.flush()
    world.queue.away = True
    report = reconcile(world)
    assert (report.held, report.queue_error) == (1, "the broker cannot be reached.")


# ---------------------------------------------------------------- orphans


def orphaned(world: Any) -> Any:
    """A document in order, records of one that the registry does not know, and a passage that
    the first one's entry does not list."""
    world.put("a")
    world.settle()
    stranger = sample("stranger")
    entry = world.entry("a")
    stray = sample("stray").passages[0]
    body = {**stray.body, "document_key": entry.key}
    world.store.write(stranger.addresses, stranger.passages)
    world.store.write([], [stray.model_copy(update={"id": "stray", "body": body})])
    return {(f, i) for f, i in world.store.held if world.store.held[f, i].body["source"] == "s"}


def test_orphans_are_swept_when_seen_twice_an_age_apart(world: Any) -> None:
    in_order = orphaned(world)
    world.passes(1000)
    report = reconcile(world)
    assert (report.suspects, report.swept) == (5, 0)
    world.passes(99)
    assert reconcile(world).swept == 0
    world.passes(1)
    calls = world.store.calls["record_counts"]
    assert reconcile(world).swept == 0, "the last look is not half an age ago"
    assert world.store.calls["record_counts"] == calls
    world.passes(49)
    report = reconcile(world)
    assert report.swept == 5
    assert set(world.store.held) == in_order


def test_a_record_rewritten_meanwhile_is_no_orphan_yet(world: Any) -> None:
    orphaned(world)
    world.passes(1000)
    reconcile(world)
    world.passes(60)
    stranger = sample("stranger")
    world.store.write(stranger.addresses, stranger.passages)
    world.passes(40)
    report = reconcile(world)
    assert report.swept == 1, "the stray passage alone"
    assert report.suspects == 4


def test_records_of_a_commit_in_flight_are_no_orphans(make_world: Any) -> None:
    world = make_world(orphan_age_s=0)
    keys = [world.put("a").key]
    world.sync()
    swept: list[int] = []
    looked: list[bool] = []
    refresh = world.store.refresh

    def between() -> None:
        refresh()
        if world.store.held and not looked:
            looked.append(True)
            swept.append(reconcile(world).swept)

    world.store.refresh = between
    assert world.service.read_document("s", keys).done == 1
    assert swept == [0]
    assert world.store.records_of("units")


def test_what_is_claimed_between_look_and_delete_survives(make_world: Any) -> None:
    """The sweep lists, then looks at the registry: a document taken up after the look writes
    its records anew, whose guards have changed."""
    world = make_world(orphan_age_s=0)
    orphaned(world)
    purge = world.store.purge

    def rewritten(refs: Any) -> int:
        held: list[RecordRef] = list(refs)
        stranger = sample("stranger")
        world.store.write(stranger.addresses, stranger.passages)
        return int(purge(held))

    world.store.purge = rewritten
    assert reconcile(world).swept == 1
    assert len([k for k in world.store.held.values() if k.body["source"] == "files"]) == 4


def test_what_the_registry_lists_by_now_is_no_orphan(make_world: Any) -> None:
    """It was none's when it was listed."""
    world = make_world(orphan_age_s=0)
    orphaned(world)
    entry = world.entry("a")
    listed = (*entry.passages, PassageRef(id="stray", start=0, sentence_ids=()))
    listings: list[bool] = []

    def before(name: str) -> None:
        if name == "records" and not listings:
            listings.append(True)
            put_entry(world, "a", passages=listed)

    world.store.before = before
    assert reconcile(world).swept == 4
    assert ("passages", "stray") in world.store.held


def test_a_first_pass_is_queued_as_one_and_a_second_as_the_other(world: Any) -> None:
    world.put("a")
    world.put("b")
    world.sync()
    world.service.embed_and_commit("s", [world.key("b")])
    world.queue.flush()
    world.queue.put_tasks.clear()
    reconcile(world)
    assert world.queue.put_tasks == [
        Task("embed_and_commit", "s", (world.key("a"),)),
        Task("read_document", "s", (world.key("b"),)),
    ]
