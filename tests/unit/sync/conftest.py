"""A source, its index, registry and queue in memory, with a clock that stands still."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from resin_es.index.indexer_settings import IndexSettings
from resin_es.model import Document, RegistryEntry, document_key
from resin_es.model.source import Source, SourceSpec
from resin_es.ports import Reader
from resin_es.sync.inline import run_task, work_off
from resin_es.sync.service import SyncService, make_indexers
from resin_es.sync.settings import SyncSettings
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.memory_queue import MemoryQueue
from resin_es.testing.memory_store import MemoryBook, MemoryStore
from resin_es.testing.scripted import ScriptedReader
from resin_es.testing.scripted_index import ScriptedIndex

START = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)


def spec(name: str = "s", **fields: Any) -> SourceSpec:
    given = {"index": "kb", "text_fields": ("text",), "access": "public"}
    return SourceSpec(name=name, **{**given, **fields})


class World:
    """``service`` is one process's; ``another`` makes that of a second one."""

    def __init__(self, **settings: Any) -> None:
        self.now = START
        self.store, self.queue, self.index = MemoryStore(), MemoryQueue(), ScriptedIndex()
        self.book = MemoryBook(Source(spec=spec(updated_field="updated")))
        self.settings = SyncSettings(**{"chunk": 4, "orphan_age_s": 100, **settings})
        self.reader = ScriptedReader()
        self.embedder = HashEmbedder()
        self.service = self.another(self.reader, owner=None)

    def another(
        self, reader: Reader | None = None, *, owner: str | None = "elsewhere:1:x"
    ) -> SyncService:
        indexers = make_indexers(
            self.store,  # type: ignore[arg-type]
            self.embedder,
            reader or self.reader,
            IndexSettings(),
            self.book,
            self.settings,
            now=lambda: self.now,
            chance=lambda: 0.5,
        )
        if owner is not None:
            indexers.reading._owner = indexers.addressing._owner = owner
        return SyncService(
            self.store,  # type: ignore[arg-type]
            self.book,
            self.store,
            lambda one: self.index,
            indexers,
            self.queue,
            self.settings,
            now=lambda: self.now,
            chance=lambda: 0.5,
        )

    def document(self, name: str, text: str | None = None, **fields: Any) -> Document:
        """Three sentences, changed now."""
        body = f"Alder {name} is tall. Birch {name} is white. Cedar {name} is red."
        given = {
            "source": "s",
            "external_id": name,
            "title": f"About {name}",
            "text": body if text is None else text,
            "access": ("*",),
            "updated_at": self.now,
        }
        return Document(**{**given, **fields})

    def put(self, name: str, text: str | None = None, **fields: Any) -> Document:
        """Write a document into the team's index."""
        document = self.document(name, text, **fields)
        self.index.put(document)
        return document

    def passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def entry(self, name: str, source: str = "s") -> RegistryEntry:
        return self.store.entry(document_key(source, name))

    def key(self, name: str) -> str:
        return document_key("s", name)

    def work(self, service: SyncService | None = None) -> None:
        """Work off what waits, and what reconcile finds."""
        self.store.refresh()
        work_off(service or self.service, self.queue)

    def work_once(self) -> None:
        """Work off what waits, and no more."""
        while (task := self.queue.take()) is not None:
            run_task(self.service, task)

    def sync(self, **options: Any) -> Any:
        self.store.refresh()
        report = self.service.sync_source("s", **options)
        self.store.refresh()
        return report

    def settle(self) -> None:
        """Sync and work until nothing is left."""
        self.sync()
        self.work()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def make_world() -> Callable[..., World]:
    return World
