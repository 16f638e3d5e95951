"""A team's index kept fresh, on a real Elasticsearch."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.adapters.elasticsearch.foreign import ElasticsearchIndex
from resin_es.adapters.elasticsearch.listing import ElasticsearchListing
from resin_es.adapters.elasticsearch.sources import ElasticsearchSources
from resin_es.errors import StoreTimeout
from resin_es.index.indexer_settings import IndexSettings
from resin_es.model import DocumentStatus, Principal, document_key
from resin_es.model.source import Source, SourceSpec
from resin_es.sync.inline import work_off
from resin_es.sync.service import SyncService, make_indexers
from resin_es.sync.settings import SyncSettings
from resin_es.testing.memory_queue import MemoryQueue
from resin_es.testing.scripted import ScriptedReader

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

STAFF, OTHERS = Principal(groups=frozenset({"staff"})), Principal(groups=frozenset({"others"}))
MAPPING = {
    "properties": {
        "title": {"type": "text"},
        "body": {"type": "text"},
        "updated": {"type": "date"},
        "groups": {"type": "keyword"},
    }
}


class Broken:
    """A team's index whose listings end early; everything else is the real one's."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def ids(self, spec: SourceSpec) -> Iterator[str]:
        yield next(self._inner.ids(spec))
        raise StoreTimeout("listing the ids: a shard failed.")


class Team:
    """The team's index, and one process that keeps it fresh."""

    def __init__(self, es: Elasticsearch, house: Any) -> None:
        self.es, self.house, self.now = es, house, datetime.now(timezone.utc)
        self.name = f"{house.prefix}-kb-{uuid.uuid4().hex[:6]}"
        es.indices.create(index=self.name, mappings=MAPPING)
        self.queue = MemoryQueue()
        self.book = ElasticsearchSources(es, house.settings)
        spec = SourceSpec(
            name=self.name,
            index=self.name,
            title_field="title",
            text_fields=("body",),
            updated_field="updated",
            access="field",
            access_field="groups",
        )
        self.book.put_source(Source(spec=spec), None)
        self.foreign: Any = ElasticsearchIndex(es)
        self.settings = SyncSettings(chunk=4, lease_s=60, orphan_age_s=0)
        self.service = self.another()

    def another(self, reader: ScriptedReader | None = None) -> SyncService:
        """The service of another process."""
        indexers = make_indexers(
            self.house.store,
            self.house.embedder,
            reader or self.house.reader,
            IndexSettings(),
            self.book,
            self.settings,
            now=lambda: self.now,
        )
        indexers.reading._owner = indexers.addressing._owner = f"elsewhere:1:{uuid.uuid4().hex}"
        return SyncService(
            self.house.store,
            self.book,
            ElasticsearchListing(self.es, self.house.settings),
            lambda spec: self.foreign,
            indexers,
            self.queue,
            self.settings,
            now=lambda: self.now,
        )

    def put(self, name: str, body: str, groups: tuple[str, ...] = ("staff",)) -> None:
        fields = {"title": name, "body": body, "groups": groups, "updated": self.now.isoformat()}
        self.es.index(index=self.name, id=name, document=fields, refresh=True)

    def remove(self, name: str) -> None:
        self.es.delete(index=self.name, id=name, refresh=True)

    def sync(self, **options: Any) -> Any:
        self.house.store.refresh()
        return self.service.sync_source(self.name, **options)

    def work(self) -> None:
        self.house.store.refresh()
        work_off(self.service, self.queue)

    def entry(self, name: str) -> Any:
        key = document_key(self.name, name)
        return self.house.store.entries([key])[key].entry

    def seen_by(self, principal: Principal) -> int:
        """Documents that the registry lets ``principal`` read."""
        self.house.store.refresh()
        found = self.house.store.coverage(principal, [self.name])
        return sum(one.documents for one in found)


@pytest.fixture
def team(es: Elasticsearch, house: Any) -> Iterator[Team]:
    team = Team(es, house)
    for number in range(3):
        team.put(f"d/{number} é", f"Alder {number} is tall. Birch {number} is white.")
    team.sync()
    team.work()
    yield team
    team.book.remove_source(team.name)
    es.indices.delete(index=team.name)


NAMES = [f"d/{number} é" for number in range(3)]


def test_a_source_is_read_in_two_passes_and_then_costs_nothing(team: Team) -> None:
    assert {team.entry(name).status for name in NAMES} == {DocumentStatus.INDEXED}
    records = team.house.records()
    assert len(records["units"]) == len(records["sentences"]) == 6
    listed = {ref.id for name in NAMES for ref in team.entry(name).passages}
    assert set(records["passages"]) == listed
    asked = len(team.house.reader.asked)
    report = team.sync(full=True)
    assert (report.unchanged, report.pending, report.deleted) == (3, 0, 0)
    assert len(team.house.reader.asked) == asked
    assert team.service.reconcile().swept == 0
    assert team.house.records() == records


