"""Second vectors: what is asked for, how their hits stand beside the others, what words count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from resin_es.index.filters import Filters, address_filter
from resin_es.index.multilingual import FIELD
from resin_es.model import Hop, Principal
from resin_es.ports import SearchHit, SearchResponse
from resin_es.query import hits
from resin_es.query.found import Found, by_reference, vector_reference, with_vectors
from resin_es.query.hits import SPREAD, Address, comparable
from resin_es.query.hop import hop_body
from resin_es.query.links import Name, link_clause
from resin_es.query.ranking import ALONE, LEXICAL_SHARE, document_scores, standard
from resin_es.query.settings import MAX_WINDOW, QuerySettings

SETTINGS = QuerySettings(
    k=5, dense=20, num_candidates=50, pool=30, dense_boost=1000.0, multilingual=7
)
ACCESS = [{"terms": {"access": ["*", "staff"]}}, {"terms": {"source": ["files"]}}]
CLAUSES = address_filter(Principal(groups=frozenset({"staff"})), Filters(sources=("files",)))
OWN, SECOND = [0.5, -0.5], [0.25, 0.75, 0.0]


def body(settings: QuerySettings = SETTINGS, **more: Any) -> dict[str, Any]:
    return hop_body("fare", OWN, CLAUSES, settings, second=SECOND, **more)


# ---------------------------------------------------------------- the request


def test_the_body_with_a_second_vector_differs_by_one_clause_and_its_hits() -> None:
    near = {"k": 20, "num_candidates": 50, "boost": 1000.0, "filter": ACCESS}
    asked = body(kinds=("entity-fact",))
    alone = hop_body("fare", OWN, CLAUSES, SETTINGS, ("entity-fact",))
    assert asked == {
        **alone,
        "knn": [
            {**near, "field": "vector", "query_vector": OWN, "_name": "dense"},
            {
                **near,
                "field": FIELD,
                "query_vector": SECOND,
                "k": 7,
                "num_candidates": 37,
                "_name": "multilingual",
            },
        ],
        "size": alone["size"] + 7,
    }
    assert alone["knn"] == asked["knn"][0], "without one the body is what it always was"


def filters_of(asked: Mapping[str, Any]) -> list[Any]:
    return [asked["query"]["bool"]["filter"], *(one["filter"] for one in asked["knn"])]


def test_the_access_filter_stands_in_all_three_places_and_is_not_shared() -> None:
    told = filters_of(body())
    assert told == [ACCESS] * 3
    assert len({id(one) for one in told}) == 3
    assert len({id(clause) for one in told for clause in one}) == 3 * len(ACCESS)


def test_a_bridged_hop_keeps_both_vectors_to_what_is_linked() -> None:
    link = link_clause([Name("Orvane Works", "orvane works", "u1", {"d": 1.0})])
    in_query, *in_knn = filters_of(body(link=link))
    assert in_knn == [[*ACCESS, link]] * 2
    assert in_query == ACCESS
    assert body(link=link)["query"]["bool"]["must"] == [link]


@given(
    st.integers(1, MAX_WINDOW),
    st.integers(1, MAX_WINDOW),
    st.integers(1, MAX_WINDOW),
    st.integers(1, MAX_WINDOW),
    st.integers(1, MAX_WINDOW),
)
@example(10, 600, 700, 650, MAX_WINDOW)
def test_no_settings_ask_for_more_than_the_server_gives(
    k: int, dense: int, candidates: int, pool: int, more: int
) -> None:
    asked = body(
        QuerySettings(k=k, dense=dense, num_candidates=candidates, pool=pool, multilingual=more)
    )
    assert asked["size"] <= MAX_WINDOW
    for clause in asked["knn"]:
        assert 1 <= clause["k"] <= clause["num_candidates"] <= MAX_WINDOW
    assert asked["knn"][1]["k"] == more


# ---------------------------------------------------------------- vectors by name


def test_every_vector_of_a_body_is_named_and_put_back() -> None:
    asked = body()
    named = by_reference(asked)
    assert [one["query_vector"] for one in named["knn"]] == [
        vector_reference(OWN),
        vector_reference(SECOND),
    ]
    assert by_reference(named) == named, "a name is not named again"
    known = {vector_reference(OWN): OWN, vector_reference(SECOND): SECOND}
    assert with_vectors(named, known.__getitem__) == asked
    assert [one["query_vector"] for one in asked["knn"]] == [OWN, SECOND], "the body is left alone"


def test_a_clause_alone_stands_without_a_list() -> None:
    named = by_reference(hop_body("fare", OWN, CLAUSES, SETTINGS))
    assert named["knn"]["query_vector"] == vector_reference(OWN)


# ---------------------------------------------------------------- one scale


def dense(*parts: Mapping[str, float]) -> list[float | None]:
    return [part.get("dense") for part in comparable(parts)]


def test_a_second_vector_s_hits_stand_as_far_from_the_middle_as_they_do_from_their_own() -> None:
    """First .9 and .7: .8, give or take .1. Second .86 and .84: .85, give or take .01."""
    own = {"dense": 0.9}, {"dense": 0.7}
    told = dense(*own, {"multilingual": 0.86}, {"multilingual": 0.84, "lexical": 3.0})
    assert told == pytest.approx([0.9, 0.7, 0.8 + 0.1 * SPREAD, 0.8 - 0.1 * SPREAD])


def test_what_both_brought_takes_the_nearer() -> None:
    told = dense({"dense": 0.9, "multilingual": 0.84}, {"dense": 0.7, "multilingual": 0.86})
    assert told == pytest.approx([0.9, 0.8 + 0.1 * SPREAD])


def test_the_words_of_a_hit_and_where_it_came_from_stay() -> None:
    parts = {"dense": 0.9}, {"lexical": 2.0}, {"multilingual": 0.8, "lexical": 3.0, "kind": 0.5}
    told = comparable(parts)
    assert told[:2] == list(parts[:2])
    assert {k: v for k, v in told[2].items() if k != "dense"} == parts[2]


def test_without_second_hits_nothing_changes() -> None:
    parts = [{"dense": 0.9}, {"lexical": 3.0}, {}]
    assert comparable(parts) is parts
    assert comparable([]) == []


def test_second_hits_alone_keep_their_own_scale() -> None:
    assert dense({"multilingual": 0.8}, {"lexical": 1.0}, {"multilingual": 0.6}) == [0.8, None, 0.6]


@pytest.mark.parametrize(
    ("own", "second", "placed"),
    [
        ([0.9, 0.7], [0.85, 0.85], 0.8),
        ([0.9, 0.7], [0.85], 0.8),
        ([0.6, 0.6], [0.9, 0.8], 0.6),
    ],
)
def test_where_nothing_differs_a_hit_stands_in_the_middle(
    own: list[float], second: list[float], placed: float
) -> None:
    told = dense(*({"dense": v} for v in own), *({"multilingual": v} for v in second))
    assert told[len(own) :] == pytest.approx([placed] * len(second))


def test_none_falls_below_what_a_cosine_can_be() -> None:
    own = {"dense": 1.0}, {"dense": 0.0}
    told = dense(*own, *[{"multilingual": 0.9}] * 9, {"multilingual": 0.5})
    assert told[-1] == 0.0


cosines = st.floats(0, 1)
anything = st.lists(
    st.fixed_dictionaries({}, optional={"dense": cosines, "multilingual": cosines}), max_size=12
)


@given(anything)
def test_any_parts_stay_cosines_in_the_order_of_their_encoder(
    parts: Sequence[Mapping[str, float]],
) -> None:
    told = comparable(parts)
    assert all(0.0 <= p["dense"] <= 1.0 and isfinite(p["dense"]) for p in told if "dense" in p)
    assert [p.get("multilingual") for p in told] == [p.get("multilingual") for p in parts]
    for before, after in zip(parts, told, strict=True):
        if "multilingual" not in before:
            assert after == before
        elif "dense" in before:
            assert after["dense"] >= before["dense"]
    alone = [
        p for p, b in zip(told, parts, strict=True) if "multilingual" in b and "dense" not in b
    ]
    line = sorted(alone, key=lambda p: p["multilingual"])
    assert all(low["dense"] <= high["dense"] + 1e-12 for low, high in pairwise(line))


# ---------------------------------------------------------------- ranked


def hit(name: str, **parts: float) -> SearchHit:
    source = {"kind": "sentence", "passage_id": name, "document_key": name, "sentence_ids": [name]}
    return SearchHit(id=name, score=1.0, parts=parts, source=source)


def test_ranked_hits_tell_which_vector_brought_them() -> None:
    settings = SETTINGS.model_copy(update={"lexical_weight": 0.0})
    found = hits.ranked(
        SearchResponse(
            hits=(
                hit("near", dense=900.0),
                hit("far", dense=700.0),
                hit("tr", multilingual=860.0),
                hit("es", multilingual=840.0),
                hit("word", lexical=4.0),
            )
        ),
        settings,
    )
    by_name = {one.address_id: one for one in found}
    assert {n for n, one in by_name.items() if one.multilingual} == {"tr", "es"}
    assert by_name["tr"].dense == pytest.approx(0.8 + 0.1 * SPREAD), "the boost is taken out"
    assert by_name["tr"].score == pytest.approx(2 * (0.8 + 0.1 * SPREAD) - 1)
    assert by_name["word"].dense is None
    order = [one.address_id for one in found]
    assert order.index("tr") < order.index("es")
    assert by_name["tr"].candidate().multilingual
    assert not by_name["near"].candidate().multilingual


def test_the_boost_is_taken_out_of_second_hits_alone_too() -> None:
    (only,) = hits.ranked(SearchResponse(hits=(hit("tr", multilingual=860.0),)), SETTINGS)
    assert only.dense == pytest.approx(0.86)


def test_a_server_that_tells_no_parts_is_taken_at_its_order() -> None:
    found = hits.ranked(SearchResponse(hits=(hit("b"), hit("a"))), SETTINGS)
    assert [(one.address_id, one.multilingual, one.dense) for one in found] == [
        ("b", False, None),
        ("a", False, None),
    ]


# ---------------------------------------------------------------- documents


def address(key: str, cosine: float, *, multilingual: bool = False, number: int = 0) -> Address:
    name = f"{key}-{number}"
    return Address(
        name, "sentence", name, key, key, "files", (name,), 2 * cosine - 1, cosine,
        multilingual=multilingual,
    )  # fmt: skip


FOUND = [
    address("en", 0.9),
    address("en", 0.8, number=1),
    address("tr", 0.9, multilingual=True),
    address("tr", 0.8, multilingual=True, number=1),
    address("other", 0.6),
    address("other", 0.5, number=1),
]
WORDS = {"en": 6.0, "other": 3.0}


def test_a_document_in_another_language_loses_nothing_by_its_words() -> None:
    keys = ["en", "other", "tr"]
    best = dict(zip(keys, standard([0.8, 0.2, 0.8]), strict=True))
    two = dict(zip(keys, standard([0.8 + 0.6, 0.2 + 0.0, 0.8 + 0.6]), strict=True))
    words = dict(zip(keys, standard([6.0, 3.0, 0.0]), strict=True))
    within = document_scores(FOUND, WORDS)
    across = document_scores(FOUND, WORDS, across=True)
    assert within["tr"] == pytest.approx(LEXICAL_SHARE * words["tr"] + best["tr"] + two["tr"])
    assert across["tr"] == pytest.approx(ALONE * (best["tr"] + two["tr"]))
    assert across["tr"] > within["tr"]
    for key in ("en", "other"):
        assert across[key] == within[key], "documents in the question's language stay as they are"


def test_names_that_it_shares_count_for_it() -> None:
    shared = {**WORDS, "tr": 9.0}
    across, within = document_scores(FOUND, shared, across=True), document_scores(FOUND, shared)
    words = standard([6.0, 3.0, 9.0])[2]
    assert words > 0
    sentences = within["tr"] - LEXICAL_SHARE * words
    assert across["tr"] == pytest.approx(LEXICAL_SHARE * words + ALONE * sentences)


def test_a_hop_as_searched_says_whether_that_counts() -> None:
    asked = hop_body("fare", OWN, CLAUSES, SETTINGS)
    hop = Hop(id="h1", subquestion="What is the fare?", need="fare")
    for across in (True, False):
        found = Found(hop, asked, None, tuple(FOUND), WORDS, across=across)
        assert found.scores == document_scores(FOUND, WORDS, across=across)


def test_without_a_lexical_list_words_have_no_say_anyway() -> None:
    assert document_scores(FOUND, {}, across=True) == document_scores(FOUND, {})


@pytest.mark.parametrize(("more", "foreign"), [(1, True), (2, False), (3, False)])
def test_a_document_is_in_another_language_if_most_of_its_hits_are(
    more: int, foreign: bool
) -> None:
    """One that quotes a line of another language is none."""
    found = [*FOUND, *(address("tr", 0.55, number=n) for n in range(2, 2 + more))]
    changed = (
        document_scores(found, WORDS, across=True)["tr"] != document_scores(found, WORDS)["tr"]
    )
    assert changed is foreign
