"""What a terminal shows of candidates that a second vector brought."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from resin_es.cli.render_trace import ACROSS, CANDIDATES, print_shown_trace
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore
from tests.unit.query.conftest import ANYONE, engine_on, near

QUESTION = "What is the fare of Bus 14?"
BUS = ScriptedDocument("bus-14", [["The fare of Bus 14 is 3 crowns."]], title="Bus 14")
OTOBUS = ScriptedDocument("otobus", [["14 numara pazar gunu ucretsizdir."]], title="Otobus 14")


def shown(*hits: Any) -> list[str]:
    engine = engine_on(ScriptedStore([BUS, OTOBUS], hits), follow_up=False)
    trace = engine.trace(engine.ask(QUESTION, ANYONE)[2].id, ANYONE)
    out = Console(file=io.StringIO(), width=100, highlight=False)
    print_shown_trace(out, trace)
    file: Any = out.file
    return [" ".join(line.split()) for line in file.getvalue().splitlines()]


@pytest.fixture
def bus() -> Any:
    return BUS.hit(0, 0, dense=near(0.8), lexical=6.0)


def test_its_cosine_is_marked_and_the_mark_explained_once(bus: Any) -> None:
    lines = shown(bus, OTOBUS.hit(0, 0, multilingual=near(0.5)))
    rows = [line for line in lines if line.startswith("sentence ")]
    assert len(rows) == 2
    assert [line.count("*") for line in rows] == [line.count("Otobus") for line in rows]
    (marked,) = [line for line in rows if "*" in line]
    assert marked.split()[2] == "0.900*", "on the other's scale: the middle of one is its own"
    assert lines.count(ACROSS.strip()) == 1


def test_without_any_nothing_is_marked(bus: Any) -> None:
    lines = shown(bus, OTOBUS.hit(0, 0, dense=near(0.5)))
    rows = [line for line in lines if line.startswith("sentence ")]
    assert len(rows) == 2
    assert "*" not in "".join(rows)
    assert ACROSS.strip() not in lines


def test_what_is_not_listed_needs_no_explanation() -> None:
    """One second hit alone stands in the middle, here behind half of the others."""
    units = [
        BUS.hit(0, 0, dense=near(cosine - n / 1000), name=f"{cosine}-{n}", kind="entity-fact")
        for n in range(CANDIDATES + 2)
        for cosine in (0.9, 0.1)
    ]
    lines = shown(*units, OTOBUS.hit(0, 0, multilingual=near(0.5)))
    assert sum(line.startswith("entity-fact ") for line in lines) == CANDIDATES
    assert f"and {len(units) + 1 - CANDIDATES} more" in lines
    assert ACROSS.strip() not in lines
