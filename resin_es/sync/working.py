"""Work on documents: the two passes, and deleting.

Tasks carry keys only; documents are fetched as they stand when the work begins. Whatever ends
an attempt early, the registry says afterwards when the document is due again, or that it is a
dead letter. A process that dies says nothing; its lease does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from resin_es.errors import (
    BudgetSpent,
    ClientTooNew,
    IndexMismatch,
    ModelUnavailable,
    ResinError,
    StoreError,
    StoreNotInstalled,
    StoreRefused,
    StoreRejected,
    StoreUnavailable,
    UsageError,
)
from resin_es.index.indexer import Indexer, Look
from resin_es.model import Document, DocumentStatus, Guard, RegistryEntry, StageError
from resin_es.model.source import Source, SourceState
from resin_es.ports import StoredEntry
from resin_es.ports.sync import TaskName, Unreadable
from resin_es.sync import logbook
from resin_es.sync.backlog import outdated
from resin_es.sync.desk import Desk
from resin_es.sync.dispatch import Dispatch
from resin_es.sync.holding import WORK_STAGE, change_state
from resin_es.sync.marking import alone, backoff, called_off, retryable, stage_error, tried
from resin_es.sync.reports import WorkReport
from resin_es.sync.withholding import withhold

SETUP = (
    ModelUnavailable,
    BudgetSpent,
    UsageError,
    StoreNotInstalled,
    IndexMismatch,
    ClientTooNew,
    StoreRefused,
)
"""What every document would meet: no attempt is used up, and the source says what it is."""

BUSY_STATUS = ("429", "too many requests", "rejected_execution", "circuit_breaking", "breaker")

ROUNDS = 3
"""Times that a document is fetched anew because its entry changed meanwhile."""

Marking = Callable[[RegistryEntry], RegistryEntry]


class Working:
    """The tasks' work. One a process."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._owed: list[tuple[str, list[str]]] = []

    # ------------------------------------------------------------ tasks

    def embed_and_commit(self, source: str, keys: Sequence[str]) -> WorkReport:
        """First pass, then the second is queued."""
        report = WorkReport(source=source)
        held = self._source(source, keys, report)
        if held is None:
            return report
        ready: list[str] = []

        def blank(due: Sequence[StoredEntry]) -> list[StoredEntry]:
            ready.extend(one.entry.key for one in due if one.entry.passages)
            return [one for one in due if not one.entry.passages]

        indexer = self._desk.indexers.addressing
        done = self._rounds(indexer, held, "embed_and_commit", keys, report, blank)
        ready += [one.key for one in done if one.external_id not in report.problems]
        dispatch = Dispatch(self._desk.queue, self._desk.settings)
        dispatch.send("read_document", source, list(dict.fromkeys(ready)))
        return report

    def read_document(self, source: str, keys: Sequence[str]) -> WorkReport:
        """Second pass."""
        report = WorkReport(source=source)
        held = self._source(source, keys, report)
        if held is not None:
            indexer = self._desk.indexers.reading
            self._rounds(indexer, held, "read_document", keys, report, list)
        return report

    def _rounds(
        self,
        indexer: Indexer,
        source: Source,
        task: TaskName,
        keys: Sequence[str],
        report: WorkReport,
        choose: Callable[[Sequence[StoredEntry]], list[StoredEntry]],
    ) -> list[Document]:
        """Look at the registry, fetch, work. A document whose entry changed between look and
        claim is fetched anew: what was fetched may be older than what the entry stands for. What
        the source says is asked after the look, too: a source that is changed later is synced
        later, which changes the entry. Returns the documents worked on."""
        done: list[Document] = []
        left = list(dict.fromkeys(keys))
        for _ in range(ROUNDS):
            due = choose(self._due(source.spec.name, left, report))
            if due:
                stored = self._desk.book.source(source.spec.name)
                if stored is None or stored.source.state.paused:
                    report.skipped += len(due)
                    return done
                source = stored.source
            logbook.taken(task, [one.entry for one in due])
            look = Look({one.entry.key: one.guard for one in due})
            documents = self._fetched(source, due, report)
            self._run(indexer, source, task, documents, look, report)
            done += [one for one in documents if one.key not in look.overtaken]
            left = look.overtaken
            if not left:
                return done
        report.busy += len(left)
        return done

    def purge_document(self, source: str, keys: Sequence[str]) -> WorkReport:
        """Delete what is gone from the team's index; all of it, if the source is."""
        report = WorkReport(source=source)
        stored = self._desk.book.source(source)
        entries = [
            one.entry
            for one in self._desk.store.entries(keys).values()
            if one.entry.source == source
        ]
        wanted = [entry.external_id for entry in entries]
        if stored is not None:
            if stored.source.state.paused:
                report.skipped = len(keys)
                return report
            spec = stored.source.spec
            there = self._desk.index_of(spec).fetch(spec, wanted) if wanted else {}
            wanted = [one for one in wanted if one not in there]
        if wanted:
            done = self._desk.indexers.reading.delete(source, wanted, report.index)
            report.deleted = done.deleted
        report.skipped = len(keys) - report.deleted
        return report

    # ------------------------------------------------------------ what is to be done

    def _source(self, name: str, keys: Sequence[str], report: WorkReport) -> Source | None:
        self.pay_back()
        stored = self._desk.book.source(name)
        if stored is None or stored.source.state.paused:
            report.skipped = len(keys)
            return None
        return stored.source

    def _due(self, source: str, keys: Sequence[str], report: WorkReport) -> list[StoredEntry]:
        """Entries that need work now; a task that comes twice, or late, finds none."""
        due: list[StoredEntry] = []
        stored = self._desk.store.entries(keys)
        # At work elsewhere. One whose owner is gone is for ``reconcile``, which counts that.
        busy = sum(one.entry.status is DocumentStatus.WORKING for one in stored.values())
        for one in stored.values():
            if one.entry.source == source and self._wants(one.entry):
                due.append(one)
        report.busy += busy
        report.skipped += len(keys) - len(due) - busy
        return due

    def _wants(self, entry: RegistryEntry) -> bool:
        if entry.status in (DocumentStatus.INDEXED, DocumentStatus.EMPTY):
            return not entry.settled
        return retryable(
            entry.status,
            entry.attempts,
            entry.not_before,
            settings=self._desk.settings,
            now=self._desk.now(),
        ) or (entry.status is DocumentStatus.PARTIAL and not entry.settled)

    def _fetched(
        self, source: Source, due: Sequence[StoredEntry], report: WorkReport
    ) -> list[Document]:
        """The documents as they stand; one that is gone is deleted. Raises StoreError: nothing
        was claimed yet, so all of it is still due."""
        if not due:
            return []
        spec = source.spec
        wanted = [one.entry.external_id for one in due]
        found = self._desk.index_of(spec).fetch(spec, wanted)
        gone = [one for one in wanted if one not in found]
        if gone:
            done = self._desk.indexers.reading.delete(spec.name, gone)
            report.deleted += done.deleted
        unreadable = [one for one in found.values() if isinstance(one, Unreadable)]
        self._refuse(due, unreadable, report)
        return [one for one in found.values() if isinstance(one, Document)]

    def _refuse(
        self, due: Sequence[StoredEntry], unreadable: Sequence[Unreadable], report: WorkReport
    ) -> None:
        """A record that makes no document now counts as a failed attempt."""
        reasons = {one.external_id: one.reason for one in unreadable}
        changed: list[tuple[RegistryEntry, Guard | None]] = []
        if due and withhold(self._desk, due[0].entry.source, unreadable):
            stored = self._desk.store.entries([one.entry.key for one in due])
            due = [one for one in stored.values() if self._wants(one.entry)]
        for one in due:
            name = one.entry.external_id
            if name in reasons:
                counted = one.entry.model_copy(update={"attempts": one.entry.attempts + 1})
                error = StageError(stage="source", type="Unreadable", message=reasons[name])
                changed.append((self._tried(counted, error), one.guard))
                report.problems[name] = reasons[name]
        if changed:
            self._count_tried(report, [entry for entry, _ in changed])
            self._desk.store.put_entries(changed)

    # ------------------------------------------------------------ doing it

    def _run(
        self,
        indexer: Indexer,
        source: Source,
        task: TaskName,
        documents: Sequence[Document],
        look: Look,
        report: WorkReport,
    ) -> None:
        if not documents:
            return
        before = report.index.busy
        try:
            indexer.index(documents, report=report.index, look=look)
        except SETUP as error:
            self._give_back(indexer, documents, error)
            self._name_on_source(source, error)
            raise
        except StoreError as error:
            if not overloaded(error):
                self._failed(indexer, source, task, documents, error, report)
                return
            self._give_back(indexer, documents, error)
            raise
        except Exception as error:
            # A ResinError is told in report and registry; anything else is a bug, and raised too.
            self._failed(indexer, source, task, documents, error, report)
            if not isinstance(error, ResinError):
                raise
            return
        report.busy += report.index.busy - before
        self._done(source, report)

    def _done(self, source: Source, report: WorkReport) -> None:
        index = report.index
        report.done = index.new + index.changed + index.rights_changed
        report.problems.update(index.failures)
        error = source.state.error
        if report.done and error is not None and error.stage == WORK_STAGE:
            change_state(self._desk, source.spec.name, _cleared)

    def _failed(
        self,
        indexer: Indexer,
        source: Source,
        task: TaskName,
        documents: Sequence[Document],
        error: Exception,
        report: WorkReport,
    ) -> None:
        """One document: its attempt failed. Several: each is queued by itself, at once."""
        told = stage_error(error, task)
        keys = [document.key for document in documents]
        if len(documents) == 1:
            changed = self._release(indexer, keys, lambda entry: self._tried(entry, told), error)
            self._count_tried(report, changed)
        else:
            changed = self._release(indexer, keys, lambda entry: alone(entry, told), error)
            logbook.failed(changed)
            report.retried += len(changed)
            dispatch = Dispatch(self._desk.queue, self._desk.settings)
            for first in (True, False):
                keys = [one.key for one in changed if outdated(one) is first]
                dispatch.send(task, source.spec.name, keys, alone=True, first=first)
        report.problems.update({entry.external_id: told.message for entry in changed})

    def _tried(self, entry: RegistryEntry, error: StageError) -> RegistryEntry:
        desk = self._desk
        return tried(entry, error, desk.settings, now=desk.now(), chance=desk.chance())

    def _count_tried(self, report: WorkReport, entries: Sequence[RegistryEntry]) -> None:
        logbook.failed(entries)
        dead = sum(entry.status is DocumentStatus.FAILED for entry in entries)
        report.dead += dead
        report.retried += len(entries) - dead

    def _give_back(
        self, indexer: Indexer, documents: Sequence[Document], error: ResinError
    ) -> None:
        later = self._desk.now() + backoff(1, self._desk.settings, self._desk.chance())
        keys = [document.key for document in documents]
        self._release(indexer, keys, lambda entry: called_off(entry, later), error)

    def _release(
        self, indexer: Indexer, keys: Sequence[str], mark: Marking, error: BaseException
    ) -> list[RegistryEntry]:
        """Let go what this attempt still holds; returns the entries written. If the registry
        cannot be reached, that is owed, and done before the next work of this process."""
        try:
            return self._let_go(indexer.owner, keys, mark)
        except StoreError as worse:
            self._owed.append((indexer.owner, list(keys)))
            raise error from worse

    def _let_go(self, owner: str, keys: Sequence[str], mark: Marking) -> list[RegistryEntry]:
        changed = [
            (mark(one.entry), one.guard)
            for one in self._desk.store.entries(keys).values()
            if one.entry.status is DocumentStatus.WORKING and one.entry.lease == owner
        ]
        guards = self._desk.store.put_entries(changed) if changed else []
        return [entry for (entry, _), guard in zip(changed, guards, strict=True) if guard]

    def pay_back(self) -> None:
        """What an outage kept this process from letting go. The attempt was not the documents'
        fault. Raises StoreError while it lasts."""
        while self._owed:
            owner, keys = self._owed[-1]
            self._let_go(owner, keys, called_off)
            self._owed.pop()

    def _name_on_source(self, source: Source, error: ResinError) -> None:
        told = stage_error(error, WORK_STAGE)
        try:
            change_state(
                self._desk,
                source.spec.name,
                lambda state: state.model_copy(update={"error": told}),
            )
        except StoreError as worse:
            raise error from worse


def _cleared(state: SourceState) -> SourceState:
    if state.error is None or state.error.stage != WORK_STAGE:
        return state
    return state.model_copy(update={"error": None})


def overloaded(error: StoreError) -> bool:
    """Elasticsearch is away or has too much to do: the document has nothing to do with it."""
    if isinstance(error, StoreUnavailable):
        return True
    if not isinstance(error, StoreRejected):
        return False
    told = " ".join([error.message, *error.reasons]).lower()
    return any(word in told for word in BUSY_STATUS)
