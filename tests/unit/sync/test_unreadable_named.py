"""Records that make no document stand on the source until they do, or are gone."""

from __future__ import annotations

from typing import Any

from resin_es.ports.sync import Unreadable
from resin_es.sync.syncing import UNREADABLE_KEPT


def named(world: Any) -> dict[str, str]:
    return dict(world.book.source("s").source.state.unreadable)


def test_they_stay_named_while_nobody_looks_at_them_again(world: Any) -> None:
    for name in "abc":
        world.put(name)
    world.settle()
    assert named(world) == {}
    world.index.put(Unreadable(external_id="a", reason="too large"))
    world.index.put(Unreadable(external_id="new", reason="a broken date"))
    world.sync(full=True)
    assert named(world) == {"a": "too large", "new": "a broken date"}
    world.passes(3_600)
    world.put("b", "Changed.")
    world.sync()
    assert named(world) == {"a": "too large", "new": "a broken date"}


def test_one_that_can_be_read_again_or_is_gone_is_named_no_more(world: Any) -> None:
    for name in "ab":
        world.index.put(Unreadable(external_id=name, reason="too large"))
    world.put("c")
    world.settle()
    assert set(named(world)) == {"a", "b"}
    world.passes(3_600)
    world.put("a")
    world.index.remove("b")
    world.sync()
    assert named(world) == {}


def test_a_hundred_are_kept(world: Any) -> None:
    for number in range(UNREADABLE_KEPT + 20):
        world.index.put(Unreadable(external_id=f"d{number}", reason="too large"))
    report = world.sync()
    assert len(report.unreadable) == UNREADABLE_KEPT + 20
    assert len(named(world)) == UNREADABLE_KEPT
