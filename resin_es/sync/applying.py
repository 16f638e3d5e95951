"""Documents as they stand now against the registry: marked, put under new rights, or left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from resin_es.errors import StoreConflict
from resin_es.index.decide import with_rights
from resin_es.index.rights import Change, apply_rights
from resin_es.model import Document, Guard, RegistryEntry
from resin_es.ports import StoredEntry
from resin_es.ports.sync import Unreadable
from resin_es.sync.backlog import Backlog, Due, age, first_task, outdated
from resin_es.sync.desk import Desk, revocations
from resin_es.sync.marking import Verdict, narrowed, pending, verdict
from resin_es.sync.reports import SyncReport

TRIES = 10
Fetch = Callable[[Sequence[str]], Mapping[str, Document | Unreadable]]
Row = tuple[Document, StoredEntry | None, Verdict]


class Applying:
    """Applies documents of one source. A lost race is run again on the newer entry, so that
    rights are in force when ``apply`` returns."""

    def __init__(
        self, desk: Desk, source: str, backlog: Backlog, report: SyncReport, fetch: Fetch
    ) -> None:
        """``fetch`` gives documents of the source as they stand now."""
        self._desk, self._source, self._fetch = desk, source, fetch
        self._backlog, self._report = backlog, report
        self._screen = revocations(desk.book)
        self._pipeline = desk.indexers.reading.pipeline

    def apply(self, documents: Sequence[Document]) -> None:
        """Raises StoreError."""
        open_ones = list({document.key: document for document in documents}.values())
        self._report.looked_at += len(open_ones)
        for _ in range(TRIES):
            if not open_ones:
                return
            open_ones = self._once(open_ones)
        raise StoreConflict(
            f"{len(open_ones)} documents of source {self._source!r} changed faster than they "
            "could be marked.",
            hint="Run the sync again.",
        )

    def _once(self, documents: Sequence[Document]) -> list[Document]:
        """Returns those that lost against another writer."""
        stored = self._desk.store.entries([document.key for document in documents])
        rows = self._afresh(self._judged(documents, stored), stored)
        self._count(rows)
        return [*self._mark(rows), *self._change_rights(rows)]

    def _judged(
        self, documents: Sequence[Document], stored: Mapping[str, StoredEntry]
    ) -> list[Row]:
        rows: list[Row] = []
        for document in self._screen(documents):
            known = stored.get(document.key)
            entry = known.entry if known else None
            rows.append((document, known, verdict(document, entry, self._pipeline)))
        return rows

    def _afresh(self, rows: Sequence[Row], stored: Mapping[str, StoredEntry]) -> list[Row]:
        """A listing shows documents as they stood when it began. Rights that would be given are
        looked at once more, after the look at the registry: who took them away since then wrote
        the entry after it too, and wins."""
        wide = [document.external_id for document, _, judged in rows if judged is Verdict.RIGHTS]
        if not wide:
            return list(rows)
        now = [one for one in self._fetch(wide).values() if isinstance(one, Document)]
        return [row for row in rows if row[2] is not Verdict.RIGHTS] + self._judged(now, stored)

    def _count(self, rows: Sequence[Row]) -> None:
        for document, _, judged in rows:
            self._report.unchanged += judged is Verdict.SAME
            self._report.waiting += judged is Verdict.WAITING
            self._report.empty += not document.text.strip()

    def _mark(self, rows: Sequence[Row]) -> list[Document]:
        marks: list[tuple[Document, Verdict, RegistryEntry, Guard | None]] = []
        for document, known, judged in rows:
            entry = known.entry if known else None
            if judged in (Verdict.NEW, Verdict.CHANGED):
                marked = pending(document, entry, queued_at=None)
                marks.append((document, judged, marked, _guard(known)))
            elif judged is Verdict.NARROWED and entry is not None:
                marks.append((document, judged, narrowed(document, entry), _guard(known)))
        if not marks:
            return []
        guards = self._desk.store.put_entries([(entry, guard) for _, _, entry, guard in marks])
        lost: list[Document] = []
        for (document, judged, entry, _), guard in zip(marks, guards, strict=True):
            if guard is None:
                lost.append(document)
                continue
            self._report.new += judged is Verdict.NEW
            self._report.changed += judged is Verdict.CHANGED
            self._report.rights_changed += judged is Verdict.NARROWED
            if judged is not Verdict.NARROWED:
                self._report.pending += 1
                self._backlog.add(_due(document, entry))
        return lost

    def _change_rights(self, rows: Sequence[Row]) -> list[Document]:
        changes: list[Change] = []
        documents: list[Document] = []
        for document, known, judged in rows:
            if judged is Verdict.RIGHTS and known is not None:
                documents.append(document)
                changes.append((known, with_rights(known.entry, document)))
        won = apply_rights(self._desk.store, changes)
        self._report.rights_changed += sum(won)
        return [document for document, ok in zip(documents, won, strict=True) if not ok]


def _due(document: Document, entry: RegistryEntry) -> Due:
    return Due(
        first_task(entry),
        document.source,
        document.key,
        alone=False,
        age=age(document.updated_at),
        outdated=outdated(entry),
    )


def _guard(known: StoredEntry | None) -> Guard | None:
    return known.guard if known else None
