"""Batches that were interrupted, lost, refused, expired or gone: over the real SDK on a scripted
server, whatever happens, nothing is paid twice."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

import pytest

from resin_es.adapters.anthropic.batches import AnthropicBatches
from resin_es.errors import ModelError, ModelUnavailable
from resin_es.llm.batching import BatchesLeft, cancel_batches, open_batches
from resin_es.testing.batch_server import ScriptedBatches, fault
from resin_es.testing.model_server import Asked, ModelServer, Reply
from resin_es.testing.scripted_claude import ScriptedClaude
from tests.contract.batch_world import FIVE, World, a_world, documents

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)

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
    assert world.book.records == {}, "nothing was made: nothing is under way"


def test_a_key_that_is_refused_after_an_answer_got_lost_leaves_what_may_be_under_way() -> None:
    faults = (Reply({}, drops_after=0), fault(401, "authentication_error", "invalid x-api-key"))
    with (
        a_world(faults=faults) as world,
        pytest.raises(ModelUnavailable, match="refused the key"),
    ):
        world.batches(FIVE)
    assert [one.batch_id for one in world.book.records.values()] == [""]


def test_what_may_be_under_way_is_shown_as_unknown_and_cancelling_settles_it() -> None:
    with a_world(size=5) as world:
        with pytest.raises(Crash):
            world.batches(FIVE, wrapped=Dying(2))
        model = AnthropicBatches(world.options)
        (shown,) = open_batches(model, world.book)
        assert (shown.id, shown.state) == ("", None)
        assert cancel_batches(model, world.book) == []
        assert world.book.records == {}, "no batch of this size was made"


def test_a_lost_batch_is_found_and_cancelled() -> None:
    with a_world(size=5) as world:
        with pytest.raises(Crash):
            world.batches(FIVE, wrapped=Dying(3))
        model = AnthropicBatches(world.options)
        assert cancel_batches(model, world.book) == ["msgbatch_0001"]
        (record,) = world.book.records.values()
        assert record.batch_id == "msgbatch_0001"
        assert world.script.batches["msgbatch_0001"].canceled


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


def test_cancelled_batches_are_those_that_run_and_give_what_was_finished() -> None:
    with a_world(polls=3) as world:
        _interrupted(world)
        model = AnthropicBatches(world.options)
        world.script.batches["msgbatch_0002"].polls = 0
        assert [one.state.value for one in open_batches(model, world.book)] == [
            "running",
            "done",
            "running",
        ]
        assert cancel_batches(model, world.book) == ["msgbatch_0001", "msgbatch_0003"]
        report = world.batches(FIVE)
        assert (report.canceled, report.resumed) == (3, 3)
        assert (report.submitted, report.landed) == (1, 2 + 4)
    assert world.book.records == {}
