"""A rebuild beside writers: both generations get everything, and nothing is read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.adapters.elasticsearch import ElasticsearchStore, copying, laying_out, uninstall
from resin_es.adapters.elasticsearch.doctor import Check, doctor
from resin_es.adapters.elasticsearch.rebuild import Rebuild
from resin_es.errors import IndexMismatch, ModelUnavailable, StoreConflict, UsageError
from resin_es.index import rebuilding
from resin_es.index.embedders import EmbedderBook
from resin_es.testing.hash_embedder import HashEmbedder
from tests.integration.conftest import document, text
from tests.integration.rebuilding import FAMILIES, House, made, without_models

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch


@pytest.fixture(scope="module")
def laid_out(es: Elasticsearch) -> Iterator[House]:
    house = House(es)
    yield house
    uninstall(es, house.settings)


@pytest.fixture
def house(laid_out: House) -> House:
    return laid_out.emptied()


def test_everything_is_copied_and_only_vectors_are_made_anew(es: Elasticsearch) -> None:
    house = House(es, index_only=True)
    try:
        house.indexer().index([document(n) for n in range(5)])
        before, asked = house.records(), house.reader.unit_calls

        report = house.rebuild().run()

        assert (report.done, report.generation) == (True, "v2")
        assert house.records() == before
        assert report.records == {family: len(found) for family, found in before.items()}
        house.assert_vectors_of(house.new)
        assert house.reader.unit_calls == asked, "nothing is read again"
        assert sorted(report.dropped) == [f"{house.prefix}-{family}-v1" for family in FAMILIES]
        assert not es.indices.exists(index=f"{house.prefix}-units-v1")
        again = house.indexer(house.new).index([document(n) for n in range(5)])
        assert (again.unchanged, again.read_passages) == (5, 0), "another model is no other reader"
        assert not house.rebuild().run().done, "there is nothing left to rebuild"
    finally:
        uninstall(es, house.settings)


def test_commits_rights_and_deletes_go_to_both(house: House) -> None:
    indexer = house.indexer()
    indexer.index([document(n) for n in range(6)])
    rebuild = house.rebuild()
    now = rebuild.begin()
    assert now.next is not None
    rebuild.catch_up(now)
    assert house.records(now.next.indices) == house.records()

    indexer.index([document(0, "Oak stands here. " + text(0)), document(7)])  # changed and new
    indexer.index([document(1, access=("red",), metadata={"colour": "green"})])  # rights alone
    indexer.delete("s", [document(2).external_id])
    assert house.records(now.next.indices) == house.records()
    house.assert_vectors_of(house.new, now.next.indices)
    house.assert_vectors_of(house.old, now.live.indices)

    rebuild.swap(now)
    indexer.delete("s", [document(3).external_id])  # a process for the old model goes on
    indexer.index([document(8), document(4, access=("blue",))])
    rebuild.finish()
    expected = {document(n).external_id: ["*"] for n in (0, 5, 7, 8)}
    expected |= {document(1).external_id: ["red"], document(4).external_id: ["blue"]}
    assert house.documents() == expected
    house.assert_vectors_of(house.new)
    counted = {key for key, _ in house.store(house.new).record_counts()}
    assert counted == {document(n).key for n in (0, 1, 4, 5, 7, 8)}


def test_a_process_without_the_new_model_leaves_its_commits_to_the_copier(house: House) -> None:
    house.indexer().index([document(n) for n in range(3)])
    rebuild = house.rebuild()
    now = rebuild.begin()
    assert now.next is not None
    rebuild.catch_up(now)
    poor = house.indexer(make=without_models)
    poor.index([document(5), document(0, access=("red",))])
    poor.delete("s", [document(1).external_id])
    assert house.documents(now.next.indices) == {
        document(0).external_id: ["red"],
        document(2).external_id: ["*"],
    }, "rights and deletes need no model"
    before = house.records()
    rebuild.swap(now)
    rebuild.finish()
    assert house.records() == before
    with pytest.raises(ModelUnavailable):
        poor.index([document(9)])
    assert house.records() == before


Break = Callable[[pytest.MonkeyPatch], None]


def before(step: str) -> Break:
    def arrange(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(Rebuild, step, killed_after(getattr(Rebuild, step), 0))

    return arrange


def killed_after(original: Any, calls_left: int) -> Any:
    def run(*arguments: Any, **named: Any) -> Any:
        nonlocal calls_left
        calls_left -= 1
        if calls_left < 0:
            raise RuntimeError("killed")
        return original(*arguments, **named)

    return run


def in_begin(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(laying_out, "next_meta", killed_after(laying_out.next_meta, 1))


def in_catch_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(copying.Copier, "_copy", killed_after(copying.Copier._copy, 2))


def in_finish(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rebuild, "_drop", killed_after(Rebuild._drop, 0))


def test_killed_at_every_step_and_taken_up_again_nothing_is_lost(house: House) -> None:
    """One rebuild, killed eight times in a row, with edits in between."""
    house.indexer().index([document(n) for n in range(3)])
    kills = (
        *(before("begin"), in_begin, before("catch_up"), in_catch_up, before("swap")),
        *(before("finish"), in_finish, in_finish),
    )
    for number, kill in enumerate(kills):
        with pytest.MonkeyPatch.context() as patch:
            kill(patch)
            with pytest.raises(RuntimeError, match="killed"):
                house.rebuild().run()
        house.indexer().index([document(10 + number), document(0, f"Oak {number}. " + text(0))])
        if number:
            house.indexer().delete("s", [document(9 + number).external_id])
    expected = house.records()
    assert house.documents().keys() == {document(n).external_id for n in (0, 1, 2, 17)}

    report = house.rebuild().run()

    assert (report.done, report.resumed) == (True, True)
    assert house.records() == expected
    house.assert_vectors_of(house.new)
    for family in FAMILIES:
        assert len(house.es.indices.get(index=f"{house.prefix}-{family}-v*")) == 1
    assert house.rebuild().status().state == "none"


def test_a_cancel_leaves_no_trace(house: House) -> None:
    house.indexer().index([document(n) for n in range(3)])
    records, shape = house.records(), house.shape()
    rebuild = house.rebuild()
    now = rebuild.begin()
    assert now.next is not None
    rebuild.catch_up(now)
    assert house.rebuild(house.old).status().state == "building"

    gone = house.rebuild(house.old).cancel()

    assert sorted(gone) == sorted(now.next.indices.values())
    assert house.shape() == shape
    assert house.records() == records
    for step in (rebuild.catch_up, rebuild.swap):
        with pytest.raises(StoreConflict, match="cancelled"):
            step(now)
    house.indexer().index([document(9)])
    assert house.shape() == shape, "who goes on after a cancel makes no index"
    assert house.rebuild().cancel() == ()


def test_a_cancel_after_the_swap_is_refused_and_harms_nothing(house: House) -> None:
    house.indexer().index([document(n) for n in range(2)])
    records = house.records()
    rebuild = house.rebuild()
    now = rebuild.begin()
    rebuild.catch_up(now)
    rebuild.swap(now)
    with pytest.raises(UsageError, match="answer already"):
        house.rebuild().cancel()
    assert house.rebuild().status().state == "swapped"
    rebuild.swap(now)  # another run was first: no error
    assert house.records() == records
    assert house.rebuild().run().dropped


def test_another_rebuild_under_way_is_not_mixed_up(house: House) -> None:
    house.rebuild().begin()
    flat = house.settings.model_copy(update={"vector_index": "flat"})
    with pytest.raises(UsageError, match=rf"{house.new.identity.name}.*vector index flat"):
        house.rebuild(settings=flat).run()
    assert house.rebuild().cancel()


def test_a_new_statement_version_writes_statements_anew(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_code, reading = house.indexer(), house.reader
    old_code.index([document(n) for n in range(3)])
    sentences = house.records()["sentences"]

    def newly(claim: Any, passage: Any) -> str:
        return f"{claim.subject}! {claim.surface_predicate} {claim.object} ({passage.text[:9]})"

    monkeypatch.setattr(rebuilding, "statement", newly)
    newer = house.settings.model_copy(update={"statement_version": "next"})
    rebuild = house.rebuild(house.old, newer)
    now = rebuild.begin()
    asked = reading.unit_calls
    old_code.index([document(8)])  # it cannot word it: the copier brings it
    rebuild.catch_up(now)
    rebuild.swap(now)
    rebuild.finish()
    units = house.records()["units"].values()
    assert len({unit["document_id"] for unit in units}) == 4
    for unit in units:
        assert unit["statement"].startswith(f"{unit['subject']}! says {unit['object']} (")
    assert house.records()["sentences"].items() >= sentences.items()
    assert reading.unit_calls == asked + 1, "of the new document alone"
    house.assert_vectors_of(house.old)
    with pytest.raises(IndexMismatch, match="statement version"):
        old_code.index([document(9)])
    house.store(house.old).pinned(house.old)  # but it may go on answering
    back = house.rebuild(house.old)
    monkeypatch.undo()
    assert back.run().done  # the statements as they were


def test_a_new_mapping_needs_no_model(house: House) -> None:
    class Counting(HashEmbedder):
        texts = 0

        def embed(self, texts: Any) -> Any:
            self.texts += len(texts)
            return HashEmbedder.embed(self, texts)

    house.indexer().index([document(n) for n in range(3)])
    counting = Counting()
    counting.__dict__.update(house.old.__dict__)
    changed = house.settings.model_copy(update={"vector_index": "flat", "language": "german"})
    how = {"model": "one" if house.old.identity.name == "hash-32" else "other"}
    report = Rebuild(house.es, changed, EmbedderBook(lambda: counting, made), how).run()
    assert report.done
    assert counting.texts == 0, "the cache has every vector"
    mapping = house.es.indices.get_mapping(index=f"{house.prefix}-units").body
    [vector] = [one["mappings"]["properties"]["vector"] for one in mapping.values()]
    assert vector["index_options"]["type"] == "flat"


def test_an_older_schema_is_brought_up_to_date(es: Elasticsearch) -> None:
    house = House(es, index_only=True)
    try:
        house.indexer().index([document(n) for n in range(2)])
        expected = house.records()
        told = es.indices.get_mapping(index=f"{house.prefix}-*").body
        for index, body in told.items():
            resin = {**body["mappings"]["_meta"]["resin"], "schema": 1}
            es.indices.put_mapping(index=index, meta={"resin": resin})
        units = [f"{house.prefix}-{family}" for family in FAMILIES]
        for hit in es.search(index=units, size=1_000)["hits"]["hits"]:
            older = {n: v for n, v in hit["_source"].items() if n not in ("title", "vector")}
            vector = {} if "passages" in hit["_index"] else {"vector": [1.0] + [0.0] * 31}
            es.index(index=hit["_index"], id=hit["_id"], document={**older, **vector})
        with pytest.raises(IndexMismatch, match="schema 1"):
            house.store(house.old).check(house.old.identity)
        assert house.rebuild(house.old).run().done
        house.store(house.old).check(house.old.identity)
        assert house.records() == expected, "titles come from the registry"
    finally:
        uninstall(es, house.settings)


def test_an_index_without_packed_hits_is_told_of_until_it_is_rebuilt(es: Elasticsearch) -> None:
    house = House(es, index_only=True)

    def schema() -> Check:
        [row] = [one for one in doctor(es, house.settings) if one.name == "schema"]
        return row

    try:
        house.indexer().index([document(n) for n in range(2)])
        assert schema() == Check(name="schema", ok=True, detail="version 2")
        told = es.indices.get_mapping(index=f"{house.prefix}-*").body
        for index, body in told.items():
            meta = body["mappings"]["_meta"]["resin"]
            older = {name: value for name, value in meta.items() if name != "packed"}
            es.indices.put_mapping(index=index, meta={"resin": older})
        assert schema().ok, "it answers as ever"
        assert "resin-es rebuild" in schema().hint
        assert house.rebuild(house.old).run().done
        assert schema() == Check(name="schema", ok=True, detail="version 2")
    finally:
        uninstall(es, house.settings)


def test_who_may_follow(house: House) -> None:
    house.indexer().index([document(1)])
    stranger = HashEmbedder(16, name="stranger")
    with pytest.raises(IndexMismatch):
        house.store(stranger).check(stranger.identity)
    rebuild = house.rebuild()
    now = rebuild.begin()
    _, model = house.store(house.new).pinned(house.new)
    assert model is house.old, "started for what is coming, it works with what stands"
    rebuild.catch_up(now)
    rebuild.swap(now)
    rebuild.finish()
    _, model = house.store(house.old).pinned(house.old)
    assert model is house.new
    with pytest.raises(IndexMismatch):
        house.store(stranger).check(stranger.identity)
    with pytest.raises(IndexMismatch):
        ElasticsearchStore(house.es, house.settings).check(house.old.identity)
