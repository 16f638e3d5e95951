"""The dead letter, and taking documents from everybody in an emergency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from resin_es.errors import InputError, StoreConflict
from resin_es.index.rights import Change, apply_rights
from resin_es.model import Document, DocumentStatus, RegistryEntry, document_key
from resin_es.model.source import SourceState
from resin_es.ports import StoredEntry
from resin_es.sync.backlog import first_task, outdated
from resin_es.sync.desk import Desk
from resin_es.sync.dispatch import Dispatch
from resin_es.sync.holding import change_state, known_source
from resin_es.sync.marking import called_off, resurrected
from resin_es.sync.reports import RightsReport
from resin_es.sync.syncing import chunks

TOGETHER, TRIES = 200, 10


def failed(desk: Desk, source: str | None = None) -> Iterator[RegistryEntry]:
    """Documents that failed for the last time; those read in part that are not tried again
    among them. Raises StoreError."""
    wanted = (DocumentStatus.FAILED, DocumentStatus.PARTIAL)
    keys = [
        brief.key
        for brief in desk.listing.briefs(source, wanted)
        if _given_up(desk, brief.status, brief.attempts)
    ]
    for part in chunks(keys, TOGETHER):
        for one in desk.store.entries(part).values():
            if _given_up(desk, one.entry.status, one.entry.attempts):
                yield one.entry


def _given_up(desk: Desk, status: DocumentStatus, attempts: int) -> bool:
    if status is DocumentStatus.FAILED:
        return True
    return status is DocumentStatus.PARTIAL and attempts >= desk.settings.max_attempts


def retry(desk: Desk, source: str, external_ids: Sequence[str] = ()) -> int:
    """Give dead letters their attempts back and queue them. Raises StoreError."""
    wanted = {document_key(source, one) for one in external_ids}
    keys = [entry.key for entry in failed(desk, source) if not external_ids or entry.key in wanted]
    dispatch = Dispatch(desk.queue, desk.settings)
    done = 0
    for part in chunks(keys, TOGETHER):
        stored = [
            one
            for one in desk.store.entries(part).values()
            if _given_up(desk, one.entry.status, one.entry.attempts)
        ]
        entries = [resurrected(one.entry, queued_at=desk.now()) for one in stored]
        guards = desk.store.put_entries(
            [(entry, one.guard) for entry, one in zip(entries, stored, strict=True)]
        )
        for entry, guard in zip(entries, guards, strict=True):
            if guard is not None:
                done += 1
                dispatch.send(
                    first_task(entry), source, [entry.key], alone=True, first=outdated(entry)
                )
    return done


def revoke(desk: Desk, source: str, external_ids: Sequence[str]) -> RightsReport:
    """Take documents from everybody; in force on return, and until it is undone.

    The book first: whoever looks at the registry after that sees the revocation too. Then the
    registry, which the fence asks; then the records.
    """
    report = RightsReport(source=source)
    wanted = list(dict.fromkeys(external_ids))

    def add(state: SourceState) -> SourceState:
        return state.model_copy(update={"revoked": tuple(sorted({*state.revoked, *wanted}))})

    synced = change_state(desk, source, add) is not None
    open_ids = {document_key(source, one): one for one in wanted}
    for turn in range(TRIES):
        stored = desk.store.entries(list(open_ids))
        if turn == 0:
            report.missing = [name for key, name in open_ids.items() if _absent(stored.get(key))]
        changes: list[Change] = [
            (one, _closed(one.entry, synced=synced))
            for one in stored.values()
            if one.entry.status is not DocumentStatus.DELETED
        ]
        won = apply_rights(desk.store, changes)
        report.revoked += sum(won)
        open_ids = {
            entry.key: entry.external_id
            for (_, entry), ok in zip(changes, won, strict=True)
            if not ok
        }
        if not open_ids:
            return report
    raise StoreConflict(
        f"{len(open_ids)} documents of source {source!r} changed faster than they could be "
        "revoked.",
        hint="Run it again at once.",
    )


def _absent(stored: StoredEntry | None) -> bool:
    return stored is None or stored.entry.status is DocumentStatus.DELETED


def _closed(entry: RegistryEntry, *, synced: bool) -> RegistryEntry:
    """For nobody. Where the source is synced, the rights' hash is that of the revoked document,
    which is what every sync will see; elsewhere it stays, so that the same document pushed once
    more opens nothing."""
    blank = Document(
        source=entry.source,
        external_id=entry.external_id,
        text="",
        metadata=entry.metadata,
        access=(),
        url=entry.url,
        updated_at=entry.updated_at,
    )
    rights_hash = blank.rights_hash if synced else entry.rights_hash
    closed = entry.model_copy(update={"access": (), "rights_hash": rights_hash})
    return called_off(closed) if entry.status is DocumentStatus.WORKING else closed


def restore(desk: Desk, source: str, external_ids: Sequence[str]) -> None:
    """Undo a revocation; the rights of the team's index hold again from the next look on.
    Raises InputError for a paused source: nobody looks there, not when it is resumed either,
    since the record itself did not change."""
    if known_source(desk, source).source.state.paused:
        raise InputError(
            f"Source {source!r} is paused, so nobody looks who may read these documents.",
            hint=f"`resin-es source resume {source}`, then undo the revocation.",
        )

    def drop(state: SourceState) -> SourceState:
        left = set(state.revoked) - set(external_ids)
        return state.model_copy(update={"revoked": tuple(sorted(left))})

    change_state(desk, source, drop)
