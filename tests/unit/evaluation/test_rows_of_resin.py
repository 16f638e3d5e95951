"""RESIN's rows are the engine under other settings; rows share searches, and pay for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from resin_es.errors import IndexMismatch, InputError
from resin_es.evaluation.systems import remembered
from resin_es.evaluation.systems.remembered import (
    Remembered,
    RememberingEmbedder,
    RememberingStore,
)
from resin_es.evaluation.systems.resin import VARIANTS, ResinSystem
from resin_es.evaluation.systems.selection import Entry, selected
from resin_es.model import UNIT_KINDS, Coverage, Principal
from resin_es.ports import FetchedEvidence, ModelIdentity
from resin_es.query.compose import ExtractiveComposer
from resin_es.query.planner import RulePlanner
from resin_es.query.settings import QuerySettings
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore


def test_every_variant_s_settings_are_the_engine_s() -> None:
    for variant in VARIANTS:
        QuerySettings(**{**QuerySettings().model_dump(), **variant.settings})
    names = [variant.name for variant in VARIANTS]
    assert len(set(names)) == len(names)
    assert {f"k={k}" for k in (1, 5, 10, 15, 20)} <= set(names)
    assert {f"kind={kind}" for kind in (*UNIT_KINDS, "all")} <= set(names)


def test_without_sentence_addresses_is_one_change_and_the_papers_way_is_units_alone() -> None:
    rows = {variant.name: variant for variant in VARIANTS}
    assert rows["no-sentences"].settings == {"sentence_addresses": False}
    assert rows["no-sentences"].kinds == ()
    assert rows["kind=all"].kinds == rows["paper"].kinds == tuple(UNIT_KINDS)
    assert rows["kind=all"].settings == {}
    assert rows["no-second-vectors"].settings == {"second_vectors": False}
    assert rows["paper"].settings["second_vectors"] is False


def test_the_default_row_changes_nothing() -> None:
    default = next(variant for variant in VARIANTS if variant.name == "resin")
    assert (default.settings, default.kinds, default.planning) == ({}, (), "planned")
    assert not default.entities


TWO_SIDES = "Which is cheaper, Bus 14 or Metro Line B?"


@pytest.mark.parametrize(
    ("row", "k", "fill_on", "hops"),
    [
        ("resin", 10, True, 2),
        ("k=5", 5, False, 2),
        ("one-hop", 10, True, 1),
        ("one-hop-matched", 20, True, 1),
        ("paper", 10, False, 2),
    ],
)
def test_a_row_s_settings_reach_the_engine(row: str, k: int, fill_on: bool, hops: int) -> None:
    bus = ScriptedDocument("bus", [["Bus 14 costs 3 crowns."]], title="Bus 14")
    system = ResinSystem(
        next(variant for variant in VARIANTS if variant.name == row),
        ScriptedStore([bus], [bus.hit(0, 0)]),  # type: ignore[arg-type]
        HashEmbedder(8),
        RulePlanner(),
        ExtractiveComposer(),
        QuerySettings(),
        Principal(),
        (),
        Remembered(),
    )
    evidence = system.evidence(TWO_SIDES, 500)
    assert [p.document_id for p in evidence.passages] == ["bus"]
    assert evidence.trace is not None
    told = evidence.trace.settings
    assert (told["k"], told["fill_on"], told["budget"]) == (k, fill_on, 500)
    assert len(evidence.trace.plan.hops) == hops


class Store:
    def __init__(self) -> None:
        self.searches = 0
        self.fetches: list[tuple[list[str], list[str]]] = []
        self.checked: list[ModelIdentity] = []
        self.counted: list[Sequence[str]] = []

    def search(self, addresses: object, documents: object) -> tuple[list[object], None]:
        self.searches += 1
        return [addresses], None

    def fetch(self, passage_ids: Sequence[str], keys: Sequence[str]) -> FetchedEvidence:
        self.fetches.append((list(passage_ids), list(keys)))
        entries: Any = {key: f"entry {key}" for key in keys if key != "gone"}
        return FetchedEvidence(
            passages={one: {"text": one} for one in passage_ids}, entries=entries
        )

    def check(self, model: ModelIdentity) -> None:
        self.checked.append(model)
        if model.dims == 3:
            raise IndexMismatch("other vectors")

    def coverage(self, principal: Principal, sources: Sequence[str]) -> list[Coverage]:
        self.counted.append(sources)
        return [Coverage(source=source, documents=1) for source in sources]

    def refresh(self) -> str:
        return "refreshed"


def test_the_same_search_is_sent_once_a_question() -> None:
    memory = Remembered()
    store = Store()
    shared = RememberingStore(store, memory)  # type: ignore[arg-type]
    body = {"size": 3}
    assert shared.search([body], None) == shared.search([dict(body)], None)
    shared.search([body], {"size": 1})
    assert store.searches == 2
    memory.forget()
    shared.search([body], None)
    assert store.searches == 3
    assert shared.refresh() == "refreshed"


def test_a_passage_or_entry_is_fetched_once_a_run_and_charged_each_time() -> None:
    memory, store = Remembered(), Store()
    shared = RememberingStore(store, memory)  # type: ignore[arg-type]
    assert shared.fetch([], ["d", "gone"]).entries == {"d": "entry d"}
    assert memory.lent() == 0.0
    memory.forget()
    found = shared.fetch(["p", "q"], ["d", "gone"])
    assert found == ({"p": {"text": "p"}, "q": {"text": "q"}}, {"d": "entry d"})
    assert memory.lent() > 0
    assert shared.fetch(["q", "r"], ["d"]).passages.keys() == {"q", "r"}
    assert shared.fetch(["r"], ["e"]) == ({"r": {"text": "r"}}, {"e": "entry e"})
    assert store.fetches == [([], ["d", "gone"]), (["p", "q"], []), (["r"], []), ([], ["e"])]


def test_a_long_run_does_not_remember_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "PIECES", 2)
    memory, store = Remembered(), Store()
    shared = RememberingStore(store, memory)  # type: ignore[arg-type]
    shared.fetch(["p", "q", "r"], [])
    shared.fetch(["p", "q", "r"], [])
    assert len(store.fetches) == 1
    memory.forget()
    shared.fetch(["p"], [])
    assert len(store.fetches) == 2


def test_what_no_question_changes_is_asked_once_a_run() -> None:
    memory, store = Remembered(), Store()
    shared = RememberingStore(store, memory)  # type: ignore[arg-type]
    model, anyone, staff = identity(2), Principal(), Principal(groups=frozenset({"staff"}))
    for _ in range(2):
        shared.check(model)
        assert [c.source for c in shared.coverage(anyone, ("a",))] == ["a"]
        memory.forget()
    assert store.checked == [model]
    assert store.counted == [("a",)]
    shared.coverage(anyone, ("b",))
    shared.coverage(staff, ("b",))
    assert store.counted == [("a",), ("b",), ("b",)]
    shared.check(model)
    assert memory.lent() > 0
    for _ in range(2):
        with pytest.raises(IndexMismatch):
            shared.check(identity(3))


def identity(dims: int) -> ModelIdentity:
    return ModelIdentity(name="m", dims=dims)


def test_what_a_memory_answered_is_charged_once() -> None:
    memory = Remembered()
    calls: list[int] = []
    memory.call("a", lambda: calls.append(1))
    assert memory.lent() == 0.0
    memory.call("a", lambda: calls.append(1))
    first = memory.lent()
    assert calls == [1]
    assert first > 0
    assert memory.lent() == 0.0


class Embedder:
    identity = ModelIdentity(name="ones", dims=2)

    def __init__(self) -> None:
        self.texts: list[list[str]] = []

    def embed(self, texts: list[str]) -> np.ndarray:
        self.texts.append(texts)
        return np.ones((len(texts), 2), dtype=np.float32)

    def embed_queries(self, texts: list[str]) -> np.ndarray:
        self.texts.append(["asked", *texts])
        return np.ones((len(texts), 2), dtype=np.float32)


def test_the_same_texts_are_embedded_once_a_question() -> None:
    inner = Embedder()
    shared = RememberingEmbedder(inner, Remembered())  # type: ignore[arg-type]
    shared.embed(["one"])
    shared.embed(["one"])
    shared.embed(["one", "two"])
    assert inner.texts == [["one"], ["one", "two"]]
    shared.embed_queries(["one"])
    shared.embed_queries(["one"])
    assert inner.texts[2:] == [["asked", "one"]]


ENTRIES = [
    Entry(name="bm25", label="BM25", group="baseline", about=""),
    Entry(name="ircot", label="IRCoT", group="baseline", about="", needs="a model"),
    Entry(name="resin", label="RESIN", group="resin", about=""),
    Entry(name="one-hop", label="one hop", group="ablation", about=""),
    Entry(name="k=5", label="k = 5", group="ablation", about=""),
    Entry(name="lightrag", label="LightRAG", group="external", about="", needs="a model"),
]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ((), ["bm25", "resin"]),
        (("baselines",), ["bm25", "resin"]),
        (("ablations",), ["resin", "one-hop", "k=5"]),
        (("ircot", " k=5 "), ["ircot", "resin", "k=5"]),
        (("external",), ["resin", "lightrag"]),
        (("all",), ["bm25", "ircot", "resin", "one-hop", "k=5", "lightrag"]),
    ],
)
def test_rows_by_name_and_group(wanted: tuple[str, ...], names: list[str]) -> None:
    entries = [*ENTRIES, Entry(name="no-bridging", label="", group="ablation", about="")]
    chosen = [entry.name for entry in selected(wanted, entries) if entry.name != "no-bridging"]
    assert chosen == names


def test_an_unknown_row_is_named_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="'bm52'") as caught:
        selected(("bm52",), ENTRIES)
    assert "bm25" in caught.value.hint
