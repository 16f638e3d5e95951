"""The newest documents first, however the team's index lists them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from resin_es.errors import ModelError, StoreTimeout
from resin_es.model import DocumentStatus
from resin_es.sync.inline import run_task

DAYS = 450
"""More than two batches of a listing."""


@pytest.fixture
def full(make_world: Any) -> Any:
    """A source whose listing begins with the oldest documents."""
    world = make_world(chunk=4)
    for number in range(DAYS):
        world.put(f"d{number:03}", updated_at=world.now - timedelta(days=DAYS - number))
    return world


def queued(world: Any, task: str) -> list[str]:
    names = {world.key(f"d{number:03}"): f"d{number:03}" for number in range(DAYS)}
    return [names[key] for one in world.queue.put_tasks if one.name == task for key in one.keys]


def newest(count: int) -> list[str]:
    return [f"d{number:03}" for number in reversed(range(DAYS))][:count]


def test_a_whole_listing_is_queued_the_newest_first(full: Any) -> None:
    report = full.sync()
    assert (report.new, report.queued, report.held) == (DAYS, DAYS, 0)
    assert queued(full, "embed_and_commit") == newest(DAYS)


def test_reading_keeps_the_order_of_the_first_pass(full: Any) -> None:
    full.sync()
    full.work_once()
    assert queued(full, "read_document") == newest(DAYS)


def test_of_more_than_the_queue_takes_the_newest_go_first(make_world: Any) -> None:
    world = make_world(chunk=4, queue_bound=5)
    for number in range(DAYS):
        world.put(f"d{number:03}", updated_at=world.now - timedelta(days=DAYS - number))
    report = world.sync()
    assert (report.queued, report.held, report.tasks) == (20, DAYS - 20, 5)
    assert queued(world, "embed_and_commit") == newest(20)
    world.work_once()
    world.store.refresh()
    world.queue.put_tasks.clear()
    world.service.reconcile()
    assert queued(world, "embed_and_commit") == newest(40)[20:]


def test_changes_of_what_answers_already_are_read_the_newest_first(make_world: Any) -> None:
    world = make_world(chunk=4)
    for number in range(DAYS):
        world.put(f"d{number:03}")
    world.settle()
    world.passes(3_600)
    for number in range(0, DAYS, 10):
        changed = world.now - timedelta(seconds=DAYS - number)
        world.put(f"d{number:03}", f"Now it is {number}.", updated_at=changed)
    world.queue.put_tasks.clear()
    assert world.sync().changed == DAYS // 10
    wanted = [name for name in newest(DAYS) if name.endswith("0")]
    assert queued(world, "read_document") == wanted


def test_what_was_queued_while_the_listing_went_on_is_not_queued_twice(full: Any) -> None:
    """A look at what is unfinished comes in between: it has the newest of what is known."""
    calls = [0]

    def between(name: str) -> None:
        calls[0] += name == "put_entries"
        if name == "put_entries" and calls[0] == 3:
            full.store.before = lambda name: None
            full.store.refresh()
            assert full.service.reconcile().queued == 400

    full.store.before = between
    full.sync()
    assert sorted(queued(full, "embed_and_commit")) == sorted(newest(DAYS))


def test_a_listing_that_breaks_off_leaves_nothing_waiting(full: Any) -> None:
    full.index.breaks_after = 300
    with pytest.raises(StoreTimeout):
        full.sync()
    full.store.refresh()
    report = full.service.reconcile()
    assert report.queued == 200
    full.index.breaks_after = None
    full.settle()
    assert all(full.entry(name).status is DocumentStatus.INDEXED for name in newest(DAYS))


@pytest.mark.parametrize("by", ["sync", "reconcile"])
def test_a_change_goes_before_all_that_was_never_read(full: Any, by: str) -> None:
    """Even of an old date: what it answers is out of date."""
    full.sync()
    while (task := full.queue.take()) and task.name == "embed_and_commit":
        run_task(full.service, task)
    full.passes(3_600)
    full.put("d000", "Out of date no more.", updated_at=full.now)
    if by == "reconcile":
        full.queue.away = True
    full.sync()
    if by == "reconcile":
        full.queue.away = False
        full.service.reconcile()
    following = full.queue.take()
    assert following is not None
    assert (following.name, following.keys) == ("read_document", (full.key("d000"),))


def test_a_change_whose_batch_failed_goes_before_all_that_was_never_read(full: Any) -> None:
    full.settle()
    full.passes(3_600)
    for name in ("d000", "d001"):
        full.put(name, f"{name} is out of date no more.")
    full.sync()
    full.queue.put("read_document", "s", ["never read"])

    def fails(name: str) -> None:
        if name == "write":
            full.store.before = lambda name: None
            raise ModelError("no")

    full.store.before = fails
    task = full.queue.take()
    assert task is not None
    assert run_task(full.service, task).retried == 2
    following = [full.queue.take() for _ in range(3)]
    assert {one.keys for one in following[:2]} == {(full.key("d000"),), (full.key("d001"),)}
    assert following[2].keys == ("never read",)
