"""A source that is added anew, under other rights, while somebody works by what it said before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from resin_es.model import DocumentStatus
from resin_es.model.source import SourceSpec

DOCUMENTS = 250
"""More than one batch of a listing."""


def replaced(world: Any, **fields: Any) -> None:
    """As ``source add --replace`` does: the next sync is a full one."""
    held = world.book.source("s")
    spec = SourceSpec(**{**held.source.spec.model_dump(), **fields})
    state = held.source.state.model_copy(update={"watermark": None, "full_at": None})
    changed = held.source.model_copy(update={"spec": spec, "state": state})
    world.book.put_source(changed, held.guard)


def close_off(world: Any) -> None:
    """From now on nobody but an admin reads it."""
    replaced(world, access="private")


@pytest.fixture
def public(world: Any) -> Any:
    """Its index reads records by the spec that it is given, as the real one does."""
    fetched, listed = world.index.fetch, world.index.documents

    def under(spec: SourceSpec, document: Any) -> Any:
        fields = {name: getattr(document, name) for name in type(document).model_fields}
        access = ("*",) if spec.access == "public" else ()
        return type(document)(**{**fields, "access": access})

    def fetch(spec: SourceSpec, names: Any) -> Any:
        return {name: under(spec, one) for name, one in fetched(spec, names).items()}

    def documents(spec: SourceSpec, since: Any = None) -> Any:
        return (under(spec, one) for one in listed(spec, since))

    world.index.fetch, world.index.documents = fetch, documents
    return world


def at(world: Any, call: str, act: Callable[[], None]) -> None:
    """Once, before this call of the store."""

    def before(name: str) -> None:
        if name == call:
            world.store.before = lambda name: None
            act()

    world.store.before = before


def closed(world: Any, *names: str) -> bool:
    return all(world.entry(name).access == () for name in names)


@pytest.mark.parametrize("call", ["put_entries", "briefs"])
def test_a_sync_does_not_pass_for_one_of_the_new_source(public: Any, call: str) -> None:
    names = [f"d{number:03}" for number in range(DOCUMENTS)]
    for name in names:
        public.put(name)
    public.settle()
    public.passes(3_600)
    public.put("more")
    at(public, call, lambda: close_off(public))
    report = public.sync()
    assert "changed" in report.skipped
    state = public.book.source("s").source.state
    assert (state.lease, state.watermark, state.error) == (None, None, None)
    public.settle()
    assert closed(public, *names, "more")


def test_one_batch_later_a_sync_by_the_old_source_has_ended(public: Any) -> None:
    for number in range(DOCUMENTS):
        public.put(f"d{number:03}")
    at(public, "put_entries", lambda: close_off(public))
    report = public.sync()
    assert (report.new, "changed" in report.skipped) == (200, True)


@pytest.mark.parametrize("task", ["embed_and_commit", "read_document"])
def test_documents_are_read_by_what_their_source_says_when_they_are_looked_at(
    public: Any, task: str
) -> None:
    """The source is closed, and synced, after the task saw it and before it looks."""
    public.put("a")
    public.sync()
    if task == "read_document":
        public.service.embed_and_commit("s", [public.key("a")])
    public.queue.flush()

    def meanwhile() -> None:
        close_off(public)
        public.sync()

    at(public, "entries", meanwhile)
    getattr(public.service, task)("s", [public.key("a")])
    assert closed(public, "a")
    public.work()
    assert closed(public, "a")
    assert public.entry("a").status is DocumentStatus.INDEXED


def test_a_lost_race_is_run_again_by_what_the_source_says_then(public: Any) -> None:
    """The source is closed, and synced, while the task has the document in hand."""
    public.put("a")
    public.settle()
    public.passes(10)
    public.put("a", "A newer text.")
    public.sync()
    public.queue.flush()

    def meanwhile() -> None:
        close_off(public)
        public.sync()

    at(public, "put_entries", meanwhile)
    public.service.read_document("s", [public.key("a")])
    public.work()
    assert closed(public, "a")


def test_a_push_goes_by_what_the_source_says_in_the_end(public: Any) -> None:
    public.put("a")
    public.settle()

    def meanwhile() -> None:
        close_off(public)
        public.sync()

    at(public, "entries", meanwhile)
    public.service.notify("s", ["a"])
    assert closed(public, "a")
