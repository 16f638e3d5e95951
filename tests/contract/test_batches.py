"""Reading by batches, over the real SDK on a scripted server: the ordinary run that follows has
nothing left to ask, nothing is paid twice, whatever happens in between."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest

from resin_es.errors import ModelError, ModelUnavailable
from resin_es.llm.batching import BatchesLeft, cancel_batches
from resin_es.testing.batch_server import ScriptedBatches, fault
from resin_es.testing.model_server import Asked, ModelServer, Reply
from resin_es.testing.scripted_claude import NOT_JSON, REFUSED, ScriptedClaude, truncated
from tests.contract.batch_world import (
    World,
    documents,
    said_without_batches,
)

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)

FIVE = documents(5)


@contextmanager
def a_world(
    claude: ScriptedClaude | None = None, *, size: int = 2, **fields: Any
) -> Iterator[World]:
    script = ScriptedBatches(single=claude or ScriptedClaude(), **fields)
    with ModelServer(script) as server:
        yield World(script, server.asked, server.url, size=size)


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


# ---------------------------------------------------------------- interrupted, lost, gone


class Crash(BaseException):
    """The process is gone."""


class Dying:
    """Dies before the ``at``-th operation that changes anything anywhere; ``count`` counts them.
    Before the next one is after the one before, so no moment is left out."""

    CHANGES = ("submit", "keep", "close", "cache_put")

    def __init__(self, at: int) -> None:
        self.at, self.count = at, 0

    def __call__(self, port: Any) -> Any:
        dying = self

        class Wrapped:
            def __getattr__(self, name: str) -> Any:
                if name in dying.CHANGES:
                    dying.count += 1
                    if dying.count == dying.at:
                        raise Crash
                return getattr(port, name)

        return Wrapped()


def test_killed_at_any_moment_nothing_is_paid_twice() -> None:
    two = documents(2)
    with a_world(size=1, polls=0) as world:
        whole = Dying(0)
        world.batches(two, wrapped=whole)
        wanted, paid = dict(world.cache.values), dict(world.script.paid)
    assert whole.count == 4 * 4 + 6  # keep, submit, keep, close of each batch; six outputs
    for at in range(1, whole.count + 1):
        with a_world(size=1, polls=0) as world:
            with pytest.raises(Crash):
                world.batches(two, wrapped=Dying(at))
            report = world.batches(two)
            assert dict(world.cache.values) == wanted, at
            assert dict(world.script.paid) == paid, at
            assert world.book.records == {}, at
            assert report.errored == 0, at


def test_an_interrupted_run_names_its_batches_and_the_next_one_lands_them() -> None:
    with a_world(polls=1) as world:

        def interrupt(seconds: float) -> None:
            raise KeyboardInterrupt

        with pytest.raises(BatchesLeft) as caught:
            world.batches(FIVE, sleep=interrupt)
        assert caught.value.ids == ("msgbatch_0001", "msgbatch_0002", "msgbatch_0003")
        assert "batches --cancel" in str(caught.value)
        report = world.batches(FIVE)
        assert set(world.script.paid.values()) == {1}
        assert (report.resumed, report.submitted, report.landed) == (3, 3, 15)
        assert world.ledger.spent() == pytest.approx(report.dollars)
        world.ordinary(FIVE)
    assert world.script.singles == 0
    assert set(world.script.reads.values()) == {1}


def test_a_rerun_in_other_slices_takes_up_the_same_batches() -> None:
    with a_world(polls=1) as world:
        _interrupted(world)
        report = world.batches(FIVE, slice_of=5)
    assert (report.resumed, report.submitted) == (3, 1)
    assert set(world.script.paid.values()) == {1}
    assert world.book.records == {}


def test_batches_of_other_documents_stay_open() -> None:
    with a_world(polls=1) as world:
        _interrupted(world)
        some = documents(1)
        report = world.batches(some)
        # the first batch has the window of document 1 too; the two others were not asked for
        assert (report.resumed, report.open) == (3, 3)
        assert sorted(len(one.call_ids) for one in world.book.records.values()) == [1, 1, 2]
        world.batches(FIVE)
        assert set(world.script.paid.values()) == {1}
    assert world.book.records == {}


def _interrupted(world: World) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(BatchesLeft):
        world.batches(FIVE, sleep=interrupt)


def test_a_batch_that_expired_between_two_runs_is_read_one_by_one() -> None:
    claude = ScriptedClaude()
    expired = True

    def answer(params: Any) -> Reply | str:
        return "expired" if expired else claude(Asked("/v1/messages", {}, params))

    with a_world(claude, answer=answer, polls=1) as world:
        _interrupted(world)
        for batch in world.script.batches.values():
            world.script._look(batch)
            world.script._look(batch)
        expired = False
        report = world.batches(FIVE)
        assert (report.expired, report.submitted) == (5, 0)
        world.ordinary(FIVE)
    assert world.script.singles == 15
    assert set(claude.paid.values()) == {1}


def test_a_batch_that_the_provider_has_no_more_is_submitted_again() -> None:
    with a_world(polls=1) as world:
        _interrupted(world)
        world.script.forget()
        report = world.batches(FIVE)
        assert (report.resumed, report.submitted, report.landed) == (0, 6, 15)
        world.ordinary(FIVE)
    assert world.script.singles == 0


def test_a_batch_that_vanishes_while_it_is_waited_for_is_named() -> None:
    with a_world(polls=1) as world:
        report = world.batches(FIVE, sleep=lambda seconds: world.script.forget())
        assert report.errored == 5
        assert len(report.problems) == 3
        world.ordinary(FIVE)
    assert world.script.singles == 15
    assert world.book.records == {}


def test_a_submission_whose_answer_got_lost_is_found_again() -> None:
    lost = Reply({}, drops_after=0)
    with a_world(faults=(lost,), lost=(lost,)) as world:
        report = world.batches(FIVE)
        assert world.made()[:3] == ["make", "list", "make"]
    assert (report.submitted, report.landed) == (6, 15)
    assert len(world.script.batches) == 6


def test_another_batch_of_the_same_size_is_not_taken_for_the_lost_one() -> None:
    """Somebody else's, ended, of as many items: what it holds tells."""
    with a_world(polls=0, size=5) as world:
        with pytest.raises(Crash):
            world.batches(FIVE, wrapped=Dying(2))
        (record,) = world.book.written
        assert record.batch_id == ""
        body = {"requests": [{"custom_id": f"x{n}", "params": {}} for n in range(5)]}
        foreign = world.script._make(body).content["id"]
        world.script._look(world.script.batches[foreign])
        world.script.batches[foreign].results = [
            {"custom_id": f"x{n}", "result": {"type": "expired"}} for n in range(5)
        ]
        report = world.batches(FIVE)
    assert (report.resumed, report.submitted, report.landed) == (0, 2, 15)
    assert world.script.reads[foreign] == 1


