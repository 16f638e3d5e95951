"""The dead letter, and revocations."""

from __future__ import annotations

from typing import Any

from resin_es.errors import ModelError
from resin_es.model import DocumentStatus
from resin_es.sync.inline import Task


def killed(world: Any, *names: str) -> None:
    """Dead letters."""
    for name in names:
        world.put(name)
    world.sync()
    world.queue.flush()
    for name in names:
        stored = world.store.entries([world.key(name)])[world.key(name)]
        dead = stored.entry.model_copy(update={"attempts": 5, "status": DocumentStatus.FAILED})
        world.store.put_entry(dead, stored.guard)
    world.store.refresh()
    world.queue.put_tasks.clear()


def test_dead_letters_are_listed_and_brought_back(world: Any) -> None:
    killed(world, "a", "b", "c")
    assert sorted(one.external_id for one in world.service.failed()) == ["a", "b", "c"]
    assert list(world.service.failed("other")) == []
    assert world.service.retry("s", ["a", "unknown"]) == 1
    assert world.entry("a").status is DocumentStatus.PENDING
    assert world.entry("b").status is DocumentStatus.FAILED
    assert world.queue.put_tasks == [Task("embed_and_commit", "s", (world.key("a"),))]
    assert world.service.retry("s") == 2
    world.work()
    assert {world.entry(name).status for name in "abc"} == {DocumentStatus.INDEXED}


def test_a_dead_letter_still_answers_with_what_was_committed(make_world: Any) -> None:
    world = make_world(max_attempts=1)
    world.put("a")
    world.settle()
    passages = world.entry("a").passages
    world.passes(5)
    world.put("a", "Newer.")
    world.sync()

    def before(name: str) -> None:
        if name == "write":
            raise ModelError("no")

    world.store.before = before
    world.work_once()
    assert world.entry("a").status is DocumentStatus.FAILED
    assert world.entry("a").passages == passages


def test_revoked_documents_are_nobodys_at_once_and_stay_so(world: Any) -> None:
    world.put("a", access=("staff",))
    world.put("b", access=("staff",))
    world.settle()
    report = world.service.revoke("s", ["a", "unknown"])
    assert (report.revoked, report.missing) == (1, ["unknown"])
    assert (world.entry("a").access, world.entry("a").settled) == ((), True)
    bodies = world.store.records_of("sentences").values()
    assert {tuple(b["access"]) for b in bodies if b["document_id"] == "a"} == {()}
    assert world.sync(full=True).unchanged == 2, "a sync sees nothing to change"
    world.passes(5)
    world.put("a", "A newer text.", access=("staff", "all"))
    world.settle()
    assert (world.entry("a").text, world.entry("a").access) == ("A newer text.", ())
    assert world.entry("b").access == ("staff",)


def test_a_revocation_undone_gives_the_teams_rights_back(world: Any) -> None:
    world.put("a", access=("staff",))
    world.settle()
    world.service.revoke("s", ["a"])
    report = world.service.restore("s", ["a"])
    assert report.rights_changed == 1
    assert world.entry("a").access == ("staff",)
    assert world.book.source("s").source.state.revoked == ()


def test_a_sync_that_saw_the_rights_before_does_not_give_them_back(world: Any) -> None:
    """Revoked between the sync's read of the team's index and its look at the registry, and
    again right after that look."""
    for moment in ("entries", "put_entries"):
        name = f"d-{moment}"
        world.put(name, access=("staff",))
        world.settle()
        world.passes(5)
        world.put(name, access=("staff", "others"))
        done: list[Any] = []

        def before(call: str, at: str = moment, one: str = name, done: list[Any] = done) -> None:
            if call == at and not done:
                done.append(None)
                world.service.revoke("s", [one])

        world.store.before = before
        world.service.notify("s", [name])
        world.store.before = lambda call: None
        assert done
        assert world.entry(name).access == ()


def test_pushed_documents_are_revoked_too(world: Any) -> None:
    document = world.document("a", source="files")
    indexer = world.service.desk.indexers.reading
    indexer.index([document])
    assert world.service.revoke("files", ["a"]).revoked == 1
    assert world.entry("a", source="files").access == ()
    indexer.index([document])
    assert world.entry("a", source="files").access == (), "the same document opens nothing"


def test_revoking_what_waits_holds_when_it_is_read(world: Any) -> None:
    world.put("a", access=("staff",))
    world.sync()
    world.service.revoke("s", ["a"])
    world.work()
    assert (world.entry("a").status, world.entry("a").access) == (DocumentStatus.INDEXED, ())
