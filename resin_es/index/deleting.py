"""Deleting documents: tombstones first, then their records."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import islice

from resin_es.errors import StoreConflict
from resin_es.index.decide import tombstone
from resin_es.index.report import IndexReport
from resin_es.index.settling import unchanged
from resin_es.model import DocumentStatus, Guard, RegistryEntry
from resin_es.ports import UnitStore

Clock = Callable[[], datetime]
CHUNK = 500


def delete_keys(
    store: UnitStore, documents: Sequence[tuple[str, str]], report: IndexReport, *, now: Clock
) -> IndexReport:
    """Delete (key, external id) pairs; from the moment this returns no answer carries them.
    One that is not there is a problem in the report. Raises StoreError."""
    started = time.monotonic()
    pending = iter(documents)
    while chunk := list(islice(pending, CHUNK)):
        names = dict(chunk)
        gone = _bury(store, list(names), now)
        report.deleted += len(gone)
        report.problems.extend(
            (name, "no such document") for key, name in names.items() if key not in gone
        )
        if not gone:
            continue
        store.refresh()
        refs = list(store.records(sorted(gone)))
        still = unchanged(store, {key: guard for key, (_, guard) in gone.items()})
        report.purged += store.purge(ref for ref in refs if ref.document_key in still)
        store.put_entries(
            [(grave.model_copy(update={"settled": True}), guard) for grave, guard in gone.values()]
        )
    store.refresh()
    report.seconds += time.monotonic() - started
    return report


def buried(entry: RegistryEntry) -> bool:
    """Deleted and purged. A tombstone whose purge a crash cut short is laid again."""
    return entry.status is DocumentStatus.DELETED and entry.settled


def _bury(
    store: UnitStore, keys: Sequence[str], now: Clock
) -> dict[str, tuple[RegistryEntry, Guard]]:
    """Turn entries into tombstones; a lost race is run again on the newer entry."""
    gone: dict[str, tuple[RegistryEntry, Guard]] = {}
    open_keys = list(keys)
    for _ in range(10):
        graves: list[tuple[RegistryEntry, Guard | None]] = [
            (tombstone(one.entry, now()), one.guard)
            for one in store.entries(open_keys).values()
            if not buried(one.entry)
        ]
        results = store.put_entries(graves) if graves else []
        open_keys = []
        for (grave, _), guard in zip(graves, results, strict=True):
            if guard is None:
                open_keys.append(grave.key)
            else:
                gone[grave.key] = (grave, guard)
        if not open_keys:
            return gone
    raise StoreConflict(
        f"{len(open_keys)} documents changed faster than they could be deleted.",
        hint="Stop what writes them and delete again.",
    )
