"""The Elasticsearch side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from resin_es.model import Coverage, Guard, Principal, RegistryEntry, Trace
from resin_es.model.base import Frozen
from resin_es.ports.stages import Embedder, ModelIdentity


class StoredEntry(Frozen):
    """A registry entry as read, with the guard for writing it back."""

    entry: RegistryEntry
    guard: Guard


class AddressRecord(Frozen):
    """A unit or sentence as it is written: ``body`` is the record for its index (with its
    vector), made by ``index.records``. ``kind`` is a unit kind or ``sentence``."""

    id: str
    kind: str
    body: Mapping[str, Any]


class RecordRef(Frozen):
    """A stored unit, sentence or passage, without its content. ``family`` is ``units``,
    ``sentences`` or ``passages``; ``passage_id`` is empty for a passage itself; a purge deletes
    it only while ``guard`` holds. ``building``: it stands in a generation under construction,
    beside the record that answers, which has a reference of its own."""

    document_key: str
    family: str
    id: str
    passage_id: str = ""
    index: str
    guard: Guard
    building: bool = False


class BulkReport(Frozen):
    """What a bulk write did. ``failed`` maps record id to reason."""

    written: int = 0
    failed: Mapping[str, str] = {}
    retries: int = 0


class SearchHit(NamedTuple):
    """A raw hit of an address search. ``parts`` holds the named queries' scores, if told. A plain
    tuple: a search brings hundreds, and most are looked at once."""

    id: str
    score: float
    parts: Mapping[str, float] = {}
    source: Mapping[str, Any] = {}


class SearchResponse(NamedTuple):
    """Hits of one search, in the server's order."""

    hits: tuple[SearchHit, ...] = ()
    took_ms: int = 0


class FetchedEvidence(NamedTuple):
    """One realtime mget: passages (as stored bodies by id) and registry entries by key.
    A missing id is absent."""

    passages: Mapping[str, Mapping[str, Any]]
    entries: Mapping[str, RegistryEntry]


@runtime_checkable
class UnitStore(Protocol):
    """The Elasticsearch side: registry, evidence records, searches, traces, cache.

    Raises the StoreError family only. ``names`` of indices are its own business; callers say
    which family (``units``, ``sentences``, ``passages``, ``documents`` …).
    """

    # -- before any work
    def check(self, model: ModelIdentity) -> None:
        """Refuses (StoreNotInstalled, IndexMismatch, ClientTooNew) before any model call."""
        ...

    # -- registry
    def entries(self, keys: Sequence[str]) -> Mapping[str, StoredEntry]:
        """Realtime, by document key; a missing key is absent."""
        ...

    def put_entry(self, entry: RegistryEntry, guard: Guard | None) -> Guard:
        """Create (guard None) or replace under the guard. Raises StoreConflict."""
        ...

    def put_entries(
        self, entries: Sequence[tuple[RegistryEntry, Guard | None]]
    ) -> Sequence[Guard | None]:
        """The same in one bulk request; None where it lost."""
        ...

    def scan_entries(self, source: str) -> Iterator[StoredEntry]:
        """Every entry of a source, by PIT; complete or an error."""
        ...

    # -- evidence
    def write(
        self, addresses: Sequence[AddressRecord], passages: Sequence[AddressRecord]
    ) -> BulkReport:
        """Bulk index; only rejected items are retried. Raises StoreRejected if items remain."""
        ...

    def update_rights(
        self,
        keys: Sequence[str],
        fields: Mapping[str, Mapping[str, Any]],
        *,
        guards: Mapping[str, Guard] | None = None,
    ) -> BulkReport:
        """Partial update of access and metadata fields on all records of documents; by key.
        With ``guards`` only of those documents whose entry still has its guard once the records
        are listed; a record that is rewritten after that is left alone."""
        ...

    def records(self, keys: Sequence[str]) -> Iterator[RecordRef]:
        """All units, sentences and passages of documents as of the last refresh, by PIT, in every
        generation; complete or an error."""
        ...

    def record_counts(self) -> Iterator[tuple[str, int]]:
        """How many units, sentences and passages there are of each document, by key, as of the
        last refresh; complete or an error."""
        ...

    def purge(self, stale: Iterable[RecordRef]) -> int:
        """Guarded deletes; a record rewritten meanwhile survives. Returns how many went."""
        ...

    def refresh(self) -> None: ...

    # -- reading
    def search(
        self, addresses: Sequence[Mapping[str, Any]], documents: Mapping[str, Any] | None
    ) -> tuple[Sequence[SearchResponse], SearchResponse | None]:
        """All address searches and at most one document search, in one ``_msearch``."""
        ...

    def fetch(self, passage_ids: Sequence[str], keys: Sequence[str]) -> FetchedEvidence:
        """One realtime ``mget`` on concrete indices."""
        ...

    def coverage(self, principal: Principal, sources: Sequence[str]) -> Sequence[Coverage]: ...

    def metadata_keys(self, principal: Principal, sources: Sequence[str]) -> frozenset[str]:
        """Metadata keys of documents that the principal may read, of these sources (all, if
        empty): a filter on any other key would match nothing, so it is refused."""
        ...

    def kind_counts(self, principal: Principal, sources: Sequence[str]) -> Mapping[str, int]:
        """Addresses that the principal may read, by kind (``sentence`` among them)."""
        ...

    # -- traces and cache
    def put_trace(self, trace: Trace) -> None: ...

    def get_trace(self, trace_id: str) -> Trace | None: ...

    def cache_get(self, keys: Sequence[str]) -> Mapping[str, bytes]: ...

    def cache_put(self, values: Mapping[str, bytes]) -> None: ...


@runtime_checkable
class GenerationalStore(Protocol):
    """A store whose indices may be replaced by others, of another embedding model, while it is
    in use."""

    @property
    def generation(self) -> str:
        """Label of the generation that searches are held to; empty where to none."""
        ...

    def pinned(self, embedder: Embedder) -> tuple[UnitStore, Embedder]:
        """The store with its searches held to the generation that answers now, and the model for
        them: ``embedder``, or another one where it was replaced. From one look, which is also the
        ``check``. Searches raise GenerationGone once that generation is dropped."""
        ...


@runtime_checkable
class MultilingualStore(Protocol):
    """A store that may hold second vectors, of texts in other languages."""

    def second_encoder(self, principal: Principal) -> Embedder | None:
        """Of a pinned store: the multilingual encoder whose vectors its generation has beside
        the others, None where it has none or none that the principal may find. Raises
        StoreError, ModelUnavailable."""
        ...
