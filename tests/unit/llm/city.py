"""A small world with a language model in it, for the tests of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from resin_es.llm.composer import ModelComposer
from resin_es.llm.planner import ModelPlanner
from resin_es.model import Principal
from resin_es.ports import ModelCall
from resin_es.query.engine import QueryEngine
from resin_es.query.planner import RulePlanner
from resin_es.query.settings import QuerySettings
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted_language import Answer, ScriptedLanguageModel
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore

ANYONE, STAFF = Principal(), Principal(groups=frozenset({"staff"}))
QUESTION = "What is the fare of Bus 14?"
SAID = "A ride costs three crowns [1.1]. Nobody checks tickets."
PLAN = {
    "mode": "single", "answer_type": "amount", "entities": [], "properties": [], "constraints": [],
    "hops": [
        {"id": "h1", "subquestion": "What is the fare of Bus 14?", "need": "fare",
         "target_terms": ["Bus 14"], "bridge_terms": [], "reasoning_type": "attribute",
         "kinds": [], "depends_on": []},
        {"id": "h2", "subquestion": "Who sets the fare of Bus 14?", "need": "who",
         "target_terms": [], "bridge_terms": ["fare"], "reasoning_type": "relation",
         "kinds": [], "depends_on": ["h1"]},
    ],
}  # fmt: skip


def bus(access: tuple[str, ...] = ("*",)) -> ScriptedDocument:
    return ScriptedDocument(
        "bus-14",
        [["The fare of Bus 14 is 3 crowns.", "Dogs ride free."]],
        title="Bus 14",
        access=access,
    )


def board() -> ScriptedDocument:
    return ScriptedDocument(
        "board", [["The board sets the fare of Bus 14."]], title="Board", access=("staff",)
    )


def world(document: ScriptedDocument | None = None) -> ScriptedStore:
    document, other = document or bus(), board()
    return ScriptedStore(
        [document, other],
        [
            document.hit(0, 0, dense=1.9, kind="entity-fact", subject="Bus 14", object="3 crowns"),
            document.hit(0, 0, dense=1.8),
            other.hit(0, 0, dense=1.5),
        ],
    )


def by_stage(**answers: Answer) -> Callable[[ModelCall], Answer]:
    return lambda call: answers[call.stage]


def engine(
    store: ScriptedStore, model: ScriptedLanguageModel, *, rules: bool = True, **settings: Any
) -> QueryEngine:
    planner: Any = RulePlanner() if rules else ModelPlanner(model, name="answerer")
    return QueryEngine(
        store, HashEmbedder(8), planner, ModelComposer(model, name="answerer"),
        QuerySettings(**settings),
    )  # fmt: skip
