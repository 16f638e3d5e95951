"""Records that make no document any more: what was indexed of them stays for those alone who may
read it now as before."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.errors import StoreConflict
from resin_es.index.decide import common_access
from resin_es.index.rights import Change, apply_rights
from resin_es.model import DocumentStatus, RegistryEntry, document_key
from resin_es.ports.sync import Unreadable
from resin_es.sync.desk import Desk
from resin_es.sync.marking import called_off

TRIES = 10
UNKNOWN = ""
"""The rights' hash of no document: once the record can be read again, its rights are applied."""


def withhold(desk: Desk, source: str, unreadable: Sequence[Unreadable]) -> int:
    """Take what was indexed of these records from whoever lost the right, in force on return;
    how many were changed. Where a record does not tell who may read it, nothing is changed.
    Raises StoreError, StoreConflict after too many lost races."""
    told = {
        document_key(source, one.external_id): one.access
        for one in unreadable
        if one.access is not None
    }
    changed, open_ones = 0, list(told)
    for _ in range(TRIES):
        stored = desk.store.entries(open_ones) if open_ones else {}
        changes: list[Change] = [
            (one, _narrowed(one.entry, access))
            for key, one in stored.items()
            if one.entry.status is not DocumentStatus.DELETED
            and (access := common_access(one.entry.access, told[key])) != one.entry.access
        ]
        won = apply_rights(desk.store, changes)
        changed += sum(won)
        open_ones = [one.entry.key for (one, _), ok in zip(changes, won, strict=True) if not ok]
        if not open_ones:
            return changed
    raise StoreConflict(
        f"{len(open_ones)} documents of source {source!r} changed faster than they could be "
        "withheld.",
        hint="Run the sync again.",
    )


def _narrowed(entry: RegistryEntry, access: tuple[str, ...]) -> RegistryEntry:
    """Whoever is reading it has the old rights in hand and must lose."""
    narrow = entry.model_copy(update={"access": access, "rights_hash": UNKNOWN})
    return called_off(narrow) if entry.status is DocumentStatus.WORKING else narrow
