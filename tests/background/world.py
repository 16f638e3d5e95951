"""Everything that background work needs, under one prefix: the team's index, the source, the
driver's own service. Workers may be given another address of Elasticsearch than the driver.

To be used within ``tests.background.command.read_by_marks``: whoever looks for changes must read
as the workers do, or all of it counts as changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resin_es.bootstrap import Services
from resin_es.bootstrap.background import BackgroundServices, redis_broker, sync_service, task_queue
from resin_es.bootstrap.sources import add_source, entry_listing, foreign_index
from resin_es.model import Document, DocumentStatus
from resin_es.ports.sync import EntryBrief
from resin_es.settings import Settings, load_settings
from tests.background.office import Office
from tests.background.processes import Processes
from tests.background.reading import FOLDER

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

    from resin_es.sync.service import SyncService

QUICK: Mapping[str, str] = {
    "RESIN_EMBEDDER": "hash",
    "RESIN_TRACES": "false",
    "RESIN_GROUPS": "all",
    "RESIN_SYNC_SECONDS": "3",
    "RESIN_RECONCILE_SECONDS": "3",
    "RESIN_LEASE_SECONDS": "45",
    "RESIN_BACKOFF_SECONDS": "1",
    "RESIN_TASK_SECONDS": "60",
    "RESIN_ORPHAN_SECONDS": "10",
    "RESIN_ES_REQUEST_TIMEOUT": "20",
}
"""What takes minutes in production takes seconds here."""


class World:
    """One installation and its office."""

    def __init__(
        self,
        es: Elasticsearch,
        es_url: str,
        redis_url: str,
        prefix: str,
        folder: Path,
        *,
        workers_es_url: str | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.es, self.prefix, self.folder = es, prefix, folder
        self.environ = {
            **QUICK,
            "RESIN_ES_URL": es_url,
            "RESIN_REDIS_URL": redis_url,
            "RESIN_PREFIX": prefix,
            FOLDER: str(folder),
            **(settings or {}),
        }
        self._workers_es_url = workers_es_url or es_url
        self.office = Office(es, f"{prefix}-team-records")

    @cached_property
    def settings(self) -> Settings:
        return load_settings(
            **{
                name.removeprefix("RESIN_").lower(): value
                for name, value in self.environ.items()
                if name != FOLDER
            }
        )

    @cached_property
    def services(self) -> BackgroundServices:
        return BackgroundServices(self.settings)

    @cached_property
    def service(self) -> SyncService:
        return sync_service(self.services, task_queue(self.settings))

    def set_up(self, records: int, **fields: Any) -> None:
        """The team's index with ``records``, and the source over it. Nothing is synced yet."""
        self.office.open()
        self.office.put((n, self.office.record(n, **fields)) for n in range(records))
        self.services.install()
        add_source(self.services, self.office.spec)

    def processes(self, *, workers: int = 2) -> Processes:
        settings = {**self.environ, "RESIN_ES_URL": self._workers_es_url}
        return Processes(settings, self.folder, workers=workers)

    # ------------------------------------------------------------ looking

    def briefs(self) -> list[EntryBrief]:
        """Every entry of the office, tombstones among them."""
        self.services.store.refresh()
        return list(entry_listing(self.services).briefs(self.office.source))

    def states(self) -> dict[str, int]:
        """Documents by state."""
        counted: dict[str, int] = {}
        for brief in self.briefs():
            counted[brief.status.value] = counted.get(brief.status.value, 0) + 1
        return counted

    def finished(self, records: int) -> bool:
        """Whether all ``records`` are read, and nothing is left to be tidied up. Cheap while
        much is left to do."""
        index = f"{self.prefix}-documents"
        if self.es.count(index=index, query={"terms": {"status": ["pending", "working"]}})["count"]:
            return False
        alive = [one for one in self.briefs() if one.status is not DocumentStatus.DELETED]
        return len(alive) == records and all(
            one.status is DocumentStatus.INDEXED and one.settled for one in alive
        )

    def documents(self) -> list[Document]:
        """The office's documents as they stand now."""
        found = list(foreign_index(self.services).documents(self.office.spec))
        wrong = [one for one in found if not isinstance(one, Document)]
        assert not wrong, wrong[:3]
        return [one for one in found if isinstance(one, Document)]

    def waiting(self) -> int:
        """Messages in the queues."""
        broker = redis_broker(self.settings)
        try:
            return sum(broker.depths().values())
        finally:
            broker.close()

    def records(self, prefix: str | None = None) -> dict[str, dict[str, dict[str, Any]]]:
        """Units, sentences and passages, by family and id, as they stand."""
        from elasticsearch import helpers

        found: dict[str, dict[str, dict[str, Any]]] = {}
        for family in ("units", "sentences", "passages"):
            index = f"{prefix or self.prefix}-{family}"
            self.es.indices.refresh(index=index)
            hits = helpers.scan(self.es, index=index, size=2000)
            found[family] = {hit["_id"]: plain(hit["_source"]) for hit in hits}
        return found


def plain(source: Mapping[str, Any]) -> dict[str, Any]:
    """A record without its vector. A partial update leaves ``metadata`` as a list of one object,
    which Elasticsearch holds to be the same."""
    kept = {key: value for key, value in source.items() if key != "vector"}
    if isinstance(kept.get("metadata"), list):
        [kept["metadata"]] = kept["metadata"]
    kept["metadata"] = kept.get("metadata") or {}
    return kept


def fresh(world: World, prefix: str, documents: Sequence[Document]) -> Services:
    """The same documents indexed at one go under another prefix, without queue or workers."""
    services = Services(world.settings.model_copy(update={"prefix": prefix}))
    services.install()
    report = services.indexer.index(documents)
    assert not report.failures, report.failures[:3]
    return services


def logged(path: Path, event: str) -> list[dict[str, Any]]:
    """Lines of a JSON log whose message begins with ``event``; a line that was cut off when its
    process was killed is left out."""
    found = []
    for line in path.read_text(errors="replace").splitlines() if path.exists() else ():
        with suppress(ValueError):
            told = json.loads(line)
            if str(told.get("message", "")).startswith(event):
                found.append(told)
    return found
