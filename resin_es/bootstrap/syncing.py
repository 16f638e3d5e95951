"""Background work from command line and Python: syncs, pushes, revocations, what failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from resin_es.bootstrap.background import sync_service, task_queue
from resin_es.bootstrap.sources import source_book
from resin_es.model import DocumentStatus, Principal
from resin_es.model.base import Frozen
from resin_es.sync.inline import InlineQueue, work_off
from resin_es.sync.reports import WorkReport

if TYPE_CHECKING:
    from resin_es.bootstrap.services import Services
    from resin_es.ports import Progress
    from resin_es.sync.reports import SyncReport
    from resin_es.sync.service import SyncService

OPEN = (DocumentStatus.PENDING.value, DocumentStatus.WORKING.value)
LOOK_EVERY_S = 1.0


class SourceStanding(Frozen):
    """Where a source's documents stand. ``rate`` is documents a second that were finished since
    the first look, ``eta_s`` the seconds that the rest takes at that rate; None where nothing
    was finished yet."""

    source: str
    by_status: dict[str, int]
    open: int
    rate: float = 0.0
    eta_s: float | None = None
    cost: float = 0.0


def queued_service(services: Services) -> SyncService:
    """The service with the broker's queue: documents are read by workers.

    Raises StoreError, SettingsError.
    """
    services.ensure_installed()
    return sync_service(services, task_queue(services.settings))


def sync_here(
    services: Services, name: str, *, full: bool = False, progress: Progress | None = None
) -> tuple[SyncReport, WorkReport]:
    """Sync a source and read what is due in this process, without any broker.

    Raises InputError, StoreError, ModelError; BudgetSpent where RESIN_MAX_COST is reached.
    """
    services.ready_to_read()
    services.ensure_installed()
    queue = InlineQueue()
    service = sync_service(services, queue)
    report = service.sync_now(name, full=full)
    total = WorkReport(source=name)

    def seen(one: WorkReport) -> None:
        _add(total, one)
        if progress is not None:
            progress.update(total.done, None, "tasks' documents")

    if not report.skipped:
        # What an earlier sync left in the registry is listed as of the last refresh.
        services.store.refresh()
        work_off(service, queue, seen=seen)
    return report, total


def _add(total: WorkReport, one: WorkReport) -> None:
    for name in ("done", "deleted", "retried", "dead", "busy", "skipped"):
        setattr(total, name, getattr(total, name) + getattr(one, name))
    total.problems.update(one.problems)
    for name in ("units", "read_passages", "tokens"):
        setattr(total.index, name, getattr(total.index, name) + getattr(one.index, name))
    total.index.cost += one.index.cost


def follow(
    services: Services,
    name: str,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[SourceStanding]:
    """How a source's documents stand, about once a second, until none waits or is at work.
    Raises StoreError."""
    started, finished_first, spent_first = clock(), -1, _spent(services)
    while True:
        services.store.refresh()
        by_status = _by_status(services, name)
        left = sum(by_status.get(one, 0) for one in OPEN)
        finished = sum(by_status.values()) - left
        if finished_first < 0:
            finished_first = finished
        rate = (finished - finished_first) / max(clock() - started, 1e-9)
        yield SourceStanding(
            source=name,
            by_status=by_status,
            open=left,
            rate=rate,
            eta_s=left / rate if rate > 0 else None,
            cost=_spent(services) - spent_first,
        )
        if not left:
            return
        sleep(LOOK_EVERY_S)


def _by_status(services: Services, name: str) -> dict[str, int]:
    """Of all documents, whoever may read them: counts alone."""
    found = services.store.coverage(Principal(admin=True), [name])
    return dict(found[0].by_status) if found else {}


def _spent(services: Services) -> float:
    """US dollars that workers spent; 0 where nothing is paid for."""
    if services.settings.llm == "none":
        return 0.0
    from resin_es.bootstrap.background import BackgroundServices

    shared = BackgroundServices(services.settings)
    shared.__dict__["client"] = services.client
    return shared.ledger.spent()


def standing_of_sources(services: Services, seen: Sequence[str] | None) -> list[dict[str, Any]]:
    """How syncs of sources go, for ``status``: of those in ``seen``, of all where it is None.
    Raises StoreError."""
    rows: list[dict[str, Any]] = []
    for one in source_book(services).sources():
        source = one.source
        if seen is not None and source.spec.name not in seen:
            continue
        apart = {"revoked", "unreadable", "lease", "heartbeat"}
        state = source.state.model_dump(mode="json", exclude=apart)
        rows.append(
            {
                "source": source.spec.name,
                **state,
                "syncing": source.state.lease is not None,
                "revoked": len(source.state.revoked),
                "unreadable": len(source.state.unreadable),
            }
        )
    return rows
