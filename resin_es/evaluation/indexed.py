"""What the index holds of a document, by character position: through the store's port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from resin_es.model import EvidenceSentence, Principal, RegistryEntry, document_key
from resin_es.model.base import Frozen
from resin_es.ports import UnitStore
from resin_es.query.fence import fence, readable


class IndexedPassage(Frozen):
    """A current passage: its sentences are addresses, with offsets in the document's text."""

    passage_id: str
    document_key: str
    sentences: tuple[EvidenceSentence, ...]


class IndexedDocument(Frozen):
    """What the index holds of a document. ``state`` is its status in the registry, with the
    error where it failed; ``absent`` where it has no entry that may be read."""

    document_id: str
    state: str = "absent"
    passages: tuple[IndexedPassage, ...] = ()


Addresses = Mapping[str, IndexedDocument]
"""By document id, as gold places name it."""


class IndexedDocuments:
    """What the index holds of documents of one source: each is fetched once."""

    def __init__(self, store: UnitStore, source: str, principal: Principal) -> None:
        self._store, self._source, self._principal = store, source, principal
        self._known: dict[str, IndexedDocument] = {}

    def of(self, document_ids: Iterable[str]) -> Addresses:
        """By document id. Two ``mget`` for all that were not asked for before: registry
        entries, then their current passages. Raises StoreError."""
        wanted = tuple(dict.fromkeys(document_ids))
        new = [item for item in wanted if item not in self._known]
        if new:
            self._known.update(self._fetched(new))
        return {item: self._known[item] for item in wanted}

    def _fetched(self, document_ids: Sequence[str]) -> dict[str, IndexedDocument]:
        keys = {document_key(self._source, item): item for item in document_ids}
        entries = {
            key: entry
            for key, entry in self._store.fetch([], list(keys)).entries.items()
            if self._principal.may_read(entry.access)
        }
        wanted = {ref.id: key for key, entry in entries.items() for ref in entry.passages}
        passages = self._passages(wanted)
        found = {item: IndexedDocument(document_id=item) for item in document_ids}
        for key, entry in entries.items():
            found[keys[key]] = IndexedDocument(
                document_id=keys[key],
                state=_state(entry),
                passages=tuple(passages[r.id] for r in entry.passages if r.id in passages),
            )
        return found

    def _passages(self, wanted: Mapping[str, str]) -> dict[str, IndexedPassage]:
        """Current passages by id, of passage ids and the keys of their documents."""
        if not wanted:
            return {}
        fetched = self._store.fetch(list(wanted), list(dict.fromkeys(wanted.values())))
        sources = fence(fetched, wanted.items(), self._principal).sources
        return {
            passage_id: IndexedPassage(
                passage_id=passage_id,
                document_key=source.entry.key,
                sentences=source.sentences,
            )
            for passage_id, source in sources.items()
        }


def _state(entry: RegistryEntry) -> str:
    error = f": {entry.error.stage}: {entry.error.message}" if entry.error else ""
    held = "" if readable(entry, Principal(admin=True)) else ", holds no evidence"
    return f"{entry.status.value}{held}{error}"
