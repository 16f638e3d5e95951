"""One Protocol per outside thing. Adapters implement them; ``bootstrap`` chooses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from resin_es.model import (
    Answer,
    Coverage,
    Document,
    EvidenceBuffer,
    Guard,
    Passage,
    PassageDraft,
    Plan,
    Principal,
    ReaderIdentity,
    RegistryEntry,
    Sentence,
    Trace,
    Unit,
    UnitDraft,
    UnitReject,
)
from resin_es.model.base import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """Shape (n, dims), float32, every row of length 1."""


class Progress(Protocol):
    """Where long work reports how far it is. ``total`` is None where it is not known."""

    def update(self, done: int, total: int | None, description: str) -> None: ...


# ---------------------------------------------------------------- models


class ModelIdentity(Frozen):
    """Which embedding model a vector came from. ``name`` is the same for runtimes whose
    vectors may stand in one index (their parity is tested); ``runtime`` tells them apart."""

    name: str
    dims: int
    runtime: str = ""


class Embedder(Protocol):
    """Text to vectors. Some models treat a question otherwise than a passage (a prefix of its
    own); for the others the two methods give the same."""

    @property
    def identity(self) -> ModelIdentity: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is searched: shape (len(texts), dims), float32, L2-normalised; row i
        belongs to texts[i].

        Raises ModelUnavailable, ModelError.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is asked, as ``embed`` gives them.

        Raises ModelUnavailable, ModelError.
        """
        ...


class ReadingWindow(Frozen):
    """What a passage constructor is given: sentences of one document, in order, with
    neighbours as context that must not be returned."""

    title: str
    sentences: tuple[Sentence, ...]
    before: tuple[Sentence, ...] = ()
    after: tuple[Sentence, ...] = ()
    language: str = "en"


class PassageInput(Frozen):
    """What a unit extractor is given: one passage with its sentences, nothing else of the
    document but its title (ARTICLE_METADATA / ARTICLE_CHUNK in A.7)."""

    title: str
    passage: Passage
    sentences: tuple[Sentence, ...]
    language: str = "en"


class UnitReading(Frozen):
    """What a unit extractor returns. ``tokens`` and ``cost`` are what it spent."""

    drafts: tuple[UnitDraft, ...] = ()
    rejects: tuple[UnitReject, ...] = ()
    tokens: int = 0
    cost: float = 0.0


class Reader(Protocol):
    """Documents to passages to unit drafts. Never sees a question, answer or gold data."""

    @property
    def identity(self) -> ReaderIdentity: ...

    def languages(self) -> frozenset[str] | None:
        """Languages it reads (ISO 639-1), None for all. Others get no units, and are counted."""
        ...

    def passages(self, window: ReadingWindow) -> Sequence[PassageDraft]:
        """Drafts that cover ``window.sentences``; the caller repairs gaps and overlaps.

        Raises ReadingError.
        """
        ...

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        """One reading per passage, in order. Raises ReadingError."""
        ...


class Planner(Protocol):
    """Question to plan, upfront."""

    @property
    def identity(self) -> ReaderIdentity: ...

    def plan(self, question: str, max_hops: int) -> Plan:
        """Raises ModelError; the engine then falls back to the question as one hop."""
        ...


class Composer(Protocol):
    """Question and source passages to an answer. Sees nothing else."""

    @property
    def identity(self) -> ReaderIdentity: ...

    def compose(self, question: str, evidence: EvidenceBuffer) -> Answer:
        """Raises ModelError."""
        ...


class Completion(Frozen):
    """What a text model wrote, what it took in tokens and, where its price is known, in US
    dollars. ``stop_reason`` is the provider's own word for why it ended."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0
    stop_reason: str = ""


class TextModel(Protocol):
    """Text to text, one call."""

    @property
    def name(self) -> str:
        """The model, as the provider calls it."""
        ...

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        """At most ``max_tokens`` of output. Raises ModelUnavailable, ModelError."""
        ...


# ---------------------------------------------------------------- Elasticsearch


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
    it only while ``guard`` holds."""

    document_key: str
    family: str
    id: str
    passage_id: str = ""
    index: str
    guard: Guard


class BulkReport(Frozen):
    """What a bulk write did. ``failed`` maps record id to reason."""

    written: int = 0
    failed: Mapping[str, str] = {}
    retries: int = 0


class SearchHit(Frozen):
    """A raw hit of an address search. ``parts`` holds the named queries' scores, if told."""

    id: str
    index: str
    score: float
    parts: Mapping[str, float] = {}
    source: Mapping[str, Any] = {}


class SearchResponse(Frozen):
    """Hits of one search, in the server's order."""

    hits: tuple[SearchHit, ...] = ()
    took_ms: int = 0


class FetchedEvidence(Frozen):
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
        self, keys: Sequence[str], fields: Mapping[str, Mapping[str, Any]]
    ) -> BulkReport:
        """Partial update of access and metadata fields on all records of documents; by key."""
        ...

    def records(self, keys: Sequence[str]) -> Iterator[RecordRef]:
        """All units, sentences and passages of documents as of the last refresh, by PIT;
        complete or an error."""
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


class DocumentSource(Protocol):
    """Where documents come from, streamed."""

    def documents(self) -> Iterator[Document]: ...


__all__ = [
    "AddressRecord",
    "BulkReport",
    "Composer",
    "DocumentSource",
    "Embedder",
    "FetchedEvidence",
    "ModelIdentity",
    "PassageInput",
    "Planner",
    "Progress",
    "Reader",
    "ReadingWindow",
    "RecordRef",
    "SearchHit",
    "SearchResponse",
    "StoredEntry",
    "Unit",
    "UnitReading",
    "UnitStore",
]
