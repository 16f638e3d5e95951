"""A small city in a scripted store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from resin_es.model import Principal
from resin_es.ports import SearchHit
from resin_es.query.compose import ExtractiveComposer
from resin_es.query.engine import QueryEngine
from resin_es.query.planner import RulePlanner
from resin_es.query.settings import QuerySettings
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore

BOOST = QuerySettings().dense_boost
ANYONE = Principal()


def near(cosine: float) -> float:
    """What a server reports as the dense part of a hit at this cosine."""
    return (1.0 + cosine) / 2.0 * BOOST


@pytest.fixture
def bus() -> ScriptedDocument:
    return ScriptedDocument(
        "bus-14",
        [
            ["Bus 14 runs from Fernhill to Halden.", "The ride on Bus 14 takes 38 minutes."],
            ["The fare of Bus 14 is 3 crowns.", "Dogs ride free on Bus 14."],
        ],
        title="Bus 14",
    )


@pytest.fixture
def metro() -> ScriptedDocument:
    return ScriptedDocument(
        "metro-b",
        [
            ["Metro Line B runs from Fernhill to Halden.", "The ride takes 26 minutes."],
            ["The fare of Metro Line B is 5 crowns."],
        ],
        title="Metro Line B",
    )


@pytest.fixture
def secret() -> ScriptedDocument:
    return ScriptedDocument(
        "secret-plan",
        [["The secret plan closes Bus 14 in May.", "Nobody is told about the secret plan."]],
        title="Secret plan",
        access=("board",),
    )


@pytest.fixture
def hits(bus: ScriptedDocument, metro: ScriptedDocument) -> list[SearchHit]:
    return [
        bus.hit(1, 0, dense=near(0.8), lexical=6.0),
        bus.hit(0, 1, dense=near(0.7), lexical=3.0),
        metro.hit(1, 0, dense=near(0.6), lexical=2.0),
        metro.hit(0, 1, dense=near(0.5)),
    ]


@pytest.fixture
def store(
    bus: ScriptedDocument,
    metro: ScriptedDocument,
    secret: ScriptedDocument,
    hits: list[SearchHit],
) -> ScriptedStore:
    return ScriptedStore([bus, metro, secret], hits)


def engine_on(store: Any, **settings: Any) -> QueryEngine:
    return QueryEngine(
        store, HashEmbedder(8), RulePlanner(), ExtractiveComposer(), QuerySettings(**settings)
    )


def texts(passages: Sequence[Any]) -> list[str]:
    return [passage.text for passage in passages]
