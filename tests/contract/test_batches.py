"""Reading by batches, over the real SDK on a scripted server: the ordinary run that follows has
nothing left to ask, nothing is paid twice, whatever happens in between."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from resin_es.testing.model_server import Asked, Reply
from resin_es.testing.scripted_claude import NOT_JSON, REFUSED, ScriptedClaude, truncated
from tests.contract.batch_world import FIVE, World, a_world, documents, said_without_batches

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def plain() -> Iterator[World]:
    """A world in which the five were read without batches; ``cache`` has all."""
    with a_world() as world:
        world.readings = said_without_batches(world.ordinary(FIVE))  # type: ignore[attr-defined]
        yield world


def test_the_run_that_follows_asks_nothing_and_reads_the_same(plain: World) -> None:
    with a_world() as world:
        report = world.batches(FIVE)
        assert world.made().count("make") == 6  # three slices of two documents, two rounds
        assert world.script.singles == 0
        readings = world.ordinary(FIVE)
    assert world.script.singles == 0
    assert said_without_batches(readings) == plain.readings  # type: ignore[attr-defined]
    assert world.cache.values == plain.cache.values
    assert (report.submitted, report.items, report.landed) == (6, 15, 15)
    assert report.model_dump(exclude={"submitted", "items", "landed", "usage", "dollars"}) == {
        **dict.fromkeys(("resumed", "errored", "expired", "canceled", "unfit"), 0),
        **dict.fromkeys(("withheld", "open"), 0),
        "problems": (),
    }
    assert world.book.records == {}
    assert world.shown[-1] == (15, 15, "calls in batches")


def test_a_batch_costs_half_and_is_entered_item_by_item() -> None:
    with a_world() as world:
        world.ordinary(FIVE)
        full = world.ledger.spent()
    with a_world() as world:
        report = world.batches(FIVE)
    assert full > 0
    assert world.ledger.spent() == pytest.approx(full / 2)
    assert report.dollars == pytest.approx(full / 2)


def test_all_first_rounds_go_out_before_anything_is_waited_for() -> None:
    with a_world(polls=2) as world:
        world.batches(FIVE)
        made = world.made()
    assert made[:3] == ["make"] * 3
    assert "make" not in made[3 : made.index("fetch")]
    assert world.slept[:2] == [1, 1.5]


def test_documents_without_need_make_no_batch() -> None:
    with a_world() as world:
        world.batches(FIVE)
        before = len(world.asked)
        again = world.batches(FIVE)
        assert world.batches(documents(0)).submitted == 0
    assert len(world.asked) == before
    assert (again.submitted, again.dollars) == (0, 0.0)


def test_the_same_text_twice_is_asked_once() -> None:
    twins = documents(1)
    twins.append(twins[0].model_copy(update={"external_id": "twin"}))
    with a_world(size=1) as world:
        report = world.batches(twins)
        world.ordinary(twins)
        assert set(world.script.paid.values()) == {1}
    assert world.script.singles == 0
    assert report.items == report.landed == 3


def test_batches_are_bounded_by_requests_and_bytes() -> None:
    with a_world(size=5) as world:
        report = world.batches(FIVE, requests=4)
    assert report.submitted == 2 + 3
    with a_world(size=5) as world:
        assert world.batches(FIVE, bytes=1).submitted == 15


# ---------------------------------------------------------------- what a batch did not bring


@pytest.mark.parametrize("outcome", ["errored", "expired", "canceled"])
def test_what_a_batch_did_not_bring_is_read_one_by_one(outcome: str, plain: World) -> None:
    claude = ScriptedClaude()
    failed: list[str] = []

    def answer(params: Any) -> Reply | str:
        text = str(params["messages"])
        if ("tram 3" in text or "Car 1 " in text) and "Harbour" in text:
            failed.append(text)
            return outcome
        return claude(Asked("/v1/messages", {}, params))

    with a_world(claude, answer=answer) as world:
        report = world.batches(FIVE)
        assert getattr(report, outcome) == len(failed) > 0
        assert world.script.singles == 0
        readings = world.ordinary(FIVE)
    assert said_without_batches(readings) == plain.readings  # type: ignore[attr-defined]
    # the window of document 3 with its two passages; of document 1 too
    assert world.script.singles == len(failed) + 4
    assert world.book.records == {}
    if outcome == "errored":
        assert "it failed inside" in report.problems[0]


def test_an_answer_that_was_cut_off_is_read_in_halves_by_batch() -> None:
    claude = ScriptedClaude(faults={("passages", 2): truncated})
    with a_world(claude) as world:
        report = world.batches(FIVE)
        readings = world.ordinary(FIVE)
    assert world.script.singles == 0
    assert not any(reading.failures for reading in readings)
    # the halves of one window, and the units of its neighbour meanwhile: two more
    assert report.submitted == 8
    assert report.landed == report.items == 17


@pytest.mark.parametrize("said", [NOT_JSON, REFUSED])
def test_an_answer_of_no_use_is_asked_for_again_by_the_ordinary_run_alone(said: Any) -> None:
    claude = ScriptedClaude(faults={("units", 4): said})
    with a_world(claude) as world:
        report = world.batches(FIVE)
        assert (report.unfit, report.landed) == (1, 14)
        assert world.batches(FIVE, requests=1).submitted == 1  # a new run may try again
        assert world.ordinary(FIVE)
    assert world.script.singles == 0


# ---------------------------------------------------------------- money


def test_under_a_cap_calls_wait_for_what_others_turn_out_to_cost() -> None:
    with a_world(size=1, polls=1) as world:
        assert world.batches(FIVE).submitted == 10
        expected = {
            one.stage: one.dollars / len(one.call_ids) for one in world.book.written if one.batch_id
        }
        spent = world.ledger.spent()
    assert 10 * expected["units"] > 2 * spent  # answers here are much shorter than their room
    with a_world(size=1, polls=1) as world:
        report = world.batches(FIVE, cap=spent + expected["units"])
        assert report.submitted > 10  # not all units were affordable at once
        assert (report.landed, report.withheld) == (15, 0)
        assert world.ledger.spent() == pytest.approx(spent)
    assert set(world.script.paid.values()) == {1}


def test_what_the_cap_does_not_allow_is_withheld_and_bought_by_a_later_run() -> None:
    with a_world(size=1, polls=1) as world:
        world.batches(documents(1))
        one_window = next(record.dollars for record in world.book.written if record.batch_id)
    with a_world(size=1, polls=1) as world:
        report = world.batches(FIVE, cap=1.5 * one_window)
        assert report.withheld > 0
        assert report.landed == report.items < 15
        assert world.ledger.spent() <= 1.5 * one_window
        assert world.batches(FIVE).withheld == 0
        assert set(world.script.paid.values()) == {1}
        world.ordinary(FIVE)
    assert world.script.singles == 0


def test_no_money_no_batch() -> None:
    with a_world() as world:
        report = world.batches(FIVE, cap=0.0)
    assert (report.submitted, report.withheld) == (0, 5)
    assert world.asked == []
    assert world.book.written == []
