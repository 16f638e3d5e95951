"""What waits in the queue is not queued again by every look at what is unfinished."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.model import DocumentStatus


@pytest.fixture
def crashed(world: Any) -> Any:
    """A document whose worker is gone, and another that keeps the queue from being empty."""
    world.put("a")
    world.put("b")
    world.sync()
    stored = world.store.entries([world.key("a")])[world.key("a")]
    changes = {
        "status": DocumentStatus.WORKING,
        "lease": "elsewhere:1:x",
        "heartbeat": world.now,
        "attempts": 1,
    }
    world.store.put_entries([(stored.entry.model_copy(update=changes), stored.guard)])
    world.store.refresh()
    world.passes(world.settings.lease_s)
    return world


def test_what_is_on_its_way_is_let_be(crashed: Any) -> None:
    first = crashed.service.reconcile()
    assert first.crashed == 1
    assert first.queued > 0
    assert crashed.entry("a").heartbeat == crashed.now
    crashed.store.refresh()
    crashed.passes(1)
    again = crashed.service.reconcile()
    assert (again.due, again.queued) == (0, 0)


def test_what_was_lost_on_its_way_is_queued_again(crashed: Any) -> None:
    crashed.service.reconcile()
    crashed.store.refresh()
    crashed.passes(crashed.settings.lease_s)
    assert crashed.service.reconcile().queued == 2


def test_what_the_queue_has_no_room_for_is_not_held_to_be_on_its_way(make_world: Any) -> None:
    world = make_world(chunk=1, queue_bound=1)
    world.put("a")
    world.put("b")
    world.sync()
    world.passes(world.settings.lease_s)
    world.service.reconcile()
    world.work_once()
    assert world.service.reconcile().queued == 1
