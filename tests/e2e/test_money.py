"""Money from end to end: estimate, consent, cap, report, on a scripted Claude over HTTP and a real
Elasticsearch."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.testing.command import CommandLine
from resin_es.testing.model_server import ModelServer
from resin_es.testing.scripted_claude import ScriptedClaude

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

Write = Callable[..., Path]
LANES = 4
KINDS = ("units", "sentences", "passages")


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[ScriptedClaude, str]]:
    claude = ScriptedClaude()
    with ModelServer(claude) as listening:
        yield claude, listening.url


@pytest.fixture
def claude(server: tuple[ScriptedClaude, str]) -> ScriptedClaude:
    """Counts from zero. Its answers are kept for the whole module, so every test has words of its
    own (``boat``)."""
    server[0].forget()
    return server[0]


@pytest.fixture
def house(cli: CommandLine, server: tuple[ScriptedClaude, str]) -> CommandLine:
    """The command line over a scripted Claude."""
    return cli.under(RESIN_LLM="claude", RESIN_ANTHROPIC_URL=server[1], RESIN_LLM_LANES=str(LANES))


def corpus(write: Write, boat: str, *, count: int = 12, gate: int = 9) -> Path:
    def text(number: int) -> str:
        told = [f"{boat} {number} leaves pier {n} at {n} o'clock." for n in range(1, 9)]
        told.append(f"It carries {number + 20} cars.")
        told.append(f"Gate {gate if number == 3 else 9} closes five minutes before.")
        return " ".join(told)

    records = [{"id": f"{boat}-{n}", "title": f"{boat} {n}", "text": text(n)} for n in range(count)]
    return write(f"{boat}-{gate}.jsonl", *records)


def paid(claude: ScriptedClaude) -> int:
    return claude.calls["passages"] + claude.calls["units"]


def held(es: Elasticsearch, line: CommandLine) -> dict[str, Any]:
    """What can be searched of the source ``y``, by family and id, without vectors."""
    found = {}
    for family in KINDS:
        index = f"{line.environ['RESIN_PREFIX']}-{family}"
        es.indices.refresh(index=index)
        told = es.search(
            index=index, query={"term": {"source": "y"}}, size=10_000, source_excludes=["vector"]
        )
        hits = told["hits"]["hits"]
        found[family] = {hit["_id"]: hit["_source"] for hit in hits}
    return found


def test_the_estimate_sends_nothing_and_tells_the_calls(
    house: CommandLine, claude: ScriptedClaude, write: Write
) -> None:
    path = corpus(write, "Ferry")
    before = house.under(RESIN_LLM=None).run("estimate", path, "--json").json
    assert paid(claude) == 0
    by_stage = {one["stage"]: one for one in before["stages"]}
    assert (before["documents"], before["to_read"]) == (12, 12)

    told = house.run("index", path, "--public", "--yes", "--json").json
    assert by_stage["passages"]["calls"] == claude.calls["passages"] == 12
    spent = told["spending"]["stages"]
    assert spent["passages"]["calls"] == claude.calls["passages"]
    assert spent["units"]["calls"] == claude.calls["units"]
    assert 0 < told["spending"]["total"]["dollars"] <= 3 * before["dollars"]

    after = house.run("estimate", path, "--json").json
    assert (after["to_read"], after["calls"], after["dollars"]) == (0, 0, 0)
    claude.forget()
    assert house.run("index", path, "--public", "--json").json["unchanged"] == 12
    assert paid(claude) == 0


def test_one_changed_sentence_is_estimated_and_costs_two_calls(
    house: CommandLine, claude: ScriptedClaude, write: Write
) -> None:
    house.run("index", corpus(write, "Dinghy"), "--public", "--source", "d", "--yes")
    claude.forget()
    path = corpus(write, "Dinghy", gate=7)
    told = house.run("estimate", path, "--source", "d", "--json").json
    assert (told["documents"], told["to_read"], told["calls"]) == (12, 1, 2)
    house.run("index", path, "--public", "--source", "d")
    assert 0 < paid(claude) <= 2


def test_what_was_paid_for_is_not_paid_again_under_another_index(
    house: CommandLine, claude: ScriptedClaude, write: Write
) -> None:
    """The registry says that the documents are to be read; the cache has the answers."""
    path = corpus(write, "Barge", count=5)
    house.run("index", path, "--public", "--source", "b", "--yes")
    told = house.run("estimate", path, "--source", "another", "--json").json
    assert (told["to_read"], told["calls"], told["dollars"]) == (5, 0, 0)
    assert all(one["cached"] > 0 for one in told["stages"])
    claude.forget()
    house.run("index", path, "--public", "--source", "another")
    assert paid(claude) == 0


def test_the_first_paid_reading_wants_a_yes(
    house: CommandLine, claude: ScriptedClaude, write: Write
) -> None:
    path = corpus(write, "Raft", count=3)
    told = house.run("index", path, "--public", "--source", "r", code=2)
    assert "--yes" in told.stderr
    assert "3 documents, 3 of them to be read" in told.stdout
    assert paid(claude) == 0
    house.run("index", path, "--public", "--source", "r", "--yes")
    assert paid(claude) > 0
    more = corpus(write, "Kayak", count=1)
    house.run("index", more, "--public", "--source", "r")  # it was agreed to


def test_a_cap_stops_cleanly_and_more_money_ends_in_the_same_index(
    house: CommandLine, claude: ScriptedClaude, write: Write, es: Elasticsearch
) -> None:
    path = corpus(write, "Yacht", count=24)
    asked = ("index", path, "--public", "--source", "y")
    whole = house.run(*asked, "--yes", "--json").json["spending"]["total"]
    expected, calls = held(es, house), paid(claude)
    per_call = whole["dollars"] / calls
    claude.forget()

    other = house.under(RESIN_PREFIX=f"t-{uuid.uuid4().hex[:10]}")
    other.run("install")
    try:
        cap = whole["dollars"] / 2
        told = other.run(*asked, "--yes", "--max-cost", cap, code=1)
        assert "cap" in told.stderr
        assert "What is finished is kept" in told.stderr
        first = paid(claude)
        assert 0 < first < calls
        dearest = 3 * per_call  # a call of the dearer stage
        assert first * per_call <= cap + LANES * dearest

        other.run(*asked, "--max-cost", whole["dollars"])
        assert paid(claude) == calls, "nothing was paid for twice"
        assert not claude.asked_twice()
        assert held(es, other) == expected
    finally:
        other.run("uninstall", "--yes")


def test_a_cap_wants_a_price(house: CommandLine, claude: ScriptedClaude, write: Write) -> None:
    line = house.under(RESIN_LLM_READ_MODEL="nobody-knows")
    path = corpus(write, "Canoe", count=1)
    asked = ("index", path, "--public", "--source", "c", "--yes", "--max-cost", 1)
    told = line.run(*asked, code=2)
    assert "no price known for nobody-knows" in told.stderr
    assert paid(claude) == 0
    priced = line.under(RESIN_PRICES='{"nobody-knows": [0, 0]}')
    priced.run(*asked)
    assert paid(claude) > 0