def test_a_submission_that_is_refused_for_now_is_tried_again() -> None:
    busy = fault(429, "rate_limit_error", "too many batches")
    with a_world(faults=(busy, busy)) as world:
        assert world.batches(FIVE).submitted == 6
    assert world.slept[:2] == [1, 2]
    always = (busy,) * 9
    with a_world(faults=always) as world, pytest.raises(ModelError, match="too many batches"):
        world.batches(FIVE)


def test_a_key_that_is_refused_is_said_at_once() -> None:
    with (
        a_world(faults=(fault(401, "authentication_error", "invalid x-api-key"),)) as world,
        pytest.raises(ModelUnavailable, match="refused the key"),
    ):
        world.batches(FIVE)
    assert world.made() == ["make"]
    assert world.slept == []


def test_looks_may_fail_for_a_while() -> None:
    script = ScriptedBatches(single=ScriptedClaude())
    failing = 3

    def weather(asked: Asked) -> Reply:
        nonlocal failing
        if asked.method == "GET" and failing:
            failing -= 1
            return fault(500, "api_error", "down")
        return script(asked)

    with ModelServer(weather) as server:
        world = World(script, server.asked, server.url)
        assert world.batches(FIVE).landed == 15
        failing = 9
        world.cache.values.clear()
        with pytest.raises(ModelError, match="down"):
            world.batches(FIVE)
        assert failing == 5
        failing = 0
        assert world.batches(FIVE).resumed == 3


def test_cancelled_batches_give_what_was_finished() -> None:
    with a_world(polls=1) as world:
        _interrupted(world)
        from resin_es.adapters.anthropic.batches import AnthropicBatches

        ids = cancel_batches(AnthropicBatches(world.options), world.book)
        assert ids == ["msgbatch_0001", "msgbatch_0002", "msgbatch_0003"]
        report = world.batches(FIVE)
        assert (report.canceled, report.resumed, report.submitted) == (5, 3, 0)
    assert world.book.records == {}


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
