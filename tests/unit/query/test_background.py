"""Few hits of a second vector are measured by sentences that nobody asks about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from resin_es.extract.language import detect_language, in_another_language
from resin_es.model import Principal
from resin_es.ports import Embedder, ModelIdentity
from resin_es.query import background
from resin_es.query.background import SENTENCES, elsewhere
from resin_es.query.hits import FEW, SPREAD, comparable
from resin_es.query.hop import hop_body
from resin_es.query.links import Name, link_clause
from resin_es.query.settings import QuerySettings
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore
from tests.unit.query.conftest import ANYONE, engine_on, near

OWN: tuple[Mapping[str, float], ...] = ({"dense": 0.9}, {"dense": 0.7})
"""Middle .8, deviation .1."""


class Fixed:
    """Puts every question at (1, 0), and the sentences at cosines of .6 and .8 in turn: in [0, 1]
    their middle is .85, their deviation .05."""

    def __init__(self, name: str = "fixed") -> None:
        self.identity = ModelIdentity(name=name, dims=2)
        self.embedded: list[Sequence[str]] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.embedded.append(texts)
        return np.array([(0.6, 0.8), (0.8, 0.6)] * len(texts), np.float32)[: len(texts)]

    def embed_queries(self, texts: Sequence[str]) -> Any:
        return np.array([(1.0, 0.0)] * len(texts), np.float32)


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_kept", {})


# ---------------------------------------------------------------- the sentences


def test_they_are_in_many_languages_and_none_in_english() -> None:
    assert all(in_another_language(one) for one in SENTENCES)
    assert len(set(SENTENCES)) == len(SENTENCES) >= FEW
    assert len({detect_language(one) for one in SENTENCES}) >= 8


# ---------------------------------------------------------------- which hops


def body(**more: Any) -> dict[str, Any]:
    return hop_body("fare", [1.0], [], QuerySettings(), **more)


def test_the_cosines_of_a_hop_s_second_vector_as_the_server_would_tell_them() -> None:
    told = elsewhere(body(second=[1.0, 0.0]), Fixed())
    assert told is not None
    assert told() == pytest.approx([0.8, 0.9] * (len(SENTENCES) // 2))


def test_a_hop_without_a_second_vector_has_none() -> None:
    assert elsewhere(body(), Fixed()) is None
    assert elsewhere(body(second=[1.0, 0.0]), None) is None


def test_a_hop_that_names_narrowed_has_none() -> None:
    link = link_clause([Name("Orvane Works", "orvane works", "u1", {"d": 1.0})])
    assert elsewhere(body(second=[1.0, 0.0], link=link), Fixed()) is None


def test_they_are_embedded_when_they_are_needed_and_once_a_process_for_each_encoder() -> None:
    one, again, other = Fixed(), Fixed(), Fixed("other")
    asked = body(second=[1.0, 0.0])
    told = [elsewhere(asked, encoder) for encoder in (one, again, other)]
    assert one.embedded == again.embedded == other.embedded == []
    for cosines in (*told, *told):
        assert cosines is not None
        assert len(cosines()) == len(SENTENCES)
    assert (len(one.embedded), len(again.embedded), len(other.embedded)) == (1, 0, 1)


# ---------------------------------------------------------------- where hits stand


def beside() -> list[float]:
    return [0.8, 0.9]


@pytest.mark.parametrize("cosine", [0.87, 0.85, 0.81])
def test_a_hit_alone_stands_where_it_does_beside_them(cosine: float) -> None:
    """They: .85, give or take .05."""
    *_, alone = comparable([*OWN, {"multilingual": cosine}], beside)
    assert alone["dense"] == pytest.approx(0.8 + 0.1 * SPREAD * (cosine - 0.85) / 0.05)
    *_, unknown = comparable([*OWN, {"multilingual": cosine}])
    assert unknown["dense"] == pytest.approx(0.8), "by itself it tells nothing"


def test_many_hits_are_measured_by_each_other() -> None:
    def never() -> list[float]:
        raise AssertionError("nobody needs these")

    def parts(count: int) -> list[Mapping[str, float]]:
        return [*OWN, *({"multilingual": 0.7 + n / 100} for n in range(count))]

    assert comparable(parts(FEW), never) == comparable(parts(FEW))
    assert comparable(parts(FEW - 1), beside) != comparable(parts(FEW - 1))
    assert comparable(OWN, never) is OWN
    assert comparable([{"multilingual": 0.8}], never)[0]["dense"] == 0.8


# ---------------------------------------------------------------- questions


class Lone(ScriptedStore):
    """Has a document in another language, for which ``cosine`` is told."""

    def second_encoder(self, principal: Principal) -> Embedder:
        return Fixed()


def lone(cosine: float) -> Lone:
    ferries = ScriptedDocument("ferry", [["Ferries are grey.", "Trams are red.", "It is late."]])
    found = [ferries.hit(0, n, dense=near(0.5 + n / 10)) for n in range(3)]
    foreign = ScriptedDocument("otobus", [["Biletin fiyati uc krondur."]])
    return Lone([ferries, foreign], [*found, foreign.hit(0, 0, multilingual=near(cosine))])


QUESTION = "What is the fare of Bus 14?"


@pytest.mark.parametrize(("cosine", "first"), [(0.95, "otobus"), (0.65, "ferry")])
def test_the_only_foreign_document_is_first_if_it_is_near(cosine: float, first: str) -> None:
    engine = engine_on(lone(cosine))
    assert engine.search(QUESTION, ANYONE).hits[0].candidate.document_id == first
    buffer = engine.retrieve(QUESTION, ANYONE).buffer
    assert buffer.passages[0].document_id == first


@pytest.mark.parametrize("cosine", [0.95, 0.65])
def test_a_replay_measures_as_the_search_did(cosine: float) -> None:
    engine = engine_on(lone(cosine))
    told = engine.replay(engine.ask(QUESTION, ANYONE)[2].id, ANYONE)
    assert [(one.overlap, one.same_order) for one in told] == [(1.0, True)] * len(told)
