"""A record that makes no document any more: what was indexed of it stays, but not for those who
lost the right meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.model import DocumentStatus
from resin_es.ports.sync import Unreadable


@pytest.fixture
def held(world: Any) -> Any:
    """Three documents that staff and drivers may read."""
    for name in ("a", "b", "c"):
        world.put(name, access=("drivers", "staff"))
    world.settle()
    world.passes(10)
    return world


def breaks(world: Any, access: tuple[str, ...] | None) -> None:
    world.index.put(Unreadable(external_id="a", reason="it has grown too large", access=access))


def records_access(world: Any, name: str) -> set[tuple[str, ...]]:
    return {
        tuple(body["access"])
        for body in world.store.records_of("sentences").values()
        if body["document_key"] == world.key(name)
    }


@pytest.mark.parametrize("look", ["full", "notify"])
def test_who_lost_the_right_meanwhile_reads_it_no_more(held: Any, look: str) -> None:
    breaks(held, ("bosses", "staff"))
    report = held.service.notify("s", ["a"]) if look == "notify" else held.sync(full=True)
    assert report.rights_changed == 1
    assert held.entry("a").access == ("staff",)
    assert records_access(held, "a") == {("staff",)}
    assert held.entry("b").access == ("drivers", "staff")
    assert held.entry("a").status is DocumentStatus.INDEXED
    assert held.sync(full=True).rights_changed == 0, "nothing is left to take away"


def test_rights_that_cannot_be_told_stay(held: Any) -> None:
    breaks(held, None)
    assert held.sync(full=True).rights_changed == 0
    assert held.entry("a").access == ("drivers", "staff")


def test_once_it_can_be_read_again_its_own_rights_hold(held: Any) -> None:
    breaks(held, ())
    held.sync(full=True)
    assert held.entry("a").access == ()
    held.passes(10)
    held.put("a", access=("drivers", "staff"))
    assert held.sync().rights_changed == 1
    assert held.entry("a").access == ("drivers", "staff")
    assert records_access(held, "a") == {("drivers", "staff")}


def test_whoever_reads_it_under_the_old_rights_loses(held: Any) -> None:
    """A newer version is at work when the record breaks."""
    held.put("a", "A newer text.", access=("drivers", "staff"))
    held.sync()
    [task] = [one for one in held.queue.flush() if held.key("a") in one.keys]
    assert task.name == "read_document"

    def closed(name: str) -> None:
        if name == "write":
            held.store.before = lambda name: None
            breaks(held, ("staff",))
            held.service.notify("s", ["a"])

    held.store.before = closed
    held.service.read_document("s", [held.key("a")])
    assert held.entry("a").access == ("staff",)
    assert records_access(held, "a") == {("staff",)}


def test_it_holds_when_reading_finds_it_out(held: Any) -> None:
    held.put("a", "A newer text.", access=("drivers", "staff"))
    held.sync()
    held.queue.flush()
    breaks(held, ("staff",))
    report = held.service.read_document("s", [held.key("a")])
    assert report.problems == {"a": "it has grown too large"}
    entry = held.entry("a")
    assert (entry.access, entry.attempts) == (("staff",), 1)
    assert records_access(held, "a") == {("staff",)}


def test_one_that_was_never_read_is_held_back_too(world: Any) -> None:
    world.put("a", access=("drivers", "staff"))
    world.sync()
    world.queue.flush()
    breaks(world, ("staff",))
    world.sync(full=True)
    assert world.entry("a").access == ("staff",)
