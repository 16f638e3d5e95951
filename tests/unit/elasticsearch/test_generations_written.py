"""What goes to which generation, when they change between two looks. No server."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from resin_es.adapters.elasticsearch import ElasticsearchStore, generations, purging, writing
from resin_es.adapters.elasticsearch.bulk import Outcome
from resin_es.errors import (
    GenerationGone,
    IndexMismatch,
    ModelUnavailable,
    StoreConflict,
    StoreNotInstalled,
    StoreRejected,
    StoreTimeout,
)
from resin_es.index.embedders import EmbedderBook
from resin_es.index.generations import Generation, Generations
from resin_es.index.names import EVIDENCE_FAMILIES
from resin_es.index.settings import StoreSettings
from resin_es.model import Guard
from resin_es.ports import RecordRef
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.records import sample

OLD, NEW = HashEmbedder(4, name="old"), HashEmbedder(8, name="new")
SETTINGS = StoreSettings(prefix="r")
ONE = sample()
GUARD = Guard(seq_no=7, primary_term=1)


def generation(number: int, model: HashEmbedder, **meta: Any) -> Generation:
    built = {
        "model": model.identity.name,
        "dims": model.identity.dims,
        "statement_version": SETTINGS.statement_version,
        **meta,
    }
    return Generation(
        indices={f: f"r-{f}-v{number}" for f in EVIDENCE_FAMILIES},
        addresses={f: f"r-{f}-v{number}-own" for f in EVIDENCE_FAMILIES},
        metas=dict.fromkeys(EVIDENCE_FAMILIES, built),
    )


V1, V2 = generation(1, OLD), generation(2, NEW, embedder={})
ALONE, BUILDING, SWAPPED = (
    Generations(live=V1),
    Generations(live=V1, next=V2),
    Generations(live=V2, left=tuple(V1.indices.values())),
)


class Looks(ElasticsearchStore):
    """Sees what is scripted, look by look (the last one for ever); records what it sends."""

    def __init__(self, *looks: Generations, native: HashEmbedder | None = OLD, make: Any = None):
        book = EmbedderBook(lambda: native, make or (lambda spec: NEW)) if native else None
        super().__init__(None, SETTINGS, book)  # type: ignore[arg-type]
        self.looks, self.seen = list(looks), 0
        self.sent: list[list[dict[str, Any]]] = []
        self.failing: dict[int, Exception] = {}

    def generations(self) -> Generations:
        self.seen += 1
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]

    def _bulk(self, actions: Any, doing: str, *, by_alias: bool = True) -> Outcome:
        assert by_alias, "a write that requires no alias could make an index"
        self.sent.append(list(actions))
        if error := self.failing.pop(len(self.sent), None):
            raise error
        rows = enumerate(self.sent[-1], start=10)
        return Outcome(items=[{"status": 201, "_seq_no": n, "_id": a["_id"]} for n, a in rows])

    def cache_get(self, keys: Sequence[str]) -> dict[str, bytes]:
        return {}

    def cache_put(self, values: Any) -> None:
        return None

    def targets(self) -> list[set[str]]:
        """Which generations each bulk request went to."""
        return [{a["_index"].split("-")[2] for a in actions} for actions in self.sent]


def write(store: Looks) -> Any:
    return store.write(ONE.addresses, ONE.passages)


def test_one_generation_gets_what_it_is_given() -> None:
    store = Looks(ALONE)
    assert write(store).written == 4
    assert store.targets() == [{"v1"}]
    assert [a["_source"] for a in store.sent[0]] == [
        r.body for r in (*ONE.addresses, *ONE.passages)
    ]
    assert [a["_index"] for a in store.sent[0]] == [
        "r-units-v1-own", "r-sentences-v1-own", "r-sentences-v1-own", "r-passages-v1-own",
    ]  # fmt: skip
    assert not any("version" in action for action in store.sent[0])
    assert store.seen == 2, "one look before, one after"


def test_a_generation_gets_the_packed_field_only_if_it_has_it() -> None:
    new = generation(2, OLD, packed=1)
    store = Looks(Generations(live=V1, next=new))
    write(store)
    kinds = [
        [a["_index"].split("-")[1] for a in sent if "packed" in a["_source"]] for sent in store.sent
    ]
    assert kinds == [[], ["units", "sentences", "sentences"]]


def test_nothing_to_write_needs_no_look() -> None:
    store = Looks(ALONE)
    assert store.write([], []).written == 0
    assert store.seen == 0


def test_the_next_one_gets_it_under_the_sequence_number_with_its_own_vectors() -> None:
    store = Looks(BUILDING)
    assert write(store).written == 4, "what answers is counted"
    assert store.targets() == [{"v1"}, {"v2"}]
    assert [(a["version"], a["version_type"]) for a in store.sent[1]] == [
        (number, "external") for number in (11, 12, 13, 14)
    ]
    for first, second in zip(*store.sent, strict=True):
        same = {name: value for name, value in first["_source"].items() if name != "vector"}
        assert {n: v for n, v in second["_source"].items() if n != "vector"} == same
        if "vector" in first["_source"]:
            expected = NEW.embed([same["statement"]])[0].tolist()
            assert second["_source"]["vector"] == pytest.approx(expected, abs=2e-3)


def test_a_generation_that_comes_while_it_writes_gets_it_too() -> None:
    store = Looks(ALONE, BUILDING)
    write(store)
    assert store.targets() == [{"v1"}, {"v2"}]
    assert store.sent[1][0]["version"] == 11


def test_a_swap_while_it_writes_changes_nothing() -> None:
    store = Looks(BUILDING, SWAPPED)
    write(store)
    assert store.targets() == [{"v1"}, {"v2"}]


def test_a_whole_rebuild_between_two_looks_is_made_good() -> None:
    store = Looks(ALONE, SWAPPED)
    assert write(store).written == 4
    assert store.targets() == [{"v1"}, {"v2"}]
    assert "version" not in store.sent[1][0], "a number of the old one means nothing there"


@pytest.mark.parametrize("error", [StoreNotInstalled("gone"), StoreRejected("dims")])
def test_a_write_to_a_dropped_generation_goes_to_the_new_one(error: Exception) -> None:
    store = Looks(ALONE, SWAPPED)
    store.failing[1] = error
    write(store)
    assert store.targets() == [{"v1"}, {"v2"}]


def test_a_write_that_fails_on_its_own_account_is_told() -> None:
    store = Looks(ALONE)
    store.failing[1] = StoreRejected("bad mapping")
    with pytest.raises(StoreRejected, match="bad mapping"):
        write(store)
    assert len(store.sent) == 1


def test_a_cancel_while_it_writes_is_no_failure() -> None:
    store = Looks(BUILDING, ALONE)
    store.failing[2] = StoreNotInstalled("cancelled")
    assert write(store).written == 4


def test_generations_that_never_rest_are_an_error() -> None:
    store = Looks(*[Generations(live=generation(n, OLD)) for n in range(1, 20)])
    with pytest.raises(StoreConflict, match="again and again"):
        write(store)


def unavailable(spec: Any) -> HashEmbedder:
    raise ModelUnavailable("not here")


@pytest.mark.parametrize("native", [OLD, None])
def test_without_its_model_the_next_one_is_left_to_the_copier(native: Any) -> None:
    store = Looks(BUILDING, native=native, make=unavailable)
    assert write(store).written == 4
    assert store.targets() == [{"v1"}]


def test_but_not_once_it_answers() -> None:
    store = Looks(BUILDING, SWAPPED, make=unavailable)
    with pytest.raises(ModelUnavailable):
        write(store)


# ---------------------------------------------------------------- second vectors

MANY = {"model": "many-8", "dims": 8, "embedder": {"model": "many"}}
GERMAN = "Der Fluss fließt durch das alte Dorf und weiter bis zum Meer."


class LoadedByItsFirstText(HashEmbedder):
    """As the encoder out of a package: known by name before anybody knows that it is not here."""

    def embed(self, texts: Sequence[str]) -> Any:
        raise ModelUnavailable("its package is not here")


def with_german(store: Looks) -> Any:
    first, *others = ONE.addresses
    german = first.model_copy(update={"body": {**first.body, "statement": GERMAN}})
    return store.write([german, *others], ONE.passages)


def seconds(store: Looks) -> list[list[str]]:
    """Statements with a second vector, by bulk request."""
    return [
        [a["_source"]["statement"] for a in sent if "multilingual_vector" in a["_source"]]
        for sent in store.sent
    ]


def test_a_generation_gets_second_vectors_only_if_it_has_the_field() -> None:
    store = Looks(Generations(live=V1, next=generation(2, OLD, multilingual=MANY)),
                  make=lambda spec: HashEmbedder(8, name=spec["model"]))  # fmt: skip
    with_german(store)
    assert seconds(store) == [[], [GERMAN]]
    store = Looks(Generations(live=generation(1, OLD, multilingual=MANY)),
                  make=lambda spec: HashEmbedder(8, name=spec["model"]))  # fmt: skip
    with_german(store)
    assert seconds(store) == [[GERMAN]]


ABSENT = [
    unavailable,
    lambda spec: LoadedByItsFirstText(8, name="many"),
    lambda spec: HashEmbedder(8, name="moved"),
]


@pytest.mark.parametrize("make", ABSENT)
def test_without_the_second_encoder_the_next_one_is_left_to_the_copier(make: Any) -> None:
    coming = generation(2, OLD, multilingual=MANY)
    store = Looks(Generations(live=V1, next=coming), make=make)
    assert with_german(store).written == 4
    assert store.targets() == [{"v1"}]


@pytest.mark.parametrize("make", ABSENT)
def test_but_what_answers_is_never_written_without_it(make: Any) -> None:
    store = Looks(Generations(live=generation(1, OLD, multilingual=MANY)), make=make)
    with pytest.raises((ModelUnavailable, IndexMismatch)):
        with_german(store)
    assert store.sent == []


@pytest.mark.parametrize("make", ABSENT)
def test_english_alone_is_written_without_it(make: Any) -> None:
    here = generation(1, OLD, multilingual=MANY)
    coming = generation(2, OLD, multilingual=MANY)
    store = Looks(Generations(live=here, next=coming), make=make)
    assert write(store).written == 4
    assert store.targets() == [{"v1"}, {"v2"}]
    assert seconds(store) == [[], []]


def test_statements_of_another_version_are_left_to_the_copier_and_never_written_live() -> None:
    worded = generation(2, OLD, statement_version="other")
    store = Looks(Generations(live=V1, next=worded))
    write(store)
    assert store.targets() == [{"v1"}]
    with pytest.raises(IndexMismatch, match="statements of version other"):
        write(Looks(Generations(live=worded)))


# ---------------------------------------------------------------- purges


def ref(record: str, number: int, *, building: bool = False) -> RecordRef:
    return RecordRef(
        document_key=ONE.entry.key, family="units", id=record, passage_id="gone",
        index=f"r-units-v{number}", guard=GUARD, building=building,
    )  # fmt: skip


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Deletes that succeed unless ``kept``; records that stand; one registry entry."""

    server = SimpleNamespace(
        deleted=[], kept=set(), standing=set(), entries={ONE.entry.key: ONE.entry}
    )

    def delete(store: Any, rows: Any) -> list[bool]:
        asked = [(index, name) for index, name, _ in rows]
        server.deleted.append(asked)
        return [one not in server.kept for one in asked]

    def mget(client: Any, docs: Any, doing: str) -> list[dict[str, Any]]:
        found = [d for d in docs if (d["_index"], d["_id"]) in server.standing]
        return [{**d, "_seq_no": 3, "_primary_term": 1} for d in found]

    monkeypatch.setattr(purging, "delete_guarded", delete)
    monkeypatch.setattr(purging.realtime, "mget", mget)
    monkeypatch.setattr(purging, "entries_of", lambda store, keys: server.entries)
    return server


