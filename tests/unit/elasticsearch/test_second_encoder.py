"""Whether a pinned store has texts in other languages for somebody, and by which encoder."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from resin_es.adapters.elasticsearch import ElasticsearchStore
from resin_es.errors import GenerationGone, StoreTimeout
from resin_es.index.embedders import EmbedderBook
from resin_es.index.generations import Generation, Generations
from resin_es.index.multilingual import FIELD, META
from resin_es.index.names import EVIDENCE_FAMILIES
from resin_es.index.settings import StoreSettings
from resin_es.model import Principal
from resin_es.ports import MultilingualStore
from resin_es.testing.hash_embedder import HashEmbedder

NATIVE, SECOND = HashEmbedder(4), HashEmbedder(8, name="second")
ANYONE, STAFF = Principal(), Principal(groups=frozenset({"staff"}))


def generation(number: int, second: bool = True) -> Generation:
    told = {META: {"model": "second-8", "dims": 8, "embedder": {"kind": "second"}}}
    built = {"model": "hash-4", "dims": 4, **(told if second else {})}
    return Generation(
        indices={f: f"r-{f}-v{number}" for f in EVIDENCE_FAMILIES},
        addresses={f: f"r-{f}-v{number}-own" for f in EVIDENCE_FAMILIES},
        metas=dict.fromkeys(EVIDENCE_FAMILIES, built),
    )


class Client:
    """Has texts in other languages for who sees one of ``groups``."""

    def __init__(self, *groups: str, answer: dict[str, Any] | None = None) -> None:
        self.groups, self.answer = set(groups), answer
        self.asked: list[dict[str, Any]] = []

    def search(self, **body: Any) -> SimpleNamespace:
        self.asked.append(body)
        (terms,) = [c["terms"]["access"] for c in body["query"]["bool"]["filter"] if "terms" in c]
        total = {"value": int(bool(self.groups & set(terms)))}
        return SimpleNamespace(body=self.answer or {"hits": {"total": total}})


class Store(ElasticsearchStore):
    def __init__(self, client: Client, held: Generation | None, live: Generation | None = None):
        self.made: list[Any] = []

        def make(spec: Any) -> HashEmbedder:
            self.made.append(spec)
            return SECOND

        book = EmbedderBook(lambda: NATIVE, make)
        super().__init__(client, StoreSettings(prefix="r"), book)  # type: ignore[arg-type]
        self._held, self._live = held, live or held

    def generations(self) -> Generations:
        assert self._live is not None
        return Generations(live=self._live)


@pytest.fixture(autouse=True)
def _plain_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resin_es.adapters.elasticsearch.errors.where", lambda client: "here")


def test_the_look_is_small_and_fenced() -> None:
    client = Client("*")
    store = Store(client, generation(1))
    assert isinstance(store, MultilingualStore)
    assert store.second_encoder(STAFF) is SECOND
    assert store.made == [{"kind": "second"}]
    (asked,) = client.asked
    clauses = asked["query"]["bool"]["filter"]
    assert {"exists": {"field": FIELD}} in clauses
    assert {"terms": {"access": ["*", "staff"]}} in clauses
    assert asked["index"] == ["r-units-v1", "r-sentences-v1"], "those that are searched"
    assert (asked["size"], asked["terminate_after"]) == (0, 1)


def test_who_may_find_none_loads_no_encoder_and_does_not_spoil_it_for_others() -> None:
    client = Client("staff")
    store = Store(client, generation(1))
    assert store.second_encoder(ANYONE) is None
    assert store.made == []
    assert store.second_encoder(STAFF) is SECOND
    assert store.second_encoder(ANYONE) is None
    assert len(client.asked) == 3, "None is looked for again: something may have been indexed"
    assert store.second_encoder(STAFF) is SECOND
    assert len(client.asked) == 3, "what was there once is not looked for again"


@pytest.mark.parametrize("held", [None, generation(1, second=False)])
def test_without_second_vectors_nothing_is_looked_for(held: Generation | None) -> None:
    client = Client("*")
    store = Store(client, held)
    assert store.second_encoder(STAFF) is None
    assert client.asked == []
    assert store.made == []


def test_a_look_at_a_generation_that_was_dropped_says_so() -> None:
    late = Client("*", answer={"error": {"type": "shard"}, "status": 503})
    with pytest.raises(GenerationGone, match="v1"):
        Store(late, generation(1), live=generation(2)).second_encoder(STAFF)


def test_a_look_that_did_not_see_all_is_no_no() -> None:
    late = Client("*", answer={"timed_out": True, "hits": {"total": {"value": 0}}})
    with pytest.raises(StoreTimeout):
        Store(late, generation(1)).second_encoder(STAFF)
