"""Records without a place in the registry, left by a process that died at the wrong moment.

A record carries no date, so its age is how long it was seen unchanged: a record is swept when
two sightings of it, under the same guard, lie ``orphan_age_s`` apart. Sightings are kept in the
cache, which may be lost: then it only takes longer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from resin_es.index.settling import listed
from resin_es.model import DocumentStatus, RegistryEntry
from resin_es.ports import RecordRef
from resin_es.sync.desk import Desk
from resin_es.sync.reports import ReconcileReport
from resin_es.sync.syncing import chunks

SEEN = "sync-orphans-1"
"""Cache key of the last sweep: when it was, and what it saw."""
MOST = 20_000
"""Sightings kept; more are found by the next sweep."""
TOGETHER = 500
EXCLUDED = frozenset({DocumentStatus.WORKING, DocumentStatus.PENDING})
"""A commit of theirs may be in flight, and will purge what does not belong."""


def sweep(desk: Desk, report: ReconcileReport) -> None:
    """Look for orphans, no more often than twice in ``orphan_age_s``. Raises StoreError."""
    age = timedelta(seconds=desk.settings.orphan_age_s)
    now = desk.now()
    at, seen = _remembered(desk)
    if at is not None and now - at < age / 2:
        return
    suspects = _suspects(desk)
    first_seen: dict[str, str] = {}
    old: list[RecordRef] = []
    for ref in suspects[:MOST]:
        name = _name(ref)
        since = seen.get(name, now.isoformat())
        if now - datetime.fromisoformat(since) >= age:
            old.append(ref)
        else:
            first_seen[name] = since
            report.suspects += name not in seen
    report.swept += _purge(desk, old)
    told = json.dumps({"at": now.isoformat(), "seen": first_seen})
    desk.store.cache_put({SEEN: told.encode()})


def _remembered(desk: Desk) -> tuple[datetime | None, Mapping[str, str]]:
    found = desk.store.cache_get([SEEN]).get(SEEN)
    if found is None:
        return None, {}
    told = json.loads(found)
    return datetime.fromisoformat(told["at"]), told["seen"]


def _name(ref: RecordRef) -> str:
    return f"{ref.index}/{ref.id}/{ref.guard.seq_no}/{ref.guard.primary_term}"


def _suspects(desk: Desk) -> list[RecordRef]:
    """Documents whose records are not as many as the registry says are looked at one by one."""
    suspects: list[RecordRef] = []
    counted = desk.store.record_counts()
    known: dict[str, int] = {}
    for key, count in counted:
        known[key] = count
        if len(known) >= TOGETHER:
            suspects += _among(desk, known)
            known = {}
    return suspects + _among(desk, known)


def _among(desk: Desk, known: Mapping[str, int]) -> list[RecordRef]:
    entries = {key: one.entry for key, one in desk.store.entries(list(known)).items()}
    odd = [key for key, count in known.items() if _odd(entries.get(key), count)]
    return [
        ref
        for keys in chunks(odd, TOGETHER)
        for ref in desk.store.records(keys)
        if _orphan(entries.get(ref.document_key), ref)
    ]


def _odd(entry: RegistryEntry | None, count: int) -> bool:
    if entry is None or entry.status is DocumentStatus.DELETED:
        return True
    if entry.status in EXCLUDED:
        return False
    counts = entry.counts
    return count != counts.sentences + counts.passages + counts.units


def _orphan(entry: RegistryEntry | None, ref: RecordRef) -> bool:
    if entry is not None and entry.status in EXCLUDED:
        return False
    return entry is None or not listed(entry, ref)


def _purge(desk: Desk, refs: Sequence[RecordRef]) -> int:
    """Listed first, judged against the registry after that, deleted under their guards."""
    entries = {
        key: one.entry
        for keys in chunks(sorted({ref.document_key for ref in refs}), TOGETHER)
        for key, one in desk.store.entries(keys).items()
    }
    return desk.store.purge(ref for ref in refs if _orphan(entries.get(ref.document_key), ref))
