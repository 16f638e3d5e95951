"""A team's index in memory, which can be edited, fail, or go away in the middle of a listing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from resin_es.errors import StoreTimeout, StoreUnavailable
from resin_es.model import Document
from resin_es.model.source import SourceSpec
from resin_es.ports.sync import FieldInfo, Unreadable


class ScriptedIndex:
    """Implements ``ports.sync.ForeignIndex``. ``breaks_after``: so many documents or ids come
    out of a listing, then it ends in a StoreTimeout. ``away``: every call is a
    StoreUnavailable. ``hidden``: ids that listings do not see yet (no refresh) and ``fetch``
    does. ``calls`` counts calls, ``read`` the documents handed out."""

    def __init__(self, *documents: Document | Unreadable) -> None:
        self.documents_now: dict[str, Document | Unreadable] = {}
        self.put(*documents)
        self.breaks_after: int | None = None
        self.away = False
        self.hidden: set[str] = set()
        self.mapping = {
            "title": FieldInfo(type="text"),
            "text": FieldInfo(type="text"),
            "updated": FieldInfo(type="date"),
        }
        self.calls: Counter[str] = Counter()
        self.read = 0

    def put(self, *documents: Document | Unreadable) -> None:
        """Add or replace."""
        self.documents_now.update({one.external_id: one for one in documents})

    def remove(self, *external_ids: str) -> None:
        for one in external_ids:
            del self.documents_now[one]

    # -- the port

    def fields(self, index: str) -> Mapping[str, FieldInfo]:
        self._called("fields")
        return dict(self.mapping)

    def count(self, spec: SourceSpec, since: datetime | None = None) -> int:
        self._called("count")
        return len(self._listed(since))

    def documents(
        self, spec: SourceSpec, since: datetime | None = None
    ) -> Iterator[Document | Unreadable]:
        self._called("documents")
        for number, one in enumerate(self._listed(since)):
            self._break(number)
            self.read += 1
            yield one
        self._break(len(self._listed(since)))

    def ids(self, spec: SourceSpec) -> Iterator[str]:
        self._called("ids")
        for number, one in enumerate(self._listed(None)):
            self._break(number)
            yield one.external_id

    def fetch(
        self, spec: SourceSpec, external_ids: Sequence[str]
    ) -> dict[str, Document | Unreadable]:
        self._called("fetch")
        found = {o: self.documents_now[o] for o in external_ids if o in self.documents_now}
        self.read += len(found)
        return found

    def _listed(self, since: datetime | None) -> list[Document | Unreadable]:
        return [
            one
            for name, one in self.documents_now.items()
            if name not in self.hidden and _changed(one, since)
        ]

    def _called(self, name: str) -> None:
        self.calls[name] += 1
        if self.away:
            raise StoreUnavailable("the team's cluster cannot be reached.")

    def _break(self, number: int) -> None:
        if self.breaks_after is not None and number >= self.breaks_after:
            raise StoreTimeout("listing the team's index: a shard failed.")


def _changed(one: Document | Unreadable, since: datetime | None) -> bool:
    if since is None:
        return True
    return isinstance(one, Document) and one.updated_at is not None and one.updated_at >= since
