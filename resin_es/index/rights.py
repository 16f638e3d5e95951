"""New rights without reading: the registry first, then the records."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.index.records import rights_fields
from resin_es.model import RegistryEntry
from resin_es.ports import StoredEntry, UnitStore

Change = tuple[StoredEntry, RegistryEntry]
"""An entry as read, and the same under its new rights."""


def apply_rights(store: UnitStore, changes: Sequence[Change]) -> list[bool]:
    """Put entries under new rights, in force on return; which of them won their guarded write.

    The registry counts from its own write on (the fence asks it); the records follow, so that
    searches find by the new rights; then an entry that was settled is settled again. A run that
    dies in between leaves it unsettled. Raises StoreError.
    """
    opened = [
        (entry.model_copy(update={"settled": False}), stored.guard) for stored, entry in changes
    ]
    guards = store.put_entries(opened) if opened else []
    won = [
        (stored, entry, guard)
        for (stored, _), (entry, _), guard in zip(changes, opened, guards, strict=True)
        if guard is not None
    ]
    if won:
        store.update_rights(
            [entry.key for _, entry, _ in won],
            {entry.key: rights_fields(entry) for _, entry, _ in won},
            guards={entry.key: guard for _, entry, guard in won},
        )
    if closing := [
        (entry.model_copy(update={"settled": True}), guard)
        for stored, entry, guard in won
        if stored.entry.settled
    ]:
        store.put_entries(closing)
    return [guard is not None for guard in guards]
