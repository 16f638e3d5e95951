"""Documents in, committed evidence out: the write path.

For each batch: look the registry up, claim what needs work, read, embed, write, refresh, flip
the registry, purge what is stale. The flip is guarded by ``if_seq_no``: whoever loses it purges
its own writes. A run that dies anywhere leaves the last committed version in force and is
finished by the next run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

from resin_es.extract.read import Previous, Reading, read_many
from resin_es.index.commit import commit
from resin_es.index.decide import Need, claimed, decide, with_rights
from resin_es.index.deleting import buried, delete_keys
from resin_es.index.indexer_settings import IndexSettings
from resin_es.index.lease import held_by_other, new_owner
from resin_es.index.pulse import Pulse, PulsingReader
from resin_es.index.report import IndexReport
from resin_es.index.rights import apply_rights
from resin_es.index.work import RetryAt, Work, at_once
from resin_es.model import Document, DocumentStatus, Guard, RegistryEntry, document_key
from resin_es.ports import Embedder, Progress, Reader, StoredEntry, UnitStore

LANGUAGE_REASON = "language:"
"""How a reading counts passages in a language that its reader does not read."""
REPAIRED = "repaired-passages"
"""How a report counts sentences that a constructor skipped, doubled or put out of order."""

Clock = Callable[[], datetime]
Screen = Callable[[Sequence[Document]], Sequence[Document]]


def utc_now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass
class Look:
    """The registry as it stood before documents were fetched. What changed in it since may be
    newer than what was fetched (rights, or a deletion): ``overtaken`` collects those keys."""

    guards: Mapping[str, Guard]
    overtaken: list[str] = field(default_factory=list)

    def unchanged(
        self, documents: Sequence[Document], stored: Mapping[str, StoredEntry]
    ) -> list[Document]:
        """Those of ``documents`` whose entry is still the one looked at."""
        kept: list[Document] = []
        for document in documents:
            known = stored.get(document.key)
            if (known.guard if known else None) == self.guards.get(document.key):
                kept.append(document)
            else:
                self.overtaken.append(document.key)
        return kept


def as_given(documents: Sequence[Document]) -> Sequence[Document]:
    """No screen."""
    return documents


class Indexer:
    """Writes documents. Every error of the store ends the run; a document that cannot be read
    is marked failed, named in the report, and does not stop the others."""

    def __init__(
        self,
        store: UnitStore,
        embedder: Embedder,
        reader: Reader,
        settings: IndexSettings | None = None,
        *,
        now: Clock = utc_now,
        provisional: bool = False,
        retry_at: RetryAt = at_once,
        screen: Screen = as_given,
    ) -> None:
        """``provisional``: what is committed answers and waits for its reading (a first pass).
        ``retry_at`` says when a document that was read in part is tried again. ``screen`` is
        given each batch after its entries were looked up, and may change the documents' rights:
        what was revoked before the look is then seen."""
        self._store = store
        self._embedder = embedder
        self._reader = reader
        self._settings = settings or IndexSettings()
        self._now = now
        self._provisional, self._retry_at, self._screen = provisional, retry_at, screen
        self._owner = new_owner()

    @property
    def pipeline(self) -> str:
        """Which reader writes; another one means reading again. Embedding model and statement
        version are the index's own: a rebuild changes them, and nothing is read for that."""
        reader = self._reader.identity
        return f"{reader.model}/{reader.prompt_version}"

    @property
    def owner(self) -> str:
        """The lease under which this indexer claims documents."""
        return self._owner

    def index(
        self,
        documents: Iterable[Document],
        *,
        report: IndexReport | None = None,
        progress: Progress | None = None,
        total: int | None = None,
        look: Look | None = None,
    ) -> IndexReport:
        """Index a stream of documents; memory is bounded by one batch.

        ``report`` may be the one that the source writes its own problems into. With ``look``,
        documents whose entry is not the one looked at any more are left alone.
        Raises StoreError (the run ends; finished documents stay), IndexMismatch and
        StoreNotInstalled before any model call.
        """
        report = report or IndexReport()
        started = time.monotonic()
        self._store.check(self._embedder.identity)
        try:
            for batch in self._batches(documents):
                self._batch(batch, report, look)
                if progress is not None:
                    progress.update(report.documents, total, "documents")
        finally:
            self._store.refresh()
            report.seconds += time.monotonic() - started
        return report

    def survey(
        self, documents: Iterable[Document], *, seen: Callable[[int], None] = lambda count: None
    ) -> Iterator[tuple[Document, Previous | None]]:
        """Those documents that :meth:`index` would read, each with what it would keep of the
        last version. Writes and claims nothing; what another process holds is listed too.

        ``seen`` is told after each batch how many documents were looked at. Raises StoreError.
        """
        count = 0
        for batch in self._batches(documents):
            stored = self._store.entries([document.key for document in batch])
            for document in batch:
                known = stored.get(document.key)
                entry = known.entry if known else None
                if decide(document, entry, self.pipeline) is Need.READ:
                    yield document, self._previous(entry)
            count += len(batch)
            seen(count)

    def delete(
        self, source: str, external_ids: Sequence[str], report: IndexReport | None = None
    ) -> IndexReport:
        """Delete documents; from the moment this returns no answer carries them."""
        named = [(document_key(source, one), one) for one in external_ids]
        return delete_keys(self._store, named, report or IndexReport(), now=self._now)

    def prune(
        self,
        source: str,
        seen: set[str],
        report: IndexReport,
        *,
        covers: Callable[[str], bool] = lambda external_id: True,
    ) -> IndexReport:
        """Delete the source's documents whose keys are not in ``seen`` and whose ids the
        listing ``covers``. Only call it after a complete listing."""
        vanished = [
            (stored.entry.key, stored.entry.external_id)
            for stored in self._store.scan_entries(source)
            if stored.entry.key not in seen
            and covers(stored.entry.external_id)
            and not buried(stored.entry)
        ]
        report.pruned.extend(external_id for _, external_id in vanished)
        return delete_keys(self._store, vanished, report, now=self._now)

    # ------------------------------------------------------------ batches

    def _batches(self, documents: Iterable[Document]) -> Iterator[list[Document]]:
        """Bounded by documents and by characters, so that a run of long ones fits in memory."""
        batch: list[Document] = []
        size = 0
        for document in documents:
            if batch and size + len(document.text) > self._settings.batch_characters:
                yield batch
                batch, size = [], 0
            batch.append(document)
            size += len(document.text)
            if len(batch) >= self._settings.batch_documents:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _batch(
        self, batch: Sequence[Document], report: IndexReport, look: Look | None = None
    ) -> None:
        stored = self._store.entries([document.key for document in batch])
        if look is not None:
            batch = look.unchanged(batch, stored)
        to_read: list[tuple[Document, StoredEntry | None]] = []
        to_rights: list[tuple[Document, StoredEntry]] = []
        for document in self._screen(batch):
            report.documents += 1
            known = stored.get(document.key)
            need = decide(document, known.entry if known else None, self.pipeline)
            if need is Need.NOTHING:
                report.unchanged += 1
            elif known is not None and self._busy(known.entry):
                report.busy += 1
                report.failures.append(
                    (document.external_id, "another process is reading it; run again later")
                )
            elif need is Need.RIGHTS and known is not None:
                to_rights.append((document, known))
            else:
                to_read.append((document, known))
        if to_rights:
            self._change_rights(to_rights, report)
        if to_read:
            self._read_and_commit(to_read, report)

    def _busy(self, entry: RegistryEntry) -> bool:
        lease = timedelta(seconds=self._settings.lease_s)
        return held_by_other(entry, owner=self._owner, now=self._now(), lease=lease)

    # ------------------------------------------------------------ rights

    def _change_rights(
        self, items: Sequence[tuple[Document, StoredEntry]], report: IndexReport
    ) -> None:
        won = apply_rights(
            self._store,
            [(stored, with_rights(stored.entry, document)) for document, stored in items],
        )
        report.rights_changed += sum(won)
        self._lost(
            [document for (document, _), ok in zip(items, won, strict=True) if not ok], report
        )

    def _lost(self, documents: Sequence[Document], report: IndexReport) -> None:
        for document in documents:
            report.busy += 1
            report.failures.append(
                (document.external_id, "another process changed it meanwhile; run again")
            )

    # ------------------------------------------------------------ reading

    def _read_and_commit(
        self, items: Sequence[tuple[Document, StoredEntry | None]], report: IndexReport
    ) -> None:
        claims = [
            (
                claimed(
                    document, known.entry if known else None, owner=self._owner, now=self._now()
                ),
                known.guard if known else None,
            )
            for document, known in items
        ]
        guards = self._store.put_entries(claims)
        work: list[Work] = []
        for (document, known), (entry, _), guard in zip(items, claims, guards, strict=True):
            if guard is None:
                self._lost([document], report)
                continue
            work.append(Work(document, entry, guard, before=known.entry if known else None))
        done = commit(
            self._store,
            self._embedder,
            self._read(work, report),
            pipeline=self.pipeline,
            now=self._now(),
            cache=self._settings.cache_vectors,
            report=report,
            provisional=self._provisional,
            retry_at=self._retry_at,
        )
        for item, reading in done:
            self._count(item, reading, report)

    def _read(self, work: Sequence[Work], report: IndexReport) -> list[tuple[Work, Reading]]:
        """Read under a heartbeat. What was taken away meanwhile keeps the guard that it lost
        with, so that the commit writes nothing of it."""
        lease = timedelta(seconds=self._settings.lease_s)
        pulse = Pulse(self._store, work, lease=lease, now=self._now)
        readings = read_many(
            [(item.document, self._previous(item.before)) for item in work],
            PulsingReader(self._reader, pulse),
        )
        _count_spent(readings, report)
        pulse.beat()
        return list(zip(pulse.current(), readings, strict=True))

    def _previous(self, before: RegistryEntry | None) -> Previous | None:
        """What may be kept of the last committed version: nothing if another pipeline wrote
        it, and never a passage whose reading failed."""
        if before is None or before.pipeline != self.pipeline or not before.passages:
            return None
        if before.status is DocumentStatus.DELETED:
            return None
        return Previous(passages=tuple(ref for ref in before.passages if not ref.failed))

    def _count(self, item: Work, reading: Reading, report: IndexReport) -> None:
        entry = item.before
        if entry is None or not entry.committed_version:
            report.new += 1
        else:
            report.changed += 1
        report.empty += not reading.sentences
        report.partial += bool(reading.failures)
        report.sentences += len(reading.sentences)
        report.passages += len(reading.passages)
        report.units += len(reading.new_units)
        report.read_documents += bool(reading.read_passages)
        report.read_passages += reading.read_passages
        report.read_sentences += sum(
            len(passage.sentence_ids)
            for passage in reading.passages
            if passage.id not in reading.kept_passage_ids
        )
        for reason, count in reading.rejected.items():
            if reason.startswith(LANGUAGE_REASON):
                report.unread_languages[reason.removeprefix(LANGUAGE_REASON)] += 1
            else:
                report.rejected_units[reason] += count
        report.failures.extend(
            (item.document.external_id, f"{error.stage}: {error.message}")
            for error in reading.failures
        )


def _count_spent(readings: Sequence[Reading], report: IndexReport) -> None:
    """What reading took and met, also for a document whose commit is lost to another process:
    it was paid for all the same."""
    for reading in readings:
        report.tokens += reading.tokens
        report.cost += reading.cost
        report.model_faults.update(reading.faults)
        if reading.repairs:
            report.model_faults[REPAIRED] += reading.repairs
