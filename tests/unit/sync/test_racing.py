"""Leases, races and crashes at any step."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.model import DocumentStatus
from resin_es.sync.inline import run_task
from resin_es.testing.scripted import ScriptedReader


class Killed(BaseException):
    """The process died: nothing may catch this and tidy up."""


def marked(world: Any, *names: str) -> list[str]:
    for name in names:
        world.put(name)
    world.sync()
    world.queue.flush()
    return [world.key(name) for name in names]


def test_a_slow_reader_that_lives_keeps_its_lease(make_world: Any) -> None:
    world = make_world(lease_s=30)
    keys = marked(world, "a", "b")

    class Slow(ScriptedReader):
        def passages(self, window: Any) -> Any:
            world.passes(20)
            return super().passages(window)

        def units(self, passages: Any) -> Any:
            world.passes(20)
            world.store.refresh()
            report = world.service.reconcile()
            assert report.crashed == 0
            assert world.service.read_document("s", keys).busy == 2
            return super().units(passages)

    service = world.another(Slow())
    assert service.read_document("s", keys).done == 2
    assert world.entry("a").status is DocumentStatus.INDEXED


def test_a_blocked_reader_loses_its_lease_and_its_late_result_changes_nothing(
    make_world: Any,
) -> None:
    world = make_world(lease_s=30)
    keys = marked(world, "a")
    held: list[Any] = []

    class Blocked(ScriptedReader):
        def units(self, passages: Any) -> Any:
            world.passes(31)
            world.store.refresh()
            assert world.service.reconcile().crashed == 1
            world.put("a", "A newer text stands here.")
            world.work_once()
            held.append((dict(world.store.held), world.entry("a")))
            return super().units(passages)

    service = world.another(Blocked())
    world.queue.flush()
    report = service.read_document("s", keys)
    assert (report.done, report.busy) == (0, 1)
    assert (world.store.held, world.entry("a")) == held[0], "not one record was touched"
    assert held[0][1].status is DocumentStatus.INDEXED
    assert held[0][1].text == "A newer text stands here."


def test_a_document_that_changes_while_it_is_read_ends_at_the_newer_version(world: Any) -> None:
    keys = marked(world, "a")

    class Slow(ScriptedReader):
        def units(self, passages: Any) -> Any:
            if not world.entry("a").committed_version:
                world.passes(1)
                world.put("a", "A newer text stands here.")
                assert world.sync().changed == 1
            return super().units(passages)

    world.another(Slow()).read_document("s", keys)
    assert world.entry("a").status is DocumentStatus.PENDING
    assert not world.store.held
    world.work()
    assert (world.entry("a").status, world.entry("a").text) == (
        DocumentStatus.INDEXED,
        "A newer text stands here.",
    )
    assert len(world.store.records_of("sentences")) == 1


def test_rights_that_change_while_it_is_read_are_those_that_stand(world: Any) -> None:
    keys = marked(world, "a")

    class Slow(ScriptedReader):
        def units(self, passages: Any) -> Any:
            world.put("a", access=("staff",))
            assert world.sync().rights_changed == 1
            return super().units(passages)

    assert world.another(Slow()).read_document("s", keys).done == 0
    assert world.entry("a").access == ("staff",)
    world.work()
    assert world.entry("a").access == ("staff",)
    assert {tuple(b["access"]) for b in world.store.records_of("units").values()} == {("staff",)}


def test_a_delete_during_a_read_ends_deleted_and_can_be_added_again(world: Any) -> None:
    keys = marked(world, "a")

    class Slow(ScriptedReader):
        def units(self, passages: Any) -> Any:
            world.index.remove("a")
            assert world.sync().deleted == 1
            return super().units(passages)

    world.another(Slow()).read_document("s", keys)
    assert world.entry("a").status is DocumentStatus.DELETED
    assert not world.store.held
    world.put("a")
    world.settle()
    assert world.entry("a").status is DocumentStatus.INDEXED
    assert len(world.store.records_of("units")) == 3


def test_two_workers_on_one_document_give_one_version(world: Any) -> None:
    keys = marked(world, "a")

    class Doubled(ScriptedReader):
        def units(self, passages: Any) -> Any:
            assert world.service.read_document("s", keys).busy == 1
            return super().units(passages)

    assert world.another(Doubled()).read_document("s", keys).done == 1
    assert len(world.entry("a").passages) == len(world.store.records_of("passages")) == 1


def test_revoked_while_it_is_read_it_stays_revoked(world: Any) -> None:
    keys = marked(world, "a")

    class Slow(ScriptedReader):
        def units(self, passages: Any) -> Any:
            assert world.service.revoke("s", ["a"]).revoked == 1
            assert world.entry("a").access == ()
            return super().units(passages)

    assert world.another(Slow()).read_document("s", keys).done == 0
    world.work()
    assert (world.entry("a").status, world.entry("a").access) == (DocumentStatus.INDEXED, ())


def test_a_delete_between_fetch_and_claim_ends_deleted(world: Any) -> None:
    """The worker has the document in hand when it is deleted, and does not bring it back."""
    keys = marked(world, "a")
    gone: list[Any] = []
    fetch = world.index.fetch

    def overtaken(spec: Any, names: Any) -> Any:
        found = fetch(spec, names)
        if not gone:
            gone.append(True)
            world.index.remove("a")
            assert world.sync().deleted == 1
        return found

    world.index.fetch = overtaken
    assert world.service.read_document("s", keys).done == 0
    assert world.entry("a").status is DocumentStatus.DELETED
    assert not world.store.held


@pytest.mark.parametrize("task", ["embed_and_commit", "read_document"])
def test_rights_taken_between_fetch_and_claim_stay_taken(world: Any, task: str) -> None:
    """It is fetched anew, and read under the newer rights."""
    keys = marked(world, "a")
    changed: list[Any] = []
    fetch = world.index.fetch

    def overtaken(spec: Any, names: Any) -> Any:
        found = fetch(spec, names)
        if not changed:
            changed.append(True)
            world.put("a", access=("staff",))
            assert world.sync().rights_changed == 1
        return found

    world.index.fetch = overtaken
    assert getattr(world.service, task)("s", keys).done == 1
    assert world.entry("a").access == ("staff",)
    world.work()
    assert (world.entry("a").status, world.entry("a").access) == (
        DocumentStatus.INDEXED,
        ("staff",),
    )


def test_a_listing_that_began_before_does_not_give_rights_back(world: Any) -> None:
    """While a full sync reads, the team takes a right away and notifies."""
    world.put("a", access=("staff",))
    world.settle()
    world.passes(5)
    world.put("a", access=("staff", "others"))
    documents = world.index.documents

    def slow(spec: Any, since: Any = None) -> Any:
        listed = list(documents(spec, since))
        world.put("a", access=("nobody",))
        assert world.service.notify("s", ["a"]).rights_changed == 1
        yield from listed

    world.index.documents = slow
    assert world.sync(full=True).rights_changed == 0
    assert world.entry("a").access == ("nobody",)


def reads_right(world: Any) -> dict[str, Any]:
    """Everything stored, without what tells one run from another."""
    return {
        family: {
            one: {k: v for k, v in body.items() if k not in ("vector", "document_version")}
            for one, body in world.store.records_of(family).items()
        }
        for family in ("units", "sentences", "passages")
    }


def differing(found: dict[str, Any], wanted: dict[str, Any]) -> list[Any]:
    """Records that are not the same, short enough to be read."""
    return [
        (family, one, field, here.get(field), there.get(field))
        for family in found
        for one in found[family].keys() | wanted[family].keys()
        for here in (found[family].get(one, {}),)
        for there in (wanted[family].get(one, {}),)
        for field in here.keys() | there.keys()
        if here.get(field) != there.get(field)
    ]


def test_a_purge_that_was_overtaken_takes_nothing_of_the_newer_version(world: Any) -> None:
    """One has flipped and is about to purge; another then brings the version before back."""
    keys = marked(world, "a")
    world.service.read_document("s", keys)
    expected, date = reads_right(world), world.now
    world.passes(5)
    world.put("a", "Another text stands here.")
    world.sync()
    began: list[bool] = []

    def overtaking(name: str) -> None:
        if name == "records" and not began:
            began.append(True)
            world.put("a", updated_at=date)
            assert world.service.notify("s", ["a"]).changed == 1
            assert world.service.read_document("s", keys).done == 1

    world.store.before = overtaking
    assert world.another().read_document("s", keys).done == 1
    assert began
    world.work()
    assert differing(reads_right(world), expected) == []
    assert world.entry("a").settled


def test_a_killed_commit_leaves_no_sentence_astray(world: Any) -> None:
    """It wrote sentences under its own passages and died before its flip; then the text is what
    it was, and everything could be kept as it is."""
    text = " ".join(f"Alder {n} is tall." for n in range(7))
    world.put("a", text)
    world.settle()
    expected, date = reads_right(world), world.now
    world.passes(5)
    world.put("a", text.replace("Alder 1", "Birch 1"))
    world.sync()

    def dying(name: str) -> None:
        if name == "refresh" and any("Birch" in b["statement"] for b in written().values()):
            raise Killed

    def written() -> Any:
        return world.store.records_of("sentences")

    world.store.before = dying
    with pytest.raises(Killed):
        world.another().read_document("s", [world.key("a")])
    world.store.before = lambda name: None
    assert differing(reads_right(world), expected)
    world.passes(world.settings.lease_s)
    world.put("a", text, updated_at=date)
    world.sync(full=True)
    world.work()
    assert differing(reads_right(world), expected) == []


@pytest.mark.parametrize("task", ["embed_and_commit", "read_document"])
def test_killed_between_any_two_steps_it_ends_as_if_nothing_had_happened(
    make_world: Any, task: str
) -> None:
    def prepared() -> Any:
        world = make_world(max_attempts=50)
        world.put("a", " ".join(f"Alder {n} is tall." for n in range(7)))
        world.put("b")
        if task == "read_document":
            world.settle()
            world.passes(5)
            world.put("a", " ".join(f"Alder {n if n != 4 else 44} is tall." for n in range(7)))
            world.put("b", "Another text stands here.", access=("staff",))
        world.sync()
        return world

    whole = prepared()
    whole.work()
    expected = reads_right(whole)
    for steps in range(80):
        world = prepared()
        left = steps

        def before(name: str) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed

        dying = world.another()
        world.store.before = before
        died = False
        try:
            while (found := world.queue.take()) is not None:
                run_task(dying, found)
        except Killed:
            died = True
        world.store.before = lambda name: None
        world.queue.flush()
        world.passes(world.settings.lease_s)
        world.work()
        assert differing(reads_right(world), expected) == [], f"killed at call {steps}"
        assert all(world.entry(name).settled for name in "ab")
        assert {world.entry(name).status for name in "ab"} == {DocumentStatus.INDEXED}
        if not died:
            assert steps > 10
            return
    pytest.fail("it never got through")
