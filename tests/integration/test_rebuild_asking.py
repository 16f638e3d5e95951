"""Questions while the indices are replaced: none fails, and old vectors meet the old model."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.adapters.elasticsearch import uninstall
from resin_es.model import Document, Principal
from resin_es.query.values import HopsFound, Planned
from tests.integration.rebuilding import House

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

PUBLIC = Principal()
LINES = 8
EDITED = 100


def line(number: int, minutes: int = 0) -> Document:
    said = f"Line {number} leaves from Platform {number}. Its tram driver lives in Halden {number}."
    more = f" It takes {minutes} minutes." if minutes else ""
    return Document(
        source="s", external_id=f"line-{number}", title=f"Line {number}", text=said + more,
        access=("*",),
    )  # fmt: skip


def question(number: int) -> str:
    return f"Where does Line {number} leave from?"


@pytest.fixture(scope="module")
def laid_out(es: Elasticsearch) -> Iterator[House]:
    house = House(es)
    yield house
    uninstall(es, house.settings)


@pytest.fixture
def house(laid_out: House) -> House:
    house = laid_out.emptied()
    house.indexer().index([line(n) for n in range(LINES)])
    return house


class Asking(threading.Thread):
    """Asks in a circle, on one engine, until it is stopped."""

    def __init__(self, house: House) -> None:
        super().__init__(daemon=True)
        self.engine = house.engine()
        self.stopped = threading.Event()
        self.asked, self.generations = 0, set[str]()
        self.failed: list[str] = []

    def run(self) -> None:
        while not self.stopped.is_set():
            number = self.asked % LINES
            self.asked += 1
            try:
                answer, retrieval, trace = self.engine.ask(question(number), PUBLIC)
                self.generations.add(trace.index_generation)
                self.judge(number, answer, retrieval)
            except Exception as error:  # noqa: BLE001 (any failure at all counts)
                self.failed.append(f"{type(error).__name__}: {error}")

    def judge(self, number: int, answer: Any, retrieval: Any) -> None:
        cited = {citation.document_id for citation in answer.citations if not citation.void}
        if f"line-{number}" not in cited:
            self.failed.append(f"line {number}: cited {cited or 'nothing'}")
        for passage in retrieval.buffer.passages:
            for sentence in passage.sentences:
                if passage.document_id == "line-100" and sentence.text.startswith("It takes"):
                    said = {s.text for s in passage.sentences if s.text.startswith("It takes")}
                    if len(said) > 1:
                        self.failed.append(f"mixed versions: {said}")


class Editing(threading.Thread):
    """Changes one document, adds and deletes others, until it is stopped."""

    def __init__(self, house: House) -> None:
        super().__init__(daemon=True)
        self.indexer = house.indexer()
        self.stopped = threading.Event()
        self.rounds, self.failed = 0, list[BaseException]()

    def run(self) -> None:
        while not self.stopped.is_set():
            self.rounds += 1
            try:
                self.indexer.index([line(EDITED, self.rounds), line(EDITED + self.rounds)])
                if self.rounds > 2:
                    self.indexer.delete("s", [f"line-{EDITED + self.rounds - 2}"])
            except Exception as error:  # noqa: BLE001 (any failure at all counts)
                self.failed.append(error)


def test_no_answer_fails_and_nothing_is_lost(house: House) -> None:
    asking, editing = Asking(house), Editing(house)
    asking.start()
    editing.start()
    try:
        first = house.now.live.label
        while asking.asked < 5:
            asking.join(0.05)
        report = house.rebuild().run()
        since = asking.asked
        while asking.asked < since + 2 * LINES:
            asking.join(0.05)
    finally:
        for thread in (editing, asking):
            thread.stopped.set()
            thread.join(60)
    assert asking.failed == []
    assert editing.failed == []
    assert asking.generations == {first, report.generation}
    rounds = editing.rounds
    deleted = range(1, rounds - 1)
    left = [*range(LINES), *range(EDITED, EDITED + rounds + 1)]
    expected = {f"line-{n}" for n in left} - {f"line-{EDITED + n}" for n in deleted[1:]}
    expected -= {f"line-{EDITED + 1}"} if rounds > 2 else set()
    assert house.documents().keys() == expected
    house.assert_vectors_of(house.new)
    entries = house.store(house.new).scan_entries("s")
    assert all(one.entry.settled for one in entries)
    assert_runs_as_a_fresh_one(house, asking.engine)


def assert_runs_as_a_fresh_one(house: House, running: Any) -> None:
    fresh = house.engine(house.new)
    for number in range(LINES):
        pairs = [one.retrieve(question(number), PUBLIC) for one in (running, fresh)]
        mine, theirs = (
            [(h.hop.id, [(c.address_id, c.score) for c in h.candidates]) for h in pair.hops]
            for pair in pairs
        )
        assert mine == theirs
        assert pairs[0].buffer == pairs[1].buffer
        searched = [one.search(question(number), PUBLIC) for one in (running, fresh)]
        assert searched[0].hits == searched[1].hits
        assert searched[0].hits[0].candidate.document_id == f"line-{number}"


def test_a_question_whose_generation_is_dropped_is_taken_up_on_the_new_one(house: House) -> None:
    rebuild = house.rebuild()
    now = rebuild.begin()
    rebuild.catch_up(now)
    engine = house.engine()
    events = []
    for event in engine.ask_events(question(3), PUBLIC):
        events.append(event)
        if isinstance(event, Planned):
            rebuild.swap(now)
            rebuild.finish()
    assert sum(isinstance(event, Planned) for event in events) == 1, "planned once"
    assert sum(isinstance(event, HopsFound) for event in events) >= 1
    result = events[-1].result
    assert result.trace.index_generation == house.now.live.label
    assert result.trace.models["embedder"] == house.new.identity.name
    assert result.answer.citations[0].document_id == "line-3"


def test_a_swap_between_search_and_fetch_does_no_harm(house: House) -> None:
    rebuild = house.rebuild()
    now = rebuild.begin()
    rebuild.catch_up(now)
    engine = house.engine()
    swapped = False
    for event in engine.ask_events(question(2), PUBLIC):
        if isinstance(event, HopsFound) and not swapped:
            swapped = True
            rebuild.swap(now)
            rebuild.finish()
    assert event.result.answer.citations[0].document_id == "line-2"  # type: ignore[union-attr]


def test_one_look_is_all_that_a_question_adds(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    transport = type(house.es.transport)
    original = transport.perform_request

    def noted(self: Any, method: str, target: str, **named: Any) -> Any:
        sent.append(target.partition("?")[0])
        return original(self, method, target, **named)

    monkeypatch.setattr(transport, "perform_request", noted)
    house.engine().ask(question(1), PUBLIC)
    looks = [one for one in sent if f"{house.prefix}-units-v*" in one or "units-v%2A" in one]
    assert len(looks) == 1
    assert not [one for one in sent if "_mapping" in one]