def test_a_purge_deletes_what_it_is_given_and_looks_once(server: Any) -> None:
    store = Looks(ALONE)
    assert store.purge([ref("a", 1), ref("b", 1)]) == 2
    assert server.deleted == [[("r-units-v1", "a"), ("r-units-v1", "b")]]
    assert store.seen == 1
    assert store.purge([]) == 0


def test_only_what_answered_is_counted(server: Any) -> None:
    assert Looks(BUILDING).purge([ref("a", 1), ref("a", 2, building=True)]) == 1
    assert len(server.deleted) == 1, "both were listed: nothing is looked for elsewhere"


def test_a_generation_that_the_listing_did_not_see_is_purged_too(server: Any) -> None:
    server.standing = {("r-units-v2", "a"), ("r-units-v2", "b")}
    server.kept = {("r-units-v1", "b")}
    assert Looks(BUILDING).purge([ref("a", 1), ref("b", 1)]) == 1
    assert server.deleted[1] == [("r-units-v2", "a")], "b was rewritten: it is no longer stale"


def test_after_a_swap_what_the_registry_lists_by_now_stays(server: Any) -> None:
    server.standing = {("r-units-v2", "a"), ("r-units-v2", "b")}
    listed = ref("b", 1).model_copy(update={"passage_id": ONE.passage.id})
    Looks(SWAPPED).purge([ref("a", 1), listed])
    assert server.deleted[1] == [("r-units-v2", "a")]


# ---------------------------------------------------------------- searches


def test_a_pinned_search_names_its_indices_and_says_when_they_are_gone() -> None:
    store = Looks(SWAPPED)
    store._held = V1
    assert store._searched() == ["r-units-v1", "r-sentences-v1"]
    assert store.generation == "v1"
    with pytest.raises(GenerationGone, match="v1") as told:
        store._raise_gone(StoreTimeout("a shard failed"))
    assert isinstance(told.value.__cause__, StoreTimeout)


def test_a_failure_of_a_generation_that_answers_is_its_own() -> None:
    store = Looks(BUILDING)
    store._raise_gone(StoreTimeout("unpinned"))
    store._held = V1
    store._raise_gone(StoreTimeout("slow"))
    store._held = None
    assert store._searched() == ["r-units", "r-sentences"]
    assert store.generation == ""


def test_rounds_are_bounded() -> None:
    assert writing.ROUNDS is generations.ROUNDS
    assert 2 < generations.ROUNDS < 20
