"""Whom a store tells of the second encoder, and how long it keeps that in mind. No server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from resin_es.adapters.elasticsearch import ElasticsearchStore, generations
from resin_es.errors import GenerationGone, StoreTimeout
from resin_es.index.embedders import EmbedderBook
from resin_es.index.generations import Generation, Generations
from resin_es.index.names import EVIDENCE_FAMILIES
from resin_es.index.settings import StoreSettings
from resin_es.model import Principal
from resin_es.testing.hash_embedder import HashEmbedder

FIRST, MANY = HashEmbedder(4), HashEmbedder(8, name="many")
META = {"model": "hash-4", "dims": 4}
SECOND = {"multilingual": {"model": "many-8", "dims": 8, "embedder": {"model": "many"}}}


def generation(number: int, **meta: Any) -> Generation:
    return Generation(
        indices={f: f"r-{f}-v{number}" for f in EVIDENCE_FAMILIES},
        addresses={},
        metas={f: {**META, **meta} for f in EVIDENCE_FAMILIES},
    )


class Client:
    """Answers every search with the hits that it is to find; may fail."""

    def __init__(self) -> None:
        self.found, self.asked = 1, list[Any]()
        self.error: Exception | None = None

    def search(self, *, index: Sequence[str], **body: Any) -> Any:
        self.asked.append((list(index), body))
        if self.error:
            raise self.error
        return type("Answer", (), {"body": {"hits": {"total": {"value": self.found}}}})


def store(client: Client, held: Generation | None, book: bool = True) -> ElasticsearchStore:
    loads = EmbedderBook(lambda: FIRST, lambda spec: MANY) if book else None
    made = ElasticsearchStore(client, StoreSettings(prefix="r"), loads)  # type: ignore[arg-type]
    made._held = held
    return made


def group(name: str) -> Principal:
    return Principal(groups=frozenset({name}))


def test_the_search_is_over_the_held_indices_and_what_the_asker_may_read() -> None:
    client = Client()
    assert store(client, generation(3, **SECOND)).second_encoder(group("red")) is MANY
    [(indices, body)] = client.asked
    assert indices == ["r-units-v3", "r-sentences-v3"]
    clauses = body["query"]["bool"]["filter"]
    assert clauses[0] == {"exists": {"field": "multilingual_vector"}}
    assert "red" in str(clauses[1:])
    assert (body["size"], body["terminate_after"]) == (0, 1)


@pytest.mark.parametrize(
    ("held", "book"),
    [(None, True), (generation(1), True), (generation(1, **SECOND), False)],
)
def test_nobody_is_asked_where_there_is_nothing_to_tell(held: Any, book: bool) -> None:
    client = Client()
    assert store(client, held, book).second_encoder(group("red")) is None
    assert client.asked == []


def test_what_was_found_is_kept_in_mind_and_what_was_not_is_asked_again() -> None:
    client = Client()
    one = store(client, generation(1, **SECOND))
    client.found = 0
    assert [one.second_encoder(group("red")) for _ in range(2)] == [None, None]
    client.found = 1
    assert [one.second_encoder(group("red")) for _ in range(2)] == [MANY, MANY]
    assert len(client.asked) == 3
    one.second_encoder(group("blue"))
    one.second_encoder(Principal(admin=True))
    one.second_encoder(Principal())
    assert len(client.asked) == 6, "each asker for himself"
    one._held = generation(2, **SECOND)
    one.second_encoder(group("red"))
    assert len(client.asked) == 7, "of another generation nothing is known yet"


def test_mind_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "REMEMBERED", 3)
    client = Client()
    one = store(client, generation(1, **SECOND))
    shared = one._in_other_languages
    for number in range(10):
        assert one.second_encoder(group(f"g{number}")) is MANY
        assert 0 < len(shared) <= 3
    assert one._in_other_languages is shared, "pinned stores hold the same"


def test_a_dropped_generation_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    client.error = StoreTimeout("a shard failed")
    one = store(client, generation(1, **SECOND))
    monkeypatch.setattr(one, "generations", lambda: Generations(live=generation(2, **SECOND)))
    with pytest.raises(GenerationGone):
        one.second_encoder(group("red"))
    monkeypatch.setattr(one, "generations", lambda: Generations(live=generation(1, **SECOND)))
    with pytest.raises(StoreTimeout):
        one.second_encoder(group("red"))
