"""Crashes and races on a real Elasticsearch: whatever happens, the next run ends right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from resin_es.index.indexer import Indexer
from resin_es.index.report import IndexReport
from resin_es.model import Document, DocumentStatus, document_key
from resin_es.testing.scripted import ScriptedReader


def comparable(records: dict[str, dict[str, Mapping[str, Any]]]) -> Any:
    """Records without what tells a kept unit from one read anew."""
    return {
        family: {
            one: {k: v for k, v in body.items() if k != "document_version"}
            for one, body in rows.items()
        }
        for family, rows in records.items()
    }


class Killed(BaseException):
    """The process died: nothing may catch this and tidy up."""


class DyingStore:
    """Lets ``calls`` writing calls through, then the process dies before the next."""

    WRITES = frozenset({"put_entries", "write", "refresh", "purge", "update_rights", "cache_put"})

    def __init__(self, store: Any, calls: int) -> None:
        self._store, self._left = store, calls

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in self.WRITES:
            return method

        def call(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise Killed
            return method(*args, **kwargs)

        return call


def edited_corpus(house: Any) -> list[Document]:
    return [
        house.document(1, house.text(1).replace("street 2", "street 22"), access=("it",)),
        house.document(2, "Another text altogether stands here. It has two sentences."),
        house.document(3),
        house.document(4, access=("hr",)),
        house.document(5, ""),
        house.document(7),
    ]


def test_killed_anywhere_the_next_run_ends_where_an_unkilled_one_does(house: Any) -> None:
    """Every writing call of a run with new, changed, rights-changed, emptied documents."""
    start, final = [house.document(number) for number in range(1, 7)], edited_corpus(house)
    ids = [one.external_id for one in (*start, house.document(7))]
    gone = document_key("s", house.document(6).external_id)

    def run(indexer: Indexer) -> IndexReport:
        report = indexer.index(final)
        return indexer.prune("s", {one.key for one in final}, report)

    def restart() -> None:
        house.indexer().delete("s", ids)
        house.indexer().index(start)

    restart()
    assert run(house.indexer()).ok
    expected = comparable(house.records())
    for calls in range(60):
        restart()
        try:
            run(house.indexer(store=DyingStore(house.store, calls)))
            finished = True
        except Killed:
            finished = False
        assert run(house.indexer()).ok
        assert comparable(house.records()) == expected, f"killed at writing call {calls}"
        entries = [stored.entry for stored in house.store.scan_entries("s")]
        assert all(entry.settled for entry in entries), f"killed at writing call {calls}"
        assert house.store.entries([gone])[gone].entry.status is DocumentStatus.DELETED
        if finished:
            return
    pytest.fail("the run never finished")


def test_the_loser_of_a_flip_takes_its_own_writes_back(house: Any) -> None:
    """While A reads the document, B commits a newer version of it."""
    old, newer = (
        house.document(1, "Old text stands here."),
        house.document(1, "Newer text stands there."),
    )

    class Slow(ScriptedReader):
        def units(self, passages: Any) -> Any:
            house.indexer(ScriptedReader()).index([newer])
            return super().units(passages)

    report = house.indexer(Slow()).index([old])
    assert report.busy == 1
    assert not report.ok
    records = house.records()
    assert [r["statement"] for r in records["sentences"].values()] == ["Newer text stands there."]
    assert len(records["passages"]) == len(records["units"]) == 1
    assert house.entry(newer).committed_version == newer.version


def test_a_delete_during_a_read_ends_deleted(house: Any) -> None:
    one = house.document(1)
    house.indexer().index([house.document(1, "Old text stands here.")])

    class Slow(ScriptedReader):
        def units(self, passages: Any) -> Any:
            house.indexer(ScriptedReader()).delete("s", [one.external_id])
            return super().units(passages)

    house.indexer(Slow()).index([one])
    assert house.entry(one).status is DocumentStatus.DELETED
    assert not any(house.records().values())


def test_a_document_held_by_a_living_process_is_left_alone(house: Any) -> None:
    one = house.document(1)

    class Nested(ScriptedReader):
        def units(self, passages: Any) -> Any:
            stranger = house.indexer(ScriptedReader())
            stranger._owner = "another-host:1:x"
            self.report = stranger.index([one])
            return super().units(passages)

    reader = Nested()
    mine = house.indexer(reader)
    mine._owner = "third-host:1:y"
    assert mine.index([one]).ok
    assert reader.report.busy == 1
    assert reader.report.failures == [
        (one.external_id, "another process is reading it; run again later")
    ]
