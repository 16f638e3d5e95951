"""What all background work has at hand."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from resin_es.index.indexer import Indexer, Screen, utc_now
from resin_es.index.indexer_settings import IndexSettings
from resin_es.index.lease import new_owner
from resin_es.model import Document
from resin_es.model.source import SourceSpec
from resin_es.ports import Embedder, Reader, UnitStore
from resin_es.ports.sync import EntryListing, ForeignIndex, SourceBook, TaskQueue
from resin_es.sync.marking import backoff
from resin_es.sync.settings import SyncSettings

Clock = Callable[[], datetime]
Chance = Callable[[], float]


class Indexers(NamedTuple):
    """``reading`` reads documents to units; ``addressing`` gives sentence addresses alone,
    without a model, for the first pass. Both on the same store and embedder."""

    reading: Indexer
    addressing: Indexer


@dataclass(frozen=True)
class Desk:
    """Ports, stages and settings of one process. ``chance`` gives jitter, in [0, 1)."""

    store: UnitStore
    book: SourceBook
    listing: EntryListing
    index_of: Callable[[SourceSpec], ForeignIndex]
    indexers: Indexers
    queue: TaskQueue
    settings: SyncSettings
    now: Clock = utc_now
    chance: Chance = random.random
    owner: str = field(default_factory=new_owner)


def make_indexers(
    store: UnitStore,
    embedder: Embedder,
    reader: Reader,
    index_settings: IndexSettings,
    book: SourceBook,
    settings: SyncSettings,
    *,
    now: Clock = utc_now,
    chance: Chance = random.random,
) -> Indexers:
    """Both indexers as background work needs them: under the settings' lease, with backoff, and
    under the revocations that the book keeps."""
    from resin_es.extract.addresses import AddressReader

    chosen = index_settings.model_copy(update={"lease_s": settings.lease_s})

    def retry_at(attempts: int, moment: datetime) -> datetime:
        return moment + backoff(attempts, settings, chance())

    screen = revocations(book)
    reading = Indexer(store, embedder, reader, chosen, now=now, retry_at=retry_at, screen=screen)
    addressing = Indexer(
        store, embedder, AddressReader(), chosen, now=now, provisional=True, screen=screen
    )
    return Indexers(reading, addressing)


def revocations(book: SourceBook) -> Screen:
    """A screen that takes the access of revoked documents away, as the book says right now."""

    def screen(documents: Sequence[Document]) -> Sequence[Document]:
        taken: dict[str, frozenset[str]] = {}
        for name in {document.source for document in documents}:
            stored = book.source(name)
            taken[name] = frozenset(stored.source.state.revoked if stored else ())
        return [
            without_access(one) if one.external_id in taken[one.source] else one
            for one in documents
        ]

    return screen


def without_access(document: Document) -> Document:
    """The same document, for nobody but an admin. Made anew, since a copy would keep the old
    rights' hash."""
    fields = {name: getattr(document, name) for name in Document.model_fields}
    return Document(**{**fields, "access": ()})
