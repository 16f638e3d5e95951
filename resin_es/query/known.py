"""What a run knows of the registry: entries by key, as last fetched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from resin_es.model import PassageRef, Principal, RegistryEntry
from resin_es.ports import FetchedEvidence, UnitStore
from resin_es.query.fence import readable
from resin_es.query.hits import Address


class Known:
    """Registry entries fetched so far in one run, judged with the reader's rights: what may not
    serve as evidence is kept as None."""

    def __init__(self, store: UnitStore, principal: Principal) -> None:
        self._store, self.principal = store, principal
        self._entries: dict[str, RegistryEntry | None] = {}

    def learn(self, keys: Iterable[str]) -> None:
        """Fetch the entries not asked for yet, in one call; none, no call."""
        wanted = [key for key in dict.fromkeys(keys) if key and key not in self._entries]
        if wanted:
            found = self._store.fetch([], wanted).entries
            self._judge(wanted, found)

    def fetch(self, passage_ids: Sequence[str], keys: Sequence[str]) -> FetchedEvidence:
        """Passages with their entries, of one moment; what was known before gives way."""
        fetched = self._store.fetch(passage_ids, keys)
        self._judge(keys, fetched.entries)
        return fetched

    def _judge(self, keys: Sequence[str], found: Mapping[str, RegistryEntry]) -> None:
        for key in keys:
            entry = found.get(key)
            self._entries[key] = entry if readable(entry, self.principal) else None

    def entry(self, key: str) -> RegistryEntry | None:
        """The entry, if the reader may read its document and it may serve as evidence."""
        return self._entries.get(key)

    def current(self, candidate: Address) -> bool:
        """Whether the registry lists the candidate's passage, as far as is known."""
        entry = self.entry(candidate.document_key)
        return entry is not None and any(r.id == candidate.passage_id for r in entry.passages)

    def passages(self) -> Mapping[str, Sequence[PassageRef]]:
        """Current passages of every readable document known."""
        return {k: entry.passages for k, entry in self._entries.items() if entry is not None}
