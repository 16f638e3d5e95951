"""A sync that somebody asks for begins after they asked."""

from __future__ import annotations

from typing import Any


def test_one_at_work_is_waited_for(world: Any) -> None:
    world.put("a")
    world.book.change("s", lease="elsewhere:1:x", heartbeat=world.now)
    waited: list[None] = []

    def wait() -> None:
        waited.append(None)
        if len(waited) == 3:
            world.book.change("s", lease=None, heartbeat=None)

    report = world.service.sync_now("s", wait=wait)
    assert len(waited) == 3
    assert (report.skipped, report.pending) == ("", 1)


def test_a_paused_source_is_not_waited_for(world: Any) -> None:
    world.book.change("s", paused=True)

    def wait() -> None:
        raise AssertionError("nothing to wait for")

    assert world.service.sync_now("s", wait=wait).skipped == "the source is paused"