def test_rights_alone_are_in_force_on_return(team: Team) -> None:
    asked = len(team.house.reader.asked)
    team.put(NAMES[0], "Alder 0 is tall. Birch 0 is white.", ("others",))
    assert team.sync().rights_changed == 1
    assert (team.seen_by(STAFF), team.seen_by(OTHERS)) == (2, 1)
    units = team.house.records()["units"].values()
    assert sorted(tuple(body["access"]) for body in units) == [("others",)] * 2 + [("staff",)] * 4
    assert len(team.house.reader.asked) == asked


def test_revoking_is_in_force_at_once_and_holds(team: Team) -> None:
    assert team.service.revoke(team.name, [NAMES[0]]).revoked == 1
    assert team.seen_by(STAFF) == 2
    team.put(NAMES[0], "A newer text.")
    team.sync(full=True)
    team.work()
    assert (team.entry(NAMES[0]).text, team.seen_by(STAFF)) == ("A newer text.", 2)
    team.service.restore(team.name, [NAMES[0]])
    assert team.seen_by(STAFF) == 3


def test_an_incomplete_listing_deletes_nothing(team: Team) -> None:
    team.remove(NAMES[0])
    team.foreign = Broken(team.foreign)
    with pytest.raises(StoreTimeout):
        team.sync()
    assert team.entry(NAMES[0]).status is DocumentStatus.INDEXED
    stored = team.book.source(team.name)
    assert stored is not None
    assert stored.source.state.error is not None
    team.foreign = ElasticsearchIndex(team.es)
    assert team.sync().deleted == 1
    assert not any(
        body["document_id"] == NAMES[0] for body in team.house.records()["sentences"].values()
    )


def test_a_deleted_document_is_added_again(team: Team) -> None:
    team.remove(NAMES[0])
    assert team.sync().deleted == 1
    team.put(NAMES[0], "It is back.")
    assert team.sync().new == 1
    team.work()
    assert team.entry(NAMES[0]).status is DocumentStatus.INDEXED
    assert team.entry(NAMES[0]).settled


def test_a_blocked_readers_late_result_changes_nothing(team: Team) -> None:
    seen: list[Any] = []

    class Blocked(ScriptedReader):
        def units(self, passages: Any) -> Any:
            team.now += timedelta(seconds=61)
            team.house.store.refresh()
            assert team.service.reconcile().crashed == 1
            team.put(NAMES[0], "The newest text.")
            team.work()
            seen.append((team.house.records(), team.entry(NAMES[0])))
            return super().units(passages)

    team.put(NAMES[0], "A newer text.")
    team.sync()
    team.queue.flush()
    report = team.another(Blocked()).read_document(team.name, [team.entry(NAMES[0]).key])
    assert (report.done, report.busy) == (0, 1)
    assert (team.house.records(), team.entry(NAMES[0])) == seen[0]
    assert team.entry(NAMES[0]).text == "The newest text."


def test_two_workers_on_one_document_commit_one_version(team: Team) -> None:
    class Doubled(ScriptedReader):
        def units(self, passages: Any) -> Any:
            busy = team.service.read_document(team.name, [team.entry(NAMES[0]).key])
            assert busy.busy == 1
            return super().units(passages)

    team.put(NAMES[0], "A newer text.")
    team.sync()
    report = team.another(Doubled()).read_document(team.name, [team.entry(NAMES[0]).key])
    assert report.done == 1
    mine = [
        body["statement"]
        for body in team.house.records()["sentences"].values()
        if body["document_id"] == NAMES[0]
    ]
    assert mine == ["A newer text."]


def test_a_killed_commits_records_are_swept(team: Team) -> None:
    """Records written, the registry never flipped, the document gone meanwhile."""

    class Killed(BaseException):
        pass

    store, put_entries = team.house.store, team.house.store.put_entries
    team.put("new", "It will never be read.")
    team.sync()

    def dying(entries: Any) -> Any:
        if any(entry.committed_version for entry, _ in entries):
            raise Killed
        return put_entries(entries)

    store.put_entries = dying
    try:
        with pytest.raises(Killed):
            team.another().read_document(team.name, [document_key(team.name, "new")])
    finally:
        del store.put_entries
    team.remove("new")
    before = {k for rows in team.house.records().values() for k in rows}
    assert team.sync().deleted == 1
    after = {k for rows in team.house.records().values() for k in rows}
    assert len(before - after) == 3
    assert team.service.reconcile().swept == 0
