"""What a sync finds, and what it leaves alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from resin_es.errors import InputError, StoreTimeout
from resin_es.model import DocumentStatus
from resin_es.model.source import SourceSpec
from resin_es.ports.sync import Unreadable


def fill(world: Any, count: int = 6) -> None:
    for number in range(count):
        world.put(f"d{number}")
    world.settle()
    assert all(world.entry(f"d{n}").status is DocumentStatus.INDEXED for n in range(count))


def test_new_documents_are_marked_and_queued_without_being_read(world: Any) -> None:
    for name in "abcdef":
        world.put(name)
    report = world.sync()
    assert (report.new, report.pending, report.queued, report.tasks) == (6, 6, 6, 2)
    assert world.entry("a").status is DocumentStatus.PENDING
    assert world.entry("a").attempts == 0
    assert {task.name for task in world.queue.put_tasks} == {"embed_and_commit"}
    assert world.reader.windows == []


def test_nothing_edited_costs_no_reading_and_hardly_a_request(world: Any) -> None:
    fill(world)
    world.passes(1000)
    world.sync()
    windows, calls = len(world.reader.windows), world.store.calls.copy()
    world.index.calls.clear()
    report = world.sync()
    assert (report.looked_at, report.pending, report.deleted, report.tasks) == (0, 0, 0, 0)
    assert report.listed == 6
    assert len(world.reader.windows) == windows
    assert world.index.calls == {"fields": 1, "documents": 1, "ids": 1}
    spent = world.store.calls - calls
    assert set(spent) == {"briefs", "refresh"}


def test_only_what_changed_since_the_watermark_is_looked_at(world: Any) -> None:
    fill(world)
    world.passes(1000)
    assert world.sync().looked_at == 6, "the overlap window, once more"
    world.put("d1", "Another text stands here.")
    report = world.sync()
    assert (report.full, report.looked_at, report.changed, report.unchanged) == (False, 1, 1, 0)
    state = world.book.source("s").source.state
    assert state.watermark == world.now
    assert state.synced_at == world.now


def test_the_overlap_window_finds_a_change_written_late(world: Any) -> None:
    fill(world)
    world.put("d2", "It came late.", updated_at=world.now - timedelta(seconds=59))
    assert world.sync().changed == 1
    world.put("d3", "It came too late.", updated_at=world.now - timedelta(seconds=61))
    assert world.sync().changed == 0
    assert world.sync(full=True).changed == 1


def test_a_new_document_is_found_whatever_its_date(world: Any) -> None:
    fill(world)
    world.put("old", updated_at=None)
    report = world.sync()
    assert (report.new, report.looked_at) == (1, 7), "and the six within the overlap"


def test_a_new_document_is_looked_at_once(world: Any) -> None:
    fill(world)
    world.passes(3_600)
    world.put("fresh")
    world.index.calls.clear()
    report = world.sync()
    assert (report.new, report.looked_at, report.waiting) == (1, 7, 0)
    assert "fetch" not in world.index.calls


def test_a_date_of_the_future_does_not_hide_what_comes_after(world: Any) -> None:
    world.put("a", updated_at=world.now + timedelta(days=400))
    world.sync()
    world.passes(10)
    world.put("b")
    world.put("a", "Changed.", updated_at=world.now)
    assert world.sync().pending == 2


def test_without_a_date_field_content_decides(make_world: Any) -> None:
    world = make_world()
    held = world.book.source("s")
    spec = SourceSpec(**{**held.source.spec.model_dump(), "updated_field": ""})
    world.book.put_source(held.source.model_copy(update={"spec": spec}), held.guard)
    fill(world)
    world.put("d1", "Another text.")
    report = world.sync()
    assert (report.full, report.looked_at, report.changed, report.unchanged) == (True, 6, 1, 5)
    assert world.book.source("s").source.state.watermark is None


def test_what_is_gone_is_deleted_when_the_sync_returns(world: Any) -> None:
    fill(world)
    world.index.remove("d0", "d5")
    report = world.sync()
    assert report.deleted == 2
    assert world.entry("d0").status is DocumentStatus.DELETED
    keys = {body["document_key"] for body in world.store.records_of("sentences").values()}
    assert world.key("d0") not in keys
    assert len(keys) == 4


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("after", [0, 1, 4])
def test_an_incomplete_listing_deletes_nothing_and_names_the_failure(
    world: Any, full: bool, after: int
) -> None:
    fill(world)
    world.passes(1000)
    world.index.remove("d0", "d5")
    world.index.breaks_after = after
    with pytest.raises(StoreTimeout, match="a shard failed"):
        world.sync(full=full)
    assert world.entry("d0").status is DocumentStatus.INDEXED
    state = world.book.source("s").source.state
    assert (state.error.stage, state.error.type) == ("sync", "StoreTimeout")
    assert state.lease is None
    assert state.watermark < world.now
    world.index.breaks_after = None
    assert world.sync(full=full).deleted == 2
    assert world.book.source("s").source.state.error is None


def test_a_document_that_listings_do_not_see_yet_is_not_deleted(world: Any) -> None:
    fill(world, 2)
    world.index.hidden.add("d0")
    assert world.sync(full=True).deleted == 0
    assert world.entry("d0").status is DocumentStatus.INDEXED


def test_one_that_came_back_is_read_again(world: Any) -> None:
    fill(world, 2)
    world.index.remove("d0")
    world.sync()
    world.passes(5)
    world.put("d0")
    assert world.sync().new == 1
    world.work()
    assert world.entry("d0").status is DocumentStatus.INDEXED
    assert world.entry("d0").settled


def test_rights_alone_are_in_force_on_return_without_reading(world: Any) -> None:
    fill(world)
    world.passes(5)
    windows = len(world.reader.windows)
    world.put("d1", access=("staff",))
    report = world.sync()
    assert (report.rights_changed, report.pending) == (1, 0)
    entry = world.entry("d1")
    assert (entry.access, entry.status, entry.settled) == (
        ("staff",),
        DocumentStatus.INDEXED,
        True,
    )
    bodies = world.store.records_of("units").values()
    mine = [body for body in bodies if body["document_key"] == entry.key]
    assert mine
    assert {tuple(body["access"]) for body in mine} == {("staff",)}
    assert len(world.reader.windows) == windows


def test_changed_content_keeps_what_old_and_new_rights_share(world: Any) -> None:
    world.put("a", access=("x", "y"))
    world.settle()
    world.passes(5)
    world.put("a", "Another text.", access=("y", "z"))
    assert world.sync().changed == 1
    assert world.entry("a").access == ("y",)
    assert world.entry("a").passages, "the old version serves meanwhile"
    world.work()
    assert world.entry("a").access == ("y", "z")


def test_rights_that_change_while_it_waits_are_narrowed_at_once(world: Any) -> None:
    world.put("a", access=("x", "y"))
    world.settle()
    world.passes(5)
    world.put("a", "Another text.", access=("x", "y"))
    world.sync()
    world.put("a", "Another text.", access=("y",))
    report = world.sync()
    assert (report.rights_changed, report.pending) == (1, 0)
    assert world.entry("a").access == ("y",)


def test_what_waits_already_is_not_marked_again(world: Any) -> None:
    world.put("a")
    world.sync()
    world.store.calls.clear()
    report = world.sync()
    assert (report.waiting, report.pending, report.tasks) == (1, 0, 0)
    assert world.store.calls["put_entries"] == 0


def test_a_newer_change_of_what_waits_begins_its_attempts_anew(world: Any) -> None:
    world.put("a")
    world.sync()
    stored = world.store.entries([world.key("a")])[world.key("a")]
    tired = stored.entry.model_copy(update={"attempts": 3, "not_before": world.now})
    world.store.put_entry(tired, stored.guard)
    world.put("a", "Newer.")
    assert world.sync().changed == 1
    assert world.entry("a").attempts == 0
    assert world.entry("a").not_before is None


def test_a_dead_letter_stays_one_until_it_changes(world: Any) -> None:
    world.put("a")
    world.sync()
    stored = world.store.entries([world.key("a")])[world.key("a")]
    dead = stored.entry.model_copy(update={"attempts": 5, "status": DocumentStatus.FAILED})
    world.store.put_entry(dead, stored.guard)
    assert world.sync(full=True).pending == 0
    world.passes(5)
    world.put("a", "Changed.")
    assert world.sync().pending == 1


def test_the_queue_is_never_filled_beyond_its_bound(make_world: Any) -> None:
    world = make_world(queue_bound=2)
    for number in range(20):
        world.put(f"d{number:02}", updated_at=world.now - timedelta(days=number))
    report = world.sync()
    assert (report.pending, report.queued, report.held, report.tasks) == (20, 8, 12, 2)
    assert world.entry("d19").heartbeat is None, "nothing says that it is on its way"
    world.work()
    assert all(world.entry(f"d{n:02}").status is DocumentStatus.INDEXED for n in range(20))


def test_a_queue_that_is_away_loses_nothing(world: Any) -> None:
    world.put("a")
    world.queue.away = True
    report = world.sync()
    assert (report.pending, report.held, report.queue_error) == (
        1,
        1,
        "the broker cannot be reached.",
    )
    world.queue.away = False
    world.work()
    assert world.entry("a").status is DocumentStatus.INDEXED


def test_a_paused_source_is_left_alone(world: Any) -> None:
    world.put("a")
    world.book.change("s", paused=True)
    report = world.sync()
    assert report.skipped == "the source is paused"
    assert not world.index.calls


def test_two_syncs_at_once_are_harmless(world: Any) -> None:
    world.put("a")
    second: list[Any] = []
    other = world.another()
    object.__setattr__(other.desk, "owner", "elsewhere:1:x")

    def between(name: str) -> None:
        if name == "put_entries" and not second:
            second.append(None)
            second[0] = other.sync_source("s")

    world.store.before = between
    report = world.sync()
    assert second[0].skipped == "another sync of it is at work"
    assert report.pending == 1


def test_a_sync_that_died_does_not_block_the_source(world: Any) -> None:
    world.put("a")
    world.book.change("s", lease="elsewhere:1:x", heartbeat=world.now)
    assert world.sync().skipped
    world.passes(world.settings.lease_s)
    assert world.sync().pending == 1


def test_a_long_sync_keeps_its_lease_and_one_that_lost_it_stops(make_world: Any) -> None:
    world = make_world(lease_s=30)
    for number in range(250):
        world.put(f"d{number:03}")
    beats: list[Any] = []

    def slow(name: str) -> None:
        if name == "put_entries":
            world.passes(11)
            beats.append(world.book.source("s").source.state.heartbeat)

    world.store.before = slow
    assert world.sync().pending == 250
    assert len(set(beats)) == 2, "the heartbeat moved between two batches"

    def robbed(name: str) -> None:
        if name == "put_entries":
            world.passes(11)
            world.book.change("s", lease="elsewhere:1:x")

    for number in range(250):
        world.put(f"d{number:03}", "Changed.")
    world.store.before = robbed
    report = world.sync()
    assert "took over" in report.skipped
    assert report.changed == 200, "it stopped at the next batch"
    assert world.book.source("s").source.state.lease == "elsewhere:1:x"


def test_unknown_sources_are_named(world: Any) -> None:
    with pytest.raises(InputError, match="no source 'other'"):
        world.service.sync_source("other")


def test_what_makes_no_document_is_told_and_not_deleted(world: Any) -> None:
    fill(world, 2)
    world.index.put(Unreadable(external_id="d0", reason="a broken date"))
    report = world.sync(full=True)
    assert report.unreadable == [("d0", "a broken date")]
    assert report.deleted == 0
    assert world.entry("d0").status is DocumentStatus.INDEXED


def test_notify_looks_at_these_documents_alone(world: Any) -> None:
    fill(world, 3)
    world.put("d0", "Another text.", updated_at=None)
    world.put("d3")
    world.index.remove("d1")
    world.index.calls.clear()
    report = world.service.notify("s", ["d0", "d1", "d2", "d3", "unknown"])
    assert (report.changed, report.deleted, report.unchanged, report.new) == (1, 1, 1, 1)
    assert world.index.calls == {"fetch": 1}
    world.work()
    assert world.entry("d0").text == "Another text."
    assert world.entry("d3").status is DocumentStatus.INDEXED


def test_sources_share_the_queue(make_world: Any) -> None:
    """One source alone never takes the whole bound."""
    world = make_world(queue_bound=10, chunk=1)
    held = world.book.source("s").source
    other = held.spec.model_copy(update={"name": "t"})
    world.book.put_source(held.model_copy(update={"spec": other}), None)
    for number in range(20):
        world.put(f"d{number}")
    assert world.sync().tasks == 5
