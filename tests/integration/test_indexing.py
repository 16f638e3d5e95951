"""The write path on a real Elasticsearch: what is read, kept, purged.

Reader and embedder are the shipped fakes; the protocol is the subject.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from resin_es.errors import ReadingError
from resin_es.model import Document, DocumentStatus, MarkedPassage, Principal
from resin_es.testing.scripted import ScriptedReader, one_unit_per_sentence

ADMIN = Principal(admin=True)


def test_a_second_run_reads_nothing_and_changes_nothing(house: Any) -> None:
    corpus = [house.document(number) for number in range(10)]
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


def test_every_sentence_has_an_address_and_every_offset_is_exact(house: Any) -> None:
    one = house.document(1)
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
def test_only_the_changed_region_is_read_again(house: Any, edit: Any, read: int | None) -> None:
    others = [house.document(number) for number in range(2, 5)]
    house.indexer().index([house.document(1), *others])
    before = house.records()
    house.reader.asked.clear()
    changed = house.document(1, edit(house.text(1)))
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


def test_a_new_title_reaches_every_record_and_costs_no_reading_and_no_vector(house: Any) -> None:
    one, two = house.document(1), house.document(2)
    house.indexer().index([one, two])
    asked = len(house.reader.asked)
    report = house.indexer().index([house.document(1, title="Alleys"), two])
    assert (report.changed, report.unchanged, report.read_passages) == (1, 1, 0)
    assert (report.embedded, report.embedded_from_cache) == (0, 0)
    assert len(house.reader.asked) == asked
    for rows in house.records().values():
        titles = {(record["document_key"], record["title"]) for record in rows.values()}
        assert titles == {(one.key, "Alleys"), (two.key, "Trees 2")}


def test_deleted_means_gone_and_coming_back_works(house: Any) -> None:
    one, two = house.document(1), house.document(2)
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


def test_prune_deletes_what_vanished(house: Any) -> None:
    corpus = [house.document(number) for number in range(5)]
    house.indexer().index(corpus)
    report = house.indexer().index(corpus[:3])
    house.indexer().prune("s", {one.key for one in corpus[:3]}, report)
    assert report.deleted == 2
    assert len(house.records()["sentences"]) == 18


def test_a_change_of_rights_reads_nothing_and_holds_at_once(house: Any) -> None:
    one = house.document(1, access=("hr",), metadata={"year": 2023})
    house.indexer().index([one])
    asked = len(house.reader.asked)
    moved = house.document(1, access=("it",), metadata={"year": 2024})
    report = house.indexer().index([moved])
    assert (report.rights_changed, report.read_passages, report.embedded) == (1, 0, 0)
    assert len(house.reader.asked) == asked
    assert house.entry(one).access == ("it",)
    for rows in house.records().values():
        assert all(record["access"] == ["it"] for record in rows.values())
        assert all(record["metadata"] == {"year": 2024} for record in rows.values())
    assert house.entry(one).settled


def test_a_change_of_text_and_rights_reaches_what_was_kept(house: Any) -> None:
    house.indexer().index([house.document(1, access=("hr",))])
    changed = house.document(1, house.text(1).replace("street 5", "street 55"), access=("it",))
    house.indexer().index([changed])
    for rows in house.records().values():
        assert all(record["access"] == ["it"] for record in rows.values())


def test_vectors_survive_a_change_of_rights(house: Any) -> None:
    one = house.document(1)
    house.indexer().index([one])
    house.indexer().index([house.document(1, access=("it",))])
    vector = house.embedder.embed([one.text.split(". ")[0] + "."])[0].tolist()
    body = {"field": "vector", "query_vector": vector, "k": 1, "num_candidates": 10}
    hits = house.es.search(index=f"{house.prefix}-sentences", knn=body)["hits"]["hits"]
    assert hits[0]["_score"] == pytest.approx(1.0, abs=0.02)


def test_what_the_reader_cannot_read_is_named_and_read_again_next_time(house: Any) -> None:

    broken = True

    def units(item: Any) -> Any:
        if broken and "street 4" in item.passage.text:
            raise ReadingError("cannot", stage="units")
        return one_unit_per_sentence(item)

    corpus = [house.document(1), house.document(2, "Short text stands here.")]
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


def test_marked_passages_are_kept_as_they_are(house: Any) -> None:
    body = house.text(1)
    middle = body.index("Cedar")
    marks = (
        MarkedPassage(start=0, end=middle - 1, main_entity="Alder"),
        MarkedPassage(start=middle, end=len(body), main_entity="Cedar"),
    )
    house.indexer().index([house.document(1, marked=marks)])
    passages = house.records()["passages"].values()
    assert Counter(p["main_entity"] for p in passages) == {"Alder": 1, "Cedar": 1}
    assert all(p["semantic"] for p in passages)


def test_another_reader_reads_everything_again(house: Any) -> None:
    house.indexer().index([house.document(1)])
    other = ScriptedReader(version="2")
    report = house.indexer(other).index([house.document(1)])
    assert report.read_passages == 2
    readers = {unit["reader"]["prompt_version"] for unit in house.records()["units"].values()}
    assert readers == {"2"}


def test_memory_is_bounded_by_a_batch(house: Any) -> None:
    """The stream is drawn batch by batch, never as a whole."""
    drawn: list[int] = []
    committed: list[int] = []

    def stream() -> Iterator[Document]:
        for number in range(12):
            drawn.append(number)
            committed.append(len(list(house.store.scan_entries("s"))) if number % 4 == 0 else 0)
            house.store.refresh()
            yield house.document(number, f"Tree {number} stands here.")

    house.indexer().index(stream())
    assert committed[8] >= 4
