"""A store that answers what it is told, for tests of the answering side.

It implements the reading half of ``ports.UnitStore``: canned search answers in the order of
the calls, passages and registry entries from memory, traces kept. Every call is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from resin_es.errors import StoreRefused
from resin_es.index.records import passage_record
from resin_es.model import (
    Coverage,
    DocumentStatus,
    Passage,
    PassageRef,
    Principal,
    RegistryEntry,
    Trace,
    document_key,
    passage_id,
    sentence_id,
)
from resin_es.ports import FetchedEvidence, ModelIdentity, SearchHit, SearchResponse

Body = Mapping[str, Any]
Answering = Callable[[Body], Sequence[SearchHit]]


class ScriptedDocument:
    """A document of one source, cut into passages as given: lists of sentences. Sentences are
    joined by one space, passages by one space."""

    def __init__(
        self,
        external_id: str,
        passages: Sequence[Sequence[str]],
        *,
        title: str = "",
        source: str = "files",
        access: tuple[str, ...] = ("*",),
        status: DocumentStatus = DocumentStatus.INDEXED,
    ) -> None:
        self.key = document_key(source, external_id)
        self.passages: list[Passage] = []
        refs: list[PassageRef] = []
        position = 0
        for sentences in passages:
            passage = _passage(self.key, sentences, len(refs))
            self.passages.append(passage)
            refs.append(
                PassageRef(id=passage.id, start=position, sentence_ids=passage.sentence_ids)
            )
            position += len(passage.text) + 1
        self.text = " ".join(passage.text for passage in self.passages)
        self.entry = RegistryEntry(
            key=self.key,
            source=source,
            external_id=external_id,
            status=status,
            title=title,
            access=access,
            url=f"https://docs.example/{external_id}",
            passages=tuple(refs),
        )

    def hit(
        self,
        passage: int,
        sentence: int,
        *,
        score: float = 1.0,
        dense: float | None = None,
        lexical: float | None = None,
        multilingual: float | None = None,
        kind: str = "sentence",
        name: str = "",
        subject: str = "",
        object: str = "",
    ) -> SearchHit:
        """A search hit on one sentence. ``dense``, ``lexical``, ``multilingual``: the parts
        as a server reports them."""
        held = self.passages[passage]
        parts = {"dense": dense, "lexical": lexical, "multilingual": multilingual}
        return SearchHit(
            id=name or f"{kind}-{held.sentence_ids[sentence]}",
            score=score,
            parts={part: value for part, value in parts.items() if value is not None},
            source={
                "kind": kind,
                "passage_id": held.id,
                "sentence_ids": [held.sentence_ids[sentence]],
                "document_key": self.key,
                "document_id": self.entry.external_id,
                "source": self.entry.source,
                "statement": held.text,
                **({"subject": subject, "object": object} if subject else {}),
            },
        )


def _passage(key: str, sentences: Sequence[str], number: int) -> Passage:
    ids = tuple(sentence_id(key, text, number * 1000 + i) for i, text in enumerate(sentences))
    offsets: list[tuple[int, int]] = []
    position = 0
    for text in sentences:
        offsets.append((position, position + len(text)))
        position += len(text) + 1
    text = " ".join(sentences)
    return Passage(
        id=passage_id(key, ids, text),
        document_key=key,
        text=text,
        sentence_ids=ids,
        offsets=tuple(offsets),
    )


class ScriptedStore:
    """The reading half of a store. ``answers`` gives the hits of each address search, by its
    body; ``documents`` those of the document search. ``before_fetch`` runs before each fetch,
    with its number from 1, so that a test can change the world in between."""

    def __init__(
        self,
        documents: Iterable[ScriptedDocument] = (),
        answers: Answering | Sequence[SearchHit] = (),
        by_document: Sequence[SearchHit] = (),
    ) -> None:
        self.entries_now: dict[str, RegistryEntry] = {}
        self.passages_now: dict[str, Mapping[str, Any]] = {}
        for document in documents:
            self.put(document)
        self._answers, self._by_document = answers, by_document
        self.searches: list[tuple[list[Body], Body | None]] = []
        self.fetches: list[tuple[list[str], list[str]]] = []
        self.checked: list[ModelIdentity] = []
        self.traces: dict[str, Trace] = {}
        self.refuse_traces = False
        self.keys: frozenset[str] = frozenset()
        self.before_fetch: Callable[[int], None] = lambda number: None

    def put(self, document: ScriptedDocument) -> None:
        """Add or replace a document; passages of an older version stay stored."""
        self.entries_now[document.key] = document.entry
        for passage in document.passages:
            self.passages_now[passage.id] = passage_record(passage, document.entry).body

    def change(self, key: str, **fields: Any) -> None:
        """Change an entry: its access, status or passages."""
        self.entries_now[key] = self.entries_now[key].model_copy(update=fields)

    def remove(self, key: str) -> None:
        """Delete a document altogether."""
        del self.entries_now[key]

    # -- the port

    def check(self, model: ModelIdentity) -> None:
        self.checked.append(model)

    def search(
        self, addresses: Sequence[Body], documents: Body | None
    ) -> tuple[list[SearchResponse], SearchResponse | None]:
        self.searches.append((list(addresses), documents))
        answers = self._answers
        found = [answers(body) if callable(answers) else answers for body in addresses]
        by_document = SearchResponse(hits=tuple(self._by_document))
        return [SearchResponse(hits=tuple(hits), took_ms=1) for hits in found], (
            by_document if documents is not None else None
        )

    def fetch(self, passage_ids: Sequence[str], keys: Sequence[str]) -> FetchedEvidence:
        self.fetches.append((list(passage_ids), list(keys)))
        self.before_fetch(len(self.fetches))
        return FetchedEvidence(
            passages={i: self.passages_now[i] for i in passage_ids if i in self.passages_now},
            entries={key: self.entries_now[key] for key in keys if key in self.entries_now},
        )

    def coverage(self, principal: Principal, sources: Sequence[str]) -> list[Coverage]:
        counts: dict[str, dict[str, int]] = {}
        for entry in self.entries_now.values():
            if principal.may_read(entry.access) and (not sources or entry.source in sources):
                states = counts.setdefault(entry.source, {})
                states[entry.status.value] = states.get(entry.status.value, 0) + 1
        return [
            Coverage(source=source, documents=sum(states.values()), by_status=states)
            for source, states in sorted(counts.items())
        ]

    def metadata_keys(self, principal: Principal, sources: Sequence[str]) -> frozenset[str]:
        return self.keys

    def put_trace(self, trace: Trace) -> None:
        if self.refuse_traces:
            raise StoreRefused("writing traces is not allowed.")
        self.traces[trace.id] = trace

    def get_trace(self, trace_id: str) -> Trace | None:
        return self.traces.get(trace_id)
