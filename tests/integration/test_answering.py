"""Question → answer on a real Elasticsearch: what is found, fenced, traced and replayed.

Reader and embedder are the shipped fakes; meaning is tested with a real model elsewhere.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.adapters.elasticsearch import ElasticsearchStore, install, uninstall
from resin_es.errors import FilterError, InputError
from resin_es.index.filters import Filters, make_filters
from resin_es.index.indexer import Indexer
from resin_es.index.indexer_settings import IndexSettings
from resin_es.index.settings import StoreSettings
from resin_es.model import Document, Principal
from resin_es.query.compose import ExtractiveComposer
from resin_es.query.engine import QueryEngine
from resin_es.query.planner import RulePlanner
from resin_es.query.settings import QuerySettings
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted import ScriptedReader

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

PUBLIC = Principal()
STAFF = Principal(groups=frozenset({"staff"}))
BOARD = Principal(groups=frozenset({"board"}))

TEXTS = {
    "bus-14": "Bus 14 runs from Fernhill to Halden. The fare of Bus 14 is 3 crowns.",
    "metro-b": "Metro Line B runs from Fernhill to Halden. The fare of Metro Line B is 5 crowns.",
    "flood": "The flood stopped Metro Line B in March. The pumps had failed before the flood.",
    "zebra": "The word quokkaberry stands in this document alone. Nothing else does.",
}
SECRETS = {"staff": "The staff closes Bus 14 in May.", "board": "The board closes Bus 14 in June."}


def document(name: str, text: str, access: tuple[str, ...] = ("*",)) -> Document:
    return Document(
        source="city",
        external_id=name,
        title=name.title(),
        text=text,
        access=access,
        metadata={"category": "route" if "-" in name else "report"},
    )


class Library:
    """A small public library with two locked drawers, and an engine on it."""

    def __init__(self, es: Elasticsearch) -> None:
        self.settings = StoreSettings(prefix=f"t-{uuid.uuid4().hex[:10]}")
        self.embedder = HashEmbedder()
        install(es, self.settings, self.embedder.identity)
        self.store = ElasticsearchStore(es, self.settings)
        self.indexer = Indexer(self.store, self.embedder, ScriptedReader(), IndexSettings())
        self.fill()

    def fill(self) -> None:
        documents = [document(name, text) for name, text in TEXTS.items()]
        documents += [document(f"plan-{who}", text, (who,)) for who, text in SECRETS.items()]
        self.indexer.index(documents)

    def engine(self, **settings: Any) -> QueryEngine:
        return QueryEngine(
            self.store,
            self.embedder,
            RulePlanner(),
            ExtractiveComposer(),
            QuerySettings(**settings),
        )


@pytest.fixture(scope="module")
def installed(es: Elasticsearch) -> Iterator[Library]:
    """Laid out once: that takes longer than any test here."""
    library = Library(es)
    yield library
    uninstall(es, library.settings)


@pytest.fixture
def library(installed: Library) -> Library:
    """The library as it was at first."""
    installed.fill()
    return installed


def test_a_cited_answer_comes_out(library: Library) -> None:
    answer, retrieval, trace = library.engine().ask("What is the fare of Bus 14?", PUBLIC)
    assert answer.citations[0].quote == "The fare of Bus 14 is 3 crowns."
    assert answer.citations[0].document_id == "bus-14"
    assert {c.kind for hop in retrieval.hops for c in hop.candidates} >= {"entity-fact", "sentence"}
    for passage in retrieval.buffer.passages:
        for sentence in passage.sentences:
            text = TEXTS[passage.document_id]
            assert text[sentence.start : sentence.end] == sentence.text
    assert trace.id == answer.trace_id


def test_the_parts_of_a_score_are_told_apart(library: Library) -> None:
    found = library.engine().retrieve("What is the fare of Bus 14?", PUBLIC)
    best = found.hops[0].candidates[0]
    assert best.dense is not None
    assert 0.5 < best.dense <= 1.0
    assert best.lexical is not None
    assert best.lexical > 0


def test_both_sides_of_a_comparison_are_found(library: Library) -> None:
    answer, _, _ = library.engine().ask("Which is cheaper, Bus 14 or Metro Line B?", PUBLIC)
    assert {c.document_id for c in answer.citations} == {"bus-14", "metro-b"}


def test_a_word_that_only_the_lexical_part_knows_is_found(library: Library) -> None:
    found = library.engine(dense=1, num_candidates=1).retrieve("quokkaberry", PUBLIC)
    assert found.buffer.passages[0].document_id == "zebra"


@pytest.mark.parametrize(
    "question",
    [
        "metro",
        'title:(Bus AND 14) OR "x~2 /re.*/ \\',
        "公共汽车十四路多少钱？",
        "fare " * 4000,
        " ".join(f"word{i}" for i in range(2500)),
        "公共汽车" * 5000,
        "a-b-c." * 3000,
    ],
)
def test_unusual_questions_are_accepted(library: Library, question: str) -> None:
    answer, _, _ = library.engine().ask(question, PUBLIC)
    assert answer.text


@pytest.mark.parametrize("k", [1, 2000])
def test_k_at_either_end(library: Library, k: int) -> None:
    found = library.engine().retrieve("What is the fare of Bus 14?", PUBLIC, k=k)
    assert found.buffer.passages


def test_filters_narrow_and_unknown_ones_are_refused(library: Library) -> None:
    ask = library.engine().retrieve
    question = "What is the fare?"
    kinds = ask(question, PUBLIC, make_filters(kinds=["entity-fact"]))
    assert {c.kind for c in kinds.hops[0].candidates} == {"entity-fact"}
    reports = ask(question, PUBLIC, make_filters(fields=["metadata.category=report"]))
    assert {p.document_id for p in reports.buffer.passages} <= {"flood", "zebra"}
    entity = ask(question, PUBLIC, make_filters(entities=["bus"]))
    assert {p.document_id for p in entity.buffer.passages} == {"bus-14"}
    for filters in (Filters(sources=("town",)), make_filters(fields=["metadata.colour=red"])):
        with pytest.raises(FilterError):
            ask(question, PUBLIC, filters)


def test_neither_group_sees_the_others(library: Library) -> None:
    engine = library.engine()
    question = "When is Bus 14 closed?"
    for own, other, principal in (("staff", "board", STAFF), ("board", "staff", BOARD)):
        answer, retrieval, trace = engine.ask(question, principal)
        found = engine.search("closes Bus 14", principal)
        seen = [answer, retrieval, found, engine.trace(trace.id, principal)]
        told = " ".join(item.model_dump_json() for item in seen)
        assert SECRETS[own] in told
        assert SECRETS[other] not in told
        assert f"plan-{other}" not in told
        assert f"Plan-{other.title()}" not in told
        assert answer.coverage[0].documents == len(TEXTS) + 1
        with pytest.raises(InputError):
            engine.trace(trace.id, STAFF if principal is BOARD else BOARD)
    assert "plan-" not in engine.search("closes Bus 14", PUBLIC).model_dump_json()


def test_a_revoked_right_counts_at_once(library: Library) -> None:
    engine = library.engine()
    question = "When is Bus 14 closed?"
    trace = engine.ask(question, STAFF)[2]
    library.indexer.index([document("plan-staff", SECRETS["staff"], ("board",))])
    answer, retrieval, _ = engine.ask(question, STAFF)
    assert SECRETS["staff"] not in answer.model_dump_json() + retrieval.model_dump_json()
    assert SECRETS["staff"] not in engine.trace(trace.id, STAFF).model_dump_json()


def test_a_deleted_document_is_in_no_answer(library: Library) -> None:
    engine = library.engine()
    question = "What is the fare of Bus 14?"
    trace = engine.ask(question, PUBLIC)[2]
    library.indexer.delete("city", ["bus-14"])
    answer, retrieval, _ = engine.ask(question, PUBLIC)
    shown = engine.trace(trace.id, PUBLIC)
    told = json.dumps([x.model_dump(mode="json") for x in (answer, retrieval.buffer, shown)])
    assert "3 crowns" not in told
    assert "bus-14" not in told


@pytest.mark.parametrize("question", ["What is the fare of Bus 14?", "Why did Metro Line B stop?"])
def test_one_search_serves_every_budget(library: Library, question: str) -> None:
    engine = library.engine()
    at = engine.searched(question, STAFF)
    for budget in (500, 8, 40, 500):
        once, alone = at(budget), engine.retrieve(question, STAFF, budget=budget)
        assert once.buffer == alone.buffer
        assert [hop.candidates for hop in once.hops] == [hop.candidates for hop in alone.hops]
        assert once.trace.settings == alone.trace.settings


def test_a_trace_is_replayed_and_diagnosed(library: Library) -> None:
    engine = library.engine()
    trace = engine.ask("What is the fare of Bus 14?", PUBLIC)[2]
    replayed = engine.replay(trace.id, PUBLIC)
    assert len(replayed) == len(trace.hops)
    assert all((one.overlap, one.same_order) == (1.0, True) for one in replayed)
    stages = {
        expect: engine.diagnose(trace.id, expect, PUBLIC).stage
        for expect in ("fare of Bus 14 is 3 crowns", "bus-14", "no such words", "plan-staff")
    }
    assert stages == {
        "fare of Bus 14 is 3 crowns": "used",
        "bus-14": "used",
        "no such words": "not_indexed",
        "plan-staff": "not_indexed",
    }


def test_a_bridged_hop_is_replayed(library: Library) -> None:
    engine = library.engine()
    trace = engine.ask("Why did Metro Line B stop in March?", PUBLIC)[2]
    assert any(hop.bridged_from for hop in trace.hops)
    assert all(one.overlap == 1.0 for one in engine.replay(trace.id, PUBLIC))
