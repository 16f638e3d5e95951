"""The tasks: thin, by ids alone, safe to run twice.

What becomes of a document stands in the registry before a task ends, however it ends: an error
is logged and counted, and not raised into Celery, which has nothing to do about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from resin_es.bootstrap.background import purge_traces, task_name
from resin_es.workers.running import run

if TYPE_CHECKING:
    from celery import Celery

    from resin_es.workers.site import Site, Tools

Work = Callable[["Tools", str, Sequence[str]], Any]


def sync_source(tools: Tools, source: str, keys: Sequence[str]) -> Any:
    """A source; without a name, every one that is not paused, each as a task of its own."""
    if source:
        return tools.service.sync_source(source)
    for stored in tools.book.sources():
        if not stored.source.state.paused:
            tools.queue.put("sync_source", stored.source.spec.name)
    return None


def embed_and_commit(tools: Tools, source: str, keys: Sequence[str]) -> Any:
    return tools.service.embed_and_commit(source, keys)


def read_document(tools: Tools, source: str, keys: Sequence[str]) -> Any:
    tools.services.ready_to_read()
    return tools.service.read_document(source, keys)


def purge_document(tools: Tools, source: str, keys: Sequence[str]) -> Any:
    return tools.service.purge_document(source, keys)


def reconcile(tools: Tools, source: str, keys: Sequence[str]) -> Any:
    return tools.service.reconcile()


def retention(tools: Tools, source: str, keys: Sequence[str]) -> Any:
    """Traces beyond their time."""
    kept = timedelta(days=tools.settings.trace_days)
    return {"purged": purge_traces(tools.services, datetime.now(timezone.utc) - kept)}


WORK: Mapping[str, Work] = {
    one.__name__: one
    for one in (
        sync_source,
        embed_and_commit,
        read_document,
        purge_document,
        reconcile,
        retention,
    )
}


def register(app: Celery, site: Site) -> None:
    """Make the tasks known to ``app`` under their names, and renew the tools after each fork."""
    from celery.signals import worker_process_init, worker_process_shutdown

    from resin_es.workers import tracing

    for name, work in WORK.items():
        _register(app, site, name, work)

    # Heavy things wait for the first task: a process that takes long to come up is killed.
    worker_process_init.connect(lambda **_: site.renew(), weak=False)
    worker_process_shutdown.connect(lambda **_: tracing.flush(), weak=False)


def _register(app: Celery, site: Site, name: str, work: Work) -> None:
    def task(source: str = "", keys: Sequence[str] = ()) -> None:
        run(site, name, work, source, list(keys))

    app.task(task, name=task_name(name))
