"""The write path on a real Elasticsearch: what is read, kept, purged, finished after a crash.

Reader and embedder are the shipped fakes; the protocol is the subject.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from elasticsearch import helpers

from resin_es.adapters.elasticsearch import ElasticsearchStore, install, uninstall
from resin_es.index.indexer import Indexer
from resin_es.index.indexer_settings import IndexSettings
from resin_es.index.report import IndexReport
from resin_es.index.settings import StoreSettings
from resin_es.model import (
    Document,
    DocumentStatus,
    MarkedPassage,
    Principal,
    document_key,
)
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted import ScriptedReader

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

FAMILIES = ("units", "sentences", "passages")
ADMIN = Principal(admin=True)
WORDS = ("Alder", "Birch", "Cedar", "Doum", "Elm", "Fir", "Ginkgo", "Hazel", "Ilex", "Juniper")


def text(number: int, sentences: int = 6) -> str:
    return " ".join(
        f"{WORDS[n % 10]} number {number} stands at the corner of street {n} in the old town."
        for n in range(sentences)
    )


def document(number: int, body: str | None = None, **fields: Any) -> Document:
    values = {
        "source": "s",
        "external_id": f"d/{number} é😀",
        "title": f"Trees {number}",
        "text": text(number) if body is None else body,
        "access": ("*",),
    }
    return Document(**{**values, **fields})


def plain(source: Mapping[str, Any]) -> dict[str, Any]:
    """A record without its vector. A rewritten ``metadata`` is a list of one object, or null (a
    partial update would merge objects), which Elasticsearch holds to be the same."""
    kept = {name: value for name, value in source.items() if name != "vector"}
    if isinstance(kept["metadata"], list):
        [kept["metadata"]] = kept["metadata"]
    kept["metadata"] = kept["metadata"] or {}
    return kept


class House:
    """A store under a prefix of its own, and indexers on it."""

    def __init__(self, es: Elasticsearch, prefix: str) -> None:
        self.es, self.prefix = es, prefix
        self.settings = StoreSettings(prefix=prefix)
        self.embedder = HashEmbedder()
        install(es, self.settings, self.embedder.identity)
        self.store = ElasticsearchStore(es, self.settings)
        self.reader = ScriptedReader()

    def indexer(self, reader: ScriptedReader | None = None, store: Any = None) -> Indexer:
        settings = IndexSettings(batch_documents=4)
        return Indexer(store or self.store, self.embedder, reader or self.reader, settings)

    def records(self) -> dict[str, dict[str, Mapping[str, Any]]]:
        """Everything stored, by family and id, as it stands."""
        self.store.refresh()
        found = {}
        for family in FAMILIES:
            hits = self.es.search(index=f"{self.prefix}-{family}", size=10_000)["hits"]["hits"]
            found[family] = {hit["_id"]: plain(hit["_source"]) for hit in hits}
        return found

    def entry(self, one: Document) -> Any:
        return self.store.entries([one.key])[one.key].entry


@pytest.fixture(scope="module")
def installed(es: Elasticsearch) -> Iterator[House]:
    """Indices are laid out once: that takes longer than any test here."""
    house = House(es, f"t-{uuid.uuid4().hex[:10]}")
    yield house
    uninstall(es, house.settings)


@pytest.fixture
def house(installed: House) -> House:
    """The indices of the module, empty."""
    installed.reader = ScriptedReader()
    for family in (*FAMILIES, "documents", "cache"):
        index = f"{installed.prefix}-{family}"
        installed.es.indices.refresh(index=index)
        hits = installed.es.search(index=index, size=10_000, source=False)["hits"]["hits"]
        actions = [{"_op_type": "delete", "_index": h["_index"], "_id": h["_id"]} for h in hits]
        helpers.bulk(installed.es, actions, refresh=True)
    return installed


def comparable(records: dict[str, dict[str, Mapping[str, Any]]]) -> Any:
    """Records without what tells a kept unit from one read anew."""
    return {
        family: {
            one: {k: v for k, v in body.items() if k != "document_version"}
            for one, body in rows.items()
        }
        for family, rows in records.items()
    }


def test_a_second_run_reads_nothing_and_changes_nothing(house: House) -> None:
    corpus = [document(number) for number in range(10)]
    first = house.indexer().index(corpus)
    before = house.records()
    asked = len(house.reader.asked)
    second = house.indexer().index(corpus)
    assert (first.new, first.sentences, first.units) == (10, 60, 60)
    assert first.ok
    assert (second.unchanged, second.read_passages, second.embedded) == (10, 0, 0)
    assert len(house.reader.asked) == asked
    assert house.records() == before
    assert {entry.status for entry in map(house.entry, corpus)} == {DocumentStatus.INDEXED}


def test_every_sentence_has_an_address_and_every_offset_is_exact(house: House) -> None:
    one = document(1)
    house.indexer().index([one])
    records, entry = house.records(), house.entry(one)
    spans = []
    for ref in entry.passages:
        passage = records["passages"][ref.id]
        for name, offsets in zip(ref.sentence_ids, passage["offsets"], strict=True):
            start, end = (ref.start + int(part) for part in offsets.split("-"))
            assert one.text[start:end] == records["sentences"][name]["statement"]
            spans.append((start, end))
    assert len(spans) == 6 == len(records["sentences"])
    assert spans == sorted(spans)


@pytest.mark.parametrize(
    ("edit", "read"),
    [
        pytest.param(lambda body: "A new first line stands here. " + body, 1, id="insert-top"),
        pytest.param(lambda body: body.replace("street 1", "street 99"), 1, id="change-one"),
        pytest.param(lambda body: body.replace(" Birch", "\n\n Birch"), None, id="white-space"),
        pytest.param(lambda body: body[: body.rindex("Fir")].strip(), None, id="drop-last"),
    ],
)
def test_only_the_changed_region_is_read_again(house: House, edit: Any, read: int | None) -> None:
    others = [document(number) for number in range(2, 5)]
    house.indexer().index([document(1), *others])
    before = house.records()
    house.reader.asked.clear()
    changed = document(1, edit(text(1)))
    report = house.indexer().index([changed, *others])
    assert (report.changed, report.unchanged) == (1, 3)
    assert report.read_passages == len(house.reader.asked) <= 1
    if read is not None:
        assert report.read_passages == read
    after = house.records()
    kept = set(before["units"]) & set(after["units"])
    assert len(kept) >= len(before["units"]) - 3, "units of untouched passages stay"
    entry = house.entry(changed)
    for ref in entry.passages:
        body = after["passages"][ref.id]["text"]
        assert changed.text[ref.start : ref.start + len(body)] == body
    assert entry.counts.units == sum(
        record["document_key"] == changed.key for record in after["units"].values()
    )
    listed = {name for ref in entry.passages for name in ref.sentence_ids}
    stored = {
        name for name, record in after["sentences"].items() if record["document_key"] == changed.key
    }
    assert stored == listed, "no sentence is lost, and no stale one stays"


def test_deleted_means_gone_and_coming_back_works(house: House) -> None:
    one, two = document(1), document(2)
    house.indexer().index([one, two])
    report = house.indexer().delete("s", [one.external_id, "no such id"])
    assert report.deleted == 1
    assert report.problems == [("no such id", "no such document")]
    records = house.records()
    for rows in records.values():
        assert {record["document_key"] for record in rows.values()} == {two.key}
    grave = house.entry(one)
    assert (grave.status, grave.title, grave.text, grave.passages) == (
        DocumentStatus.DELETED,
        "",
        None,
        (),
    )
    [coverage] = house.store.coverage(ADMIN, ())
    assert coverage.documents == 1
    assert house.indexer().index([one, two]).new == 1
    assert len(house.records()["sentences"]) == 12


def test_prune_deletes_what_vanished(house: House) -> None:
    corpus = [document(number) for number in range(5)]
    house.indexer().index(corpus)
    report = house.indexer().index(corpus[:3])
    house.indexer().prune("s", {one.key for one in corpus[:3]}, report)
    assert report.deleted == 2
    assert len(house.records()["sentences"]) == 18


def test_a_change_of_rights_reads_nothing_and_holds_at_once(house: House) -> None:
    one = document(1, access=("hr",), metadata={"year": 2023})
    house.indexer().index([one])
    asked = len(house.reader.asked)
    moved = document(1, access=("it",), metadata={"year": 2024})
    report = house.indexer().index([moved])
    assert (report.rights_changed, report.read_passages, report.embedded) == (1, 0, 0)
    assert len(house.reader.asked) == asked
    assert house.entry(one).access == ("it",)
    for rows in house.records().values():
        assert all(record["access"] == ["it"] for record in rows.values())
        assert all(record["metadata"] == {"year": 2024} for record in rows.values())
    assert house.entry(one).settled


def test_a_change_of_text_and_rights_reaches_what_was_kept(house: House) -> None:
    house.indexer().index([document(1, access=("hr",))])
    changed = document(1, text(1).replace("street 5", "street 55"), access=("it",))
    house.indexer().index([changed])
    for rows in house.records().values():
        assert all(record["access"] == ["it"] for record in rows.values())


def test_vectors_survive_a_change_of_rights(house: House) -> None:
    one = document(1)
    house.indexer().index([one])
    house.indexer().index([document(1, access=("it",))])
    vector = house.embedder.embed([one.text.split(". ")[0] + "."])[0].tolist()
    body = {"field": "vector", "query_vector": vector, "k": 1, "num_candidates": 10}
    hits = house.es.search(index=f"{house.prefix}-sentences", knn=body)["hits"]["hits"]
    assert hits[0]["_score"] == pytest.approx(1.0, abs=0.02)


class Killed(BaseException):
    """The process died: nothing may catch this and tidy up."""


class DyingStore:
    """Lets ``calls`` writing calls through, then the process dies, before or after the next."""

    WRITES = frozenset({"put_entries", "write", "refresh", "purge", "update_rights", "cache_put"})

    def __init__(self, store: Any, calls: int, *, after: bool) -> None:
        self._store, self._left, self._after = store, calls, after

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in self.WRITES:
            return method

        def call(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self._left < 0 and not self._after:
                raise Killed
            result = method(*args, **kwargs)
            if self._left < 0:
                raise Killed
            return result

        return call


def edited_corpus() -> list[Document]:
    return [
        document(1, text(1).replace("street 2", "street 22"), access=("it",)),
        document(2, "Another text altogether stands here. It has two sentences."),
        document(3),
        document(4, access=("hr",)),
        document(5, ""),
        document(7),
    ]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_anywhere_the_next_run_ends_where_an_unkilled_one_does(
    house: House, after: bool
) -> None:
    """Every writing call of a run with new, changed, rights-changed, emptied documents."""
    start, final = [document(number) for number in range(1, 7)], edited_corpus()
    ids = [one.external_id for one in (*start, document(7))]
    gone = document_key("s", document(6).external_id)

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
            run(house.indexer(store=DyingStore(house.store, calls, after=after)))
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


def test_the_loser_of_a_flip_takes_its_own_writes_back(house: House) -> None:
    """While A reads the document, B commits a newer version of it."""
    old, newer = document(1, "Old text stands here."), document(1, "Newer text stands there.")

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


def test_a_delete_during_a_read_ends_deleted(house: House) -> None:
    one = document(1)
    house.indexer().index([document(1, "Old text stands here.")])

    class Slow(ScriptedReader):
        def units(self, passages: Any) -> Any:
            house.indexer(ScriptedReader()).delete("s", [one.external_id])
            return super().units(passages)

    house.indexer(Slow()).index([one])
    assert house.entry(one).status is DocumentStatus.DELETED
    assert not any(house.records().values())


def test_a_document_held_by_a_living_process_is_left_alone(house: House) -> None:
    one = document(1)

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


def test_what_the_reader_cannot_read_is_named_and_read_again_next_time(house: House) -> None:
    from resin_es.errors import ReadingError
    from resin_es.testing.scripted import one_unit_per_sentence

    broken = True

    def units(item: Any) -> Any:
        if broken and "street 4" in item.passage.text:
            raise ReadingError("cannot", stage="units")
        return one_unit_per_sentence(item)

    corpus = [document(1), document(2, "Short text stands here.")]
    reader = ScriptedReader(units=units)
    report = house.indexer(reader).index(corpus)
    assert report.partial == 1
    assert [where for where, _ in report.failures] == [corpus[0].external_id]
    assert house.entry(corpus[0]).status is DocumentStatus.PARTIAL
    assert len(house.records()["sentences"]) == 7, "its sentences have their addresses"
    broken = False
    reader.asked.clear()
    report = house.indexer(reader).index(corpus)
    assert report.ok
    assert len(reader.asked) == 1, "only the passage that failed"
    assert house.entry(corpus[0]).status is DocumentStatus.INDEXED
    assert house.entry(corpus[0]).counts.units == 6


def test_marked_passages_are_kept_as_they_are(house: House) -> None:
    body = text(1)
    middle = body.index("Cedar")
    marks = (
        MarkedPassage(start=0, end=middle - 1, main_entity="Alder"),
        MarkedPassage(start=middle, end=len(body), main_entity="Cedar"),
    )
    house.indexer().index([document(1, marked=marks)])
    passages = house.records()["passages"].values()
    assert Counter(p["main_entity"] for p in passages) == {"Alder": 1, "Cedar": 1}
    assert all(p["semantic"] for p in passages)


def test_another_reader_reads_everything_again(house: House) -> None:
    house.indexer().index([document(1)])
    other = ScriptedReader(version="2")
    report = house.indexer(other).index([document(1)])
    assert report.read_passages == 2
    readers = {unit["reader"]["prompt_version"] for unit in house.records()["units"].values()}
    assert readers == {"2"}


def test_memory_is_bounded_by_a_batch(house: House) -> None:
    """The stream is drawn batch by batch, never as a whole."""
    drawn: list[int] = []
    committed: list[int] = []

    def stream() -> Iterator[Document]:
        for number in range(12):
            drawn.append(number)
            committed.append(len(list(house.store.scan_entries("s"))) if number % 4 == 0 else 0)
            house.store.refresh()
            yield document(number, f"Tree {number} stands here.")

    house.indexer().index(stream())
    assert committed[8] >= 4
