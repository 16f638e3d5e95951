"""Removing a source while it is synced."""

from __future__ import annotations

from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from resin_es.bootstrap import sources
from resin_es.errors import StoreConflict

AT_WORK = {"lease": "elsewhere:1:x", "heartbeat": datetime.now(timezone.utc)}


@pytest.fixture
def services(world: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What removing needs, over the world's book and store."""
    monkeypatch.setattr(sources, "source_book", lambda services: world.book)
    monkeypatch.setattr(sources, "entry_listing", lambda services: world.store)
    return SimpleNamespace(
        settings=SimpleNamespace(lease_seconds=600.0),
        store=world.store,
        indexer=world.service.desk.indexers.reading,
    )


def test_a_sync_at_work_is_waited_for_before_anything_is_deleted(
    world: Any, services: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It marks one more document before it notices the pause."""
    world.put("a")
    world.settle()
    world.book.change("s", **AT_WORK)
    looks: list[float] = []

    def stops(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            world.put("b")
            world.book.change("s", paused=False, lease=None, heartbeat=None)
            world.sync()
            world.book.change("s", paused=True)

    monkeypatch.setattr(sources.time, "sleep", stops)
    assert sources.remove_source(services, "s") == 2
    assert len(looks) == 3
    assert world.book.source("s") is None


def test_a_sync_that_does_not_stop_leaves_the_source_as_it_is(
    world: Any, services: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put("a")
    world.settle()
    world.book.change("s", **AT_WORK)
    monkeypatch.setattr(sources.time, "sleep", lambda seconds: None)
    with pytest.raises(StoreConflict, match="still at work") as told:
        sources.remove_source(services, "s")
    assert "again" in told.value.hint
    assert world.book.source("s").source.state.paused
    assert world.entry("a").passages


def test_a_sync_that_died_is_not_waited_for(
    world: Any, services: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.book.change("s", lease="elsewhere:1:x", heartbeat=world.now)  # long ago

    def no_sleep(seconds: float) -> None:
        raise AssertionError("nobody is there to wait for")

    monkeypatch.setattr(sources.time, "sleep", no_sleep)
    sources.remove_source(services, "s")
    assert world.book.source("s") is None
