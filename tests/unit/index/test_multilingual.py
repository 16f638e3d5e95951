"""The second vector: who gets one, by whom, and what an index says of it. No server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.errors import IndexMismatch, ModelUnavailable
from resin_es.extract.language import in_another_language
from resin_es.index.embedders import EmbedderBook
from resin_es.index.multilingual import (
    FIELD,
    SecondEncoder,
    any_body,
    second_encoder_of,
    second_of,
    with_second_vectors,
    without_second_vector,
)
from resin_es.index.rebuilt import built_with, described, in_words
from resin_es.index.vectors import unpack, vector_key
from resin_es.ports import ModelIdentity
from resin_es.testing.hash_embedder import HashEmbedder

GERMAN = "Der Fluss fließt durch das alte Dorf und weiter bis zum Meer."
RUSSIAN = "Река течёт через старую деревню и дальше к морю."
ENGLISH = "The river runs through the old village and on to the sea."
NAMES = "Canis lupus, Felis catus"


class Asked(HashEmbedder):
    """Notes what it is asked for."""

    def __init__(self, dims: int = 8, name: str = "many") -> None:
        super().__init__(dims, name=name, seed=name)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return super().embed(texts)


class Cache(dict[str, bytes]):
    def get_all(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        return {key: self[key] for key in keys if key in self}


def body(text: str, **more: Any) -> dict[str, Any]:
    return {"statement": text, "vector": [1.0, 0.0], **more}


def given_second(bodies: Sequence[Mapping[str, Any]], encoder: Asked, cache: Cache) -> Any:
    return with_second_vectors(bodies, lambda: encoder, cache.get_all, cache.update)


def refused() -> Any:
    raise ModelUnavailable("not here")


def test_what_is_in_another_language_gets_one_and_nothing_else_does() -> None:
    encoder, cache = Asked(), Cache()
    bodies = [body(ENGLISH), body(GERMAN), body(NAMES), body(RUSSIAN), body(GERMAN)]
    made = given_second(bodies, encoder, cache)
    assert [FIELD in one for one in made] == [False, True, False, True, True]
    assert encoder.texts == [GERMAN, RUSSIAN], "each text once"
    for before, after in zip(bodies, made, strict=True):
        assert {name: value for name, value in after.items() if name != FIELD} == before
        assert FIELD not in before, "what was given stays as it is"
    expected = HashEmbedder.embed(encoder, [GERMAN])[0]
    assert made[1][FIELD] == pytest.approx(expected.tolist(), abs=2e-3)
    assert made[1][FIELD] == made[4][FIELD]
    assert all(type(value) is float for value in made[1][FIELD])


def test_its_vectors_are_kept_by_its_own_name() -> None:
    encoder, cache = Asked(), Cache()
    first = given_second([body(GERMAN)], encoder, cache)
    [key] = cache
    assert key == vector_key(encoder.identity, GERMAN)
    assert unpack(cache[key]).tolist() == pytest.approx(first[0][FIELD])
    assert given_second([body(GERMAN)], encoder, cache) == first
    assert encoder.texts == [GERMAN], "the second time it came out of the cache"


def test_english_alone_never_asks_for_the_encoder() -> None:
    bodies = [body(ENGLISH), body(NAMES), body("")]
    cache = Cache()
    assert with_second_vectors(bodies, refused, cache.get_all, cache.update) == bodies
    with pytest.raises(ModelUnavailable):
        with_second_vectors([*bodies, body(GERMAN)], refused, cache.get_all, cache.update)


def test_a_vector_that_a_text_brings_along_never_stays() -> None:
    stale = [body(ENGLISH, **{FIELD: [9.0]}), body(GERMAN, **{FIELD: [9.0]})]
    made = given_second(stale, Asked(), Cache())
    assert FIELD not in made[0]
    assert len(made[1][FIELD]) == 8
    assert without_second_vector(stale[0]) == body(ENGLISH)
    assert stale[0][FIELD] == [9.0]


@given(st.lists(st.text(max_size=200), max_size=4))
def test_any_text_gets_one_just_where_it_is_in_another_language(texts: list[str]) -> None:
    encoder = Asked()
    made = given_second([body(text) for text in texts], encoder, Cache())
    assert [FIELD in one for one in made] == [in_another_language(text) for text in texts]
    assert {*encoder.texts} == {text for text in texts if in_another_language(text)}


def test_the_search_for_any_looks_through_what_the_asker_may_read_alone() -> None:
    may_read = {"terms": {"access": ["*", "red"]}}
    assert any_body([may_read]) == {
        "query": {"bool": {"filter": [{"exists": {"field": "multilingual_vector"}}, may_read]}},
        "size": 0,
        "terminate_after": 1,
        "track_total_hits": 1,
    }


# ---------------------------------------------------------------- what an index says

MANY = SecondEncoder(model=ModelIdentity(name="many", dims=8), embedder={"kind": "k"})


def test_what_an_index_says_leads_back_to_the_encoder() -> None:
    assert MANY.meta == {"model": "many", "dims": 8, "embedder": {"kind": "k"}}
    assert second_of({"multilingual": MANY.meta}) == MANY.meta
    assert second_encoder_of({"multilingual": MANY.meta}) == MANY
    assert second_of({"model": "one"}) is None
    assert second_encoder_of({"model": "one"}) is None


def test_a_rebuild_tells_of_it_and_of_its_lack() -> None:
    meta = {"schema": 2, "model": "one", "dims": 4, "embedder": {}, "multilingual": MANY.meta}
    assert built_with(meta) == {"model": "one", "dims": 4, "schema": 2, "multilingual": "many"}
    assert described(meta) == "model one, dims 4, schema 2, multilingual many"
    del meta["multilingual"]
    assert built_with(meta) == {"model": "one", "dims": 4, "schema": 2, "multilingual": None}
    assert in_words(built_with(meta)).endswith(", multilingual none")
    assert built_with({"model": "one", "dims": 4}) == {"model": "one", "dims": 4}, (
        "of what was replaced nobody remembers it"
    )
    assert built_with({}) == {}


# ---------------------------------------------------------------- loading it

META = {"model": "hash-4", "dims": 4, "multilingual": {**MANY.meta, "model": "many-8"}}


def test_the_encoder_is_loaded_once_by_what_the_index_says() -> None:
    specs: list[Any] = []

    def make(spec: Any) -> HashEmbedder:
        specs.append(spec)
        return Asked()

    book = EmbedderBook(lambda: HashEmbedder(4), make)
    encoder = book.second(META)
    assert encoder.identity.name == "many-8"
    assert book.second(META) is encoder
    assert specs == [{"kind": "k"}]
    assert book.embedder(META).identity.name == "hash-4"


def test_a_book_needs_no_first_model_for_the_second() -> None:
    book = EmbedderBook(refused, lambda spec: Asked())
    assert book.second(META).identity.dims == 8


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"model": "other-8", "dims": 8, "embedder": {"kind": "k"}}, "other-8.*here many-8"),
        ({"model": "many-8", "dims": 16, "embedder": {"kind": "k"}}, "16 dims.*here many-8, 8"),
        ({"model": "many-8", "dims": 8}, "does not say how to load it"),
    ],
)
def test_another_encoder_than_the_index_was_built_with_is_refused(told: Any, message: str) -> None:
    book = EmbedderBook(lambda: HashEmbedder(4), lambda spec: Asked())
    with pytest.raises(IndexMismatch, match=message) as error:
        book.second({**META, "multilingual": told})
    assert "resin-es rebuild" in error.value.hint
    assert "RESIN_EMBEDDER_MODEL" not in error.value.hint, "that setting names the first one"


def test_what_cannot_be_loaded_now_may_be_later() -> None:
    makes = iter([ModelUnavailable("not here"), Asked()])

    def make(spec: Any) -> Any:
        made = next(makes)
        if isinstance(made, Exception):
            raise made
        return made

    book = EmbedderBook(lambda: HashEmbedder(4), make)
    with pytest.raises(ModelUnavailable):
        book.second(META)
    assert book.second(META).identity.name == "many-8"


def test_an_index_without_one_has_none_to_load() -> None:
    with pytest.raises(ValueError, match="no second"):
        EmbedderBook(lambda: HashEmbedder(4), lambda spec: Asked()).second({"model": "hash-4"})
