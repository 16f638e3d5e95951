"""Second vectors that a rebuild brings or takes away, while documents are written and deleted."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from resin_es.adapters.elasticsearch import uninstall
from resin_es.adapters.elasticsearch.rebuild import Rebuild
from resin_es.errors import ModelUnavailable, UsageError
from resin_es.index.multilingual import FIELD
from resin_es.index.rebuilt import RebuildReport
from tests.integration.second_vectors import (
    ADMIN,
    MANY,
    NOBODY,
    SECOND,
    Home,
    english,
    german,
    not_here,
    pinned,
)

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    SECOND.texts.clear()


class Writing(threading.Thread):
    """Indexes and deletes German documents, numbered from ``first``, until it is stopped."""

    def __init__(self, home: Home, first: int) -> None:
        super().__init__(daemon=True)
        self.indexer, self.stopped = home.indexer(), threading.Event()
        self.first, self.rounds, self.failed = first, 0, list[BaseException]()

    def run(self) -> None:
        while not self.stopped.is_set():
            number = self.first + self.rounds
            self.rounds += 1
            try:
                self.indexer.index([german(number), english(1)])
                if self.rounds > 2:
                    self.indexer.delete("s", [german(number - 2).external_id])
            except Exception as error:  # noqa: BLE001 (any failure at all counts)
                self.failed.append(error)

    @property
    def left(self) -> set[str]:
        last = self.first + self.rounds - 1
        return {german(number).external_id for number in (last - 1, last)}


def beside_a_writer(home: Home, rebuild: Rebuild, first: int) -> tuple[RebuildReport, set[str]]:
    writing = Writing(home, first)
    writing.start()
    try:
        while writing.rounds < 3:
            writing.join(0.05)
        report = rebuild.run()
        since = writing.rounds
        while writing.rounds < since + 2:
            writing.join(0.05)
    finally:
        writing.stopped.set()
        writing.join(60)
    assert writing.failed == []
    return report, writing.left


def test_from_without_to_with_and_back_beside_writers(es: Elasticsearch) -> None:
    home = Home(es, None, index_only=True)
    try:
        home.indexer().index([english(1), german(2), german(3)])
        assert home.with_second() == {}, "it takes foreign texts as it always did"
        assert set(home.wanted()) == {german(2).external_id, german(3).external_id}
        assert pinned(home).second_encoder(ADMIN) is None
        assert SECOND.texts == []
        assert not home.rebuild(None).run().done
        without = mapped(home)
        asked = home.reader.unit_calls

        rebuild = home.rebuild(MANY)
        assert rebuild.plan()["multilingual"] == SECOND.identity.name
        report, written = beside_a_writer(home, rebuild, 100)

        assert (report.done, report.multilingual) == (True, SECOND.identity.name)
        kept = {german(2).external_id, german(3).external_id, *written}
        assert set(home.with_second()) == kept
        assert home.with_second() == home.wanted()
        assert mapped(home) == {*without, FIELD}
        assert home.reader.unit_calls > asked, "of the new documents"
        assert pinned(home).second_encoder(NOBODY) is SECOND
        assert not home.rebuild(MANY).run().done

        records = home.records()
        with pytest.raises(UsageError, match=r"second vectors.*many-32") as error:
            home.rebuild(None).plan()
        assert "RESIN_MULTILINGUAL=off" in error.value.hint
        with pytest.raises(UsageError, match="would be lost"):
            home.rebuild(None).run()
        assert home.rebuild(None).status().state == "none", "nothing has begun"
        assert home.records() == records

        rebuild = home.rebuild(None, may_drop_second=True)
        report, written = beside_a_writer(home, rebuild, 200)
        assert (report.done, report.multilingual) == (True, "")
        assert home.with_second() == {}
        assert set(home.wanted()) == kept | written
        assert mapped(home) == without
        assert pinned(home).second_encoder(ADMIN) is None
    finally:
        uninstall(es, home.settings)


def mapped(home: Home) -> set[str]:
    [body] = home.es.indices.get_mapping(index=f"{home.prefix}-units").body.values()
    return set(body["mappings"]["properties"])


def test_a_process_without_it_leaves_foreign_texts_to_the_copier(es: Elasticsearch) -> None:
    home = Home(es, None)
    try:
        home.indexer().index([german(1)])
        rebuild = home.rebuild(MANY)
        now = rebuild.begin()
        assert now.next is not None
        rebuild.catch_up(now)
        poor = home.indexer(not_here)
        poor.index([german(2), german(1, access=("red",))])
        poor.index([english(3)])
        home.assert_second(german(1), indices=now.next.indices)
        assert english(3).external_id in {
            hit["_source"]["document_id"] for hit in home.hits(now.next.indices)
        }, "what is in English it writes itself"
        home.indexer().index([german(4)])  # who has it writes it to the new one at once
        home.assert_second(german(1), german(4), indices=now.next.indices)
        records = home.records()
        rebuild.swap(now)
        with pytest.raises(ModelUnavailable):
            poor.index([german(5)])
        poor.index([english(3)])
        rebuild.finish()
        assert home.records() == records
        home.assert_second(german(1), german(2), german(4))
        store = pinned(home)
        assert store.second_encoder(NOBODY) is SECOND

        cancelled = home.rebuild(None, may_drop_second=True)
        cancelled.begin()
        assert cancelled.cancel()
        parts = es.cluster.get_component_template(name=f"{home.prefix}-schema-address").body
        [part] = parts["component_templates"]
        fields = part["component_template"]["template"]["mappings"]["properties"]
        assert FIELD in fields, "the templates are those of what answers"
    finally:
        uninstall(es, home.settings)
