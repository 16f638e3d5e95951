"""A rebuild beside writers: both generations get everything, and nothing is read again."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.adapters.elasticsearch import ElasticsearchStore, install, uninstall
from resin_es.adapters.elasticsearch.rebuild import Rebuild
from resin_es.errors import IndexMismatch, ModelUnavailable, StoreConflict, UsageError
from resin_es.index.embedders import EmbedderBook
from resin_es.index.indexer import Indexer
from resin_es.index.indexer_settings import IndexSettings
from resin_es.index.settings import StoreSettings
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted import ScriptedReader
from tests.integration.conftest import document, plain, text

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

FAMILIES = ("passages", "sentences", "units")
OLD, NEW = HashEmbedder(32), HashEmbedder(32, name="other", seed="other ")
MODELS = {"old": OLD, "new": NEW}


def made(spec: Any) -> HashEmbedder:
    return MODELS[spec["model"]]


def without_models(spec: Any) -> HashEmbedder:
    raise ModelUnavailable(f"{spec['model']} is not here")


class House:
    """A prefix whose indices stand; processes on it, each with a model of its own."""

    def __init__(self, es: Elasticsearch) -> None:
        self.es = es
        self.prefix = f"t-{uuid.uuid4().hex[:10]}"
        self.settings = StoreSettings(prefix=self.prefix, page=7)
        self.reader = ScriptedReader()
        self.before: dict[str, Any] = {}
        install(es, self.settings, OLD.identity, index_only=True, embedder={"model": "old"})

    def store(self, native: HashEmbedder = OLD, make: Any = made) -> ElasticsearchStore:
        return ElasticsearchStore(self.es, self.settings, EmbedderBook(lambda: native, make))

    def indexer(self, native: HashEmbedder = OLD, make: Any = made) -> Indexer:
        return Indexer(
            self.store(native, make), native, self.reader, IndexSettings(batch_documents=4)
        )

    def rebuild(self, native: HashEmbedder = NEW, settings: StoreSettings | None = None) -> Rebuild:
        name = "new" if native is NEW else "old"
        book = EmbedderBook(lambda: native, made)
        return Rebuild(self.es, settings or self.settings, book, {"model": name})

    def records(self, where: str) -> dict[str, dict[str, Any]]:
        """What a generation holds, by family and id; ``where`` is ``""`` for the alias."""
        found = {}
        for family in FAMILIES:
            index = f"{self.prefix}-{family}{where}"
            self.es.indices.refresh(index=index)
            hits = self.es.search(index=index, size=10_000)["hits"]["hits"]
            found[family] = {hit["_id"]: plain(hit["_source"]) for hit in hits}
        return found

    def vectors(self, where: str) -> list[tuple[str, Any]]:
        """Statements with their vectors, as far as the server gives them back."""
        names = [f"{self.prefix}-{family}{where}" for family in ("units", "sentences")]
        hits = self.es.search(
            index=names, size=10_000, fields=["vector"], source=["statement", "vector"]
        )["hits"]["hits"]
        return [
            (hit["_source"]["statement"], hit["_source"].get("vector") or hit["fields"]["vector"])
            for hit in hits
        ]

    def shape(self) -> dict[str, Any]:
        """Indices with aliases and _meta, and all templates below the prefix."""
        told = self.es.indices.get(index=f"{self.prefix}*", features=["aliases", "mappings"]).body
        lenient = self.es.options(ignore_status=404)
        return {
            "indices": dict(told),
            "templates": lenient.indices.get_index_template(name=f"{self.prefix}*").body,
            "parts": lenient.cluster.get_component_template(name=f"{self.prefix}*").body,
        }


@pytest.fixture
def house(es: Elasticsearch) -> Iterator[House]:
    made_here = House(es)
    yield made_here
    uninstall(es, made_here.settings)


def assert_vectors_of(model: HashEmbedder, rows: list[tuple[str, Any]]) -> None:
    assert rows
    for (_, held), made_now in zip(rows, model.embed([said for said, _ in rows]), strict=True):
        assert held == pytest.approx(made_now.tolist(), abs=2e-3)


def test_everything_is_copied_and_only_vectors_are_made_anew(house: House) -> None:
    house.indexer().index([document(n) for n in range(5)])
    before, asked = house.records(""), house.reader.unit_calls

    report = house.rebuild().run()

    assert report.done
    assert report.generation == "v2"
    assert house.records("-v2") == house.records("") == before
    assert report.records == {family: len(found) for family, found in before.items()}
    assert_vectors_of(NEW, house.vectors(""))
    assert house.reader.unit_calls == asked, "nothing is read again"
    assert sorted(report.dropped) == [f"{house.prefix}-{family}-v1" for family in FAMILIES]
    assert not house.es.indices.exists(index=f"{house.prefix}-units-v1")

    again = house.indexer(NEW).index([document(n) for n in range(5)])
    assert (again.unchanged, again.read_passages) == (5, 0), "another model is no other reader"
    assert not house.rebuild().run().done, "there is nothing left to rebuild"


def test_commits_rights_and_deletes_go_to_both(house: House) -> None:
    indexer = house.indexer()
    indexer.index([document(n) for n in range(6)])
    rebuild = house.rebuild()
    now = rebuild.begin()
    rebuild.catch_up(now)
    assert house.records("-v2") == house.records("-v1")

    indexer.index([document(0, "Oak stands here. " + text(0)), document(7)])  # changed and new
    indexer.index([document(1, access=("red",), metadata={"colour": "green"})])  # rights alone
    indexer.delete("s", [document(2).external_id])
    assert house.records("-v2") == house.records("-v1")
    assert_vectors_of(NEW, house.vectors("-v2"))
    assert_vectors_of(OLD, house.vectors("-v1"))

    rebuild.swap(now)
    indexer.delete("s", [document(3).external_id])  # a process for the old model goes on
    indexer.index([document(8), document(4, access=("blue",))])
    rebuild.finish()
    held = {r["document_id"]: r["access"] for r in house.records("")["units"].values()}
    expected = {document(n).external_id: ["*"] for n in (0, 5, 7, 8)}
    assert held == {
        **expected,
        document(1).external_id: ["red"],
        document(4).external_id: ["blue"],
    }
    assert_vectors_of(NEW, house.vectors(""))
    counts = {key: count for key, count in house.store(NEW).record_counts()}
    assert counts.keys() == {document(n).key for n in (0, 1, 4, 5, 7, 8)}


def test_a_process_without_the_new_model_leaves_its_commits_to_the_copier(house: House) -> None:
    house.indexer().index([document(n) for n in range(3)])
    rebuild = house.rebuild()
    rebuild.catch_up(rebuild.begin())
    poor = house.indexer(OLD, without_models)
    poor.index([document(5), document(0, access=("red",))])
    poor.delete("s", [document(1).external_id])
    behind = {r["document_id"] for r in house.records("-v2")["units"].values()}
    assert behind == {document(0).external_id, document(2).external_id}, "deletes need no model"
    before = house.records("-v1")
    rebuild.swap(rebuild.begin())
    rebuild.finish()
    assert house.records("") == before
    with pytest.raises(ModelUnavailable):
        poor.index([document(9)])
    assert house.records("") == before


@pytest.mark.parametrize("step", ["begin", "catch_up", "swap", "finish"])
@pytest.mark.parametrize("inside", [False, True])
def test_broken_off_anywhere_it_is_taken_up_again(
    house: House, monkeypatch: pytest.MonkeyPatch, step: str, inside: bool
) -> None:
    house.indexer().index([document(n) for n in range(3)])
    if inside:
        break_inside(house, monkeypatch, step)
    else:
        break_before(monkeypatch, step)
    with pytest.raises(RuntimeError, match="killed"):
        house.rebuild().run()
    monkeypatch.undo()
    house.indexer().index([document(7), document(0, "Oak stands here. " + text(0))])
    house.indexer().delete("s", [document(1).external_id])
    expected = house.records("")

    report = house.rebuild().run()

    assert report.done
    assert house.records("") == expected
    assert_vectors_of(NEW, house.vectors(""))
    left = list(house.es.indices.get(index=f"{house.prefix}-units-v*"))
    assert left == [f"{house.prefix}-units-v2"]
    assert house.rebuild().status().state == "none"


def break_before(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def killed(*_: Any, **__: Any) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr(Rebuild, step, killed)


def break_inside(house: House, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """In the middle of a step: after the first index, the second page, the swap, the check."""
    from resin_es.adapters.elasticsearch import copying, rebuild
    from resin_es.adapters.elasticsearch.store import ElasticsearchStore as Store

    def then_killed(original: Any, after: int) -> Any:
        calls = 0

        def run(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > after:
                raise RuntimeError("killed")
            return original(*arguments, **named)

        return run

    if step == "begin":
        indices = type(house.es.indices)
        monkeypatch.setattr(indices, "create", then_killed(indices.create, 1))
    elif step == "catch_up":
        monkeypatch.setattr(copying.Copier, "_copy", then_killed(copying.Copier._copy, 3))
    elif step == "swap":
        swap = rebuild.Rebuild.swap

        def swapped(self: Rebuild, now: Any) -> None:
            swap(self, now)
            raise RuntimeError("killed")

        monkeypatch.setattr(rebuild.Rebuild, "swap", swapped)
    else:
        monkeypatch.setattr(rebuild.Rebuild, "_drop", then_killed(rebuild.Rebuild._drop, 0))
    assert Store


def test_a_cancel_leaves_no_trace(house: House) -> None:
    house.indexer().index([document(n) for n in range(3)])
    before, shape = house.records(""), house.shape()
    rebuild = house.rebuild()
    now = rebuild.begin()
    rebuild.catch_up(now)
    assert house.rebuild(OLD).status().state == "building"

    gone = house.rebuild(OLD).cancel()

    assert sorted(gone) == [f"{house.prefix}-{family}-v2" for family in FAMILIES]
    assert house.shape() == shape
    assert house.records("") == before
    with pytest.raises(StoreConflict, match="cancelled"):
        rebuild.catch_up(now)
    with pytest.raises(StoreConflict, match="cancelled"):
        rebuild.swap(now)
    assert house.shape() == shape, "who goes on after a cancel makes no index"
    assert house.rebuild().cancel() == ()
    house.indexer().index([document(9)])
    assert house.rebuild().run().done


def test_a_cancel_after_the_swap_is_refused_and_harms_nothing(house: House) -> None:
    house.indexer().index([document(n) for n in range(2)])
    before = house.records("")
    rebuild = house.rebuild()
    now = rebuild.begin()
    rebuild.catch_up(now)
    rebuild.swap(now)
    with pytest.raises(UsageError, match="answer already"):
        house.rebuild().cancel()
    assert house.rebuild().status().state == "swapped"
    rebuild.swap(now)  # somebody else was first: no error
    assert house.records("") == before
    assert house.rebuild().run().dropped


def test_another_rebuild_under_way_is_not_mixed_up(house: House) -> None:
    house.indexer().index([document(1)])
    house.rebuild().begin()
    flat = house.settings.model_copy(update={"vector_index": "flat"})
    with pytest.raises(UsageError, match=r"other-32.*flat"):
        house.rebuild(settings=flat).run()


def test_a_new_statement_version_writes_statements_anew(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    from resin_es.index import rebuilding

    house.indexer().index([document(n) for n in range(3)])
    before, asked = house.records(""), house.reader.unit_calls
    old_code = house.indexer()
    monkeypatch.setattr(
        rebuilding, "statement", lambda claim, passage: f"{claim.subject}! {passage.text[:9]}"
    )
    newer = house.settings.model_copy(update={"statement_version": "next"})
    rebuild = house.rebuild(OLD, newer)
    now = rebuild.begin()
    old_code.index([document(8)])
    rebuild.catch_up(now)
    rebuild.swap(now)
    rebuild.finish()
    units = house.records("")["units"].values()
    assert len({unit["document_id"] for unit in units}) == 4
    assert {unit["statement"][: len(unit["subject"]) + 1] for unit in units} == {
        f"{unit['subject']}!" for unit in units
    }
    assert house.records("")["sentences"].items() >= before["sentences"].items()
    assert house.reader.unit_calls == asked + 1
    assert_vectors_of(OLD, house.vectors(""))
    with pytest.raises(IndexMismatch, match="statement version"):
        old_code.index([document(9)])
    house.store(OLD).pinned(OLD)  # but it may go on answering


def test_a_new_mapping_needs_no_model(house: House) -> None:
    class Counting(HashEmbedder):
        texts = 0

        def embed(self, texts: Any) -> Any:
            self.texts += len(texts)
            return super().embed(texts)

    house.indexer().index([document(n) for n in range(3)])
    counting = Counting(32)
    flat = house.settings.model_copy(update={"vector_index": "flat", "language": "german"})
    report = Rebuild(
        house.es, flat, EmbedderBook(lambda: counting, made), {"model": "old"}
    ).run()
    assert report.done
    assert counting.texts == 0, "the cache has every vector"
    mapping = house.es.indices.get_mapping(index=f"{house.prefix}-units").body
    [vector] = [one["mappings"]["properties"]["vector"] for one in mapping.values()]
    assert vector["index_options"]["type"] == "flat"


def test_who_may_follow(house: House) -> None:
    house.indexer().index([document(1)])
    stranger = HashEmbedder(16, name="stranger")
    with pytest.raises(IndexMismatch):
        house.store(stranger).check(stranger.identity)
    rebuild = house.rebuild()
    now = rebuild.begin()
    _, model = house.store(NEW).pinned(NEW)
    assert model is OLD, "started for what is coming, it works with what stands"
    rebuild.catch_up(now)
    rebuild.swap(now)
    rebuild.finish()
    _, model = house.store(OLD).pinned(OLD)
    assert model is NEW
    with pytest.raises(IndexMismatch):
        house.store(stranger).check(stranger.identity)
    with pytest.raises(IndexMismatch):
        ElasticsearchStore(house.es, house.settings).check(OLD.identity)
