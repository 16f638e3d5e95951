"""A source that is paused or removed while a sync of it is at work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from resin_es.errors import InputError
from resin_es.model import DocumentStatus

DOCUMENTS = 450
"""More than two batches of a listing."""


@pytest.fixture
def large(world: Any) -> Any:
    for number in range(DOCUMENTS):
        world.put(f"d{number:03}")
    return world


def after_first_batch(world: Any, act: Callable[[], None]) -> None:
    def before(name: str) -> None:
        if name == "put_entries":
            world.store.before = lambda name: None
            act()

    world.store.before = before


def marked(world: Any) -> int:
    world.store.refresh()
    return sum(1 for _ in world.store.briefs("s"))


def test_a_sync_of_a_source_that_is_paused_stops_at_the_next_batch(large: Any) -> None:
    after_first_batch(large, lambda: large.book.change("s", paused=True))
    report = large.sync()
    assert (report.skipped, report.new) == ("the source is paused", 200)
    assert marked(large) == 200
    state = large.book.source("s").source.state
    assert (state.lease, state.paused, state.watermark, state.error) == (None, True, None, None)
    large.book.change("s", paused=False)
    large.settle()
    assert {large.entry(f"d{n:03}").status for n in range(DOCUMENTS)} == {DocumentStatus.INDEXED}


def test_a_sync_of_a_source_that_is_removed_stops_at_the_next_batch(large: Any) -> None:
    after_first_batch(large, lambda: large.book.remove_source("s"))
    report = large.sync()
    assert "removed" in report.skipped
    assert marked(large) == 200


def test_a_pause_while_the_deletions_are_made_leaves_the_rest(large: Any) -> None:
    large.settle()
    for number in range(DOCUMENTS):
        large.index.remove(f"d{number:03}")
    seen = [0]
    listed = large.index.ids

    def ids(spec: Any) -> Any:
        yield from listed(spec)
        large.book.change("s", paused=True)
        seen[0] += 1

    large.index.ids = ids
    assert large.sync().skipped == "the source is paused"
    assert seen == [1]
    assert large.entry("d000").status is DocumentStatus.INDEXED


def test_a_revocation_is_not_undone_where_nobody_looks(world: Any) -> None:
    """It would be forgotten, and the record, which did not change, never be looked at again."""
    world.put("a", access=("staff",))
    world.settle()
    world.service.revoke("s", ["a"])
    world.book.change("s", paused=True)
    with pytest.raises(InputError, match="paused") as told:
        world.service.restore("s", ["a"])
    assert "resume" in told.value.hint
    assert world.book.source("s").source.state.revoked == ("a",)
    world.book.change("s", paused=False)
    world.service.restore("s", ["a"])
    assert world.entry("a").access == ("staff",)
