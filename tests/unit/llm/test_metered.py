"""The meter: cap, limiter and ledger around a model."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import pytest

from resin_es.adapters.ledger import MemoryLedger
from resin_es.errors import BudgetSpent, ModelError
from resin_es.llm.metered import MeteredModel, StageSpending, total
from resin_es.ports.language import ModelCall, ModelReply, Spend, Usage


def ask(user: str = "x", stage: str = "units") -> ModelCall:
    return ModelCall.model_validate(
        {
            "stage": stage,
            "model": "m",
            "prompt_version": "1-a",
            "system": "s" * 30,
            "user": user,
            "output": {"type": "object"},
            "max_tokens": 400,
        }
    )


class Model:
    """Costs a dollar a call; streams three parts; ``fails`` may raise first."""

    def __init__(self, *, dollars: float = 1.0, error: ModelError | None = None) -> None:
        self.reply = ModelReply(
            model="m-2026",
            route="tool",
            calls=2,
            usage=Usage(input_tokens=10, output_tokens=5, cache_read_tokens=3),
            dollars=dollars,
        )
        self.error, self.asked = error, 0

    def call(self, call: ModelCall) -> ModelReply:
        self.asked += 1
        if self.error:
            raise self.error
        return self.reply

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        self.asked += 1
        yield "a"
        yield "b"
        if self.error:
            raise self.error
        yield self.reply


class Limiter:
    def __init__(self, waits: float = 0.0) -> None:
        self.tokens: list[int] = []
        self._waits = waits

    def wait(self, tokens: int) -> float:
        self.tokens.append(tokens)
        return self._waits


class Ledger(MemoryLedger):
    def __init__(self) -> None:
        super().__init__()
        self.spends: list[Spend] = []

    def enter(self, spend: Spend) -> None:
        self.spends.append(spend)
        super().enter(spend)


def test_a_call_goes_by_limiter_and_ledger_and_is_counted() -> None:
    ledger, limiter = Ledger(), Limiter(waits=1.5)
    metered = MeteredModel(Model(), limiter, ledger, cap=10.0)
    assert metered.call(ask()) is not None
    assert metered.call(ask()).dollars == 1.0
    # 30 + 1 characters and 18 of schema at 3 a token, and a quarter of the room
    assert limiter.tokens == [10 + 1 + 6 + 100] * 2
    assert [(one.stage, one.model, one.dollars, one.batch) for one in ledger.spends] == [
        ("units", "m-2026", 1.0, False)
    ] * 2
    assert ledger.spends[0].key != ledger.spends[1].key, "the same call twice is paid for twice"
    assert metered.left() == 8.0
    assert metered.spending == {
        "units": StageSpending(
            calls=2,
            fallbacks=2,
            usage=Usage(input_tokens=20, output_tokens=10, cache_read_tokens=6),
            dollars=2.0,
            waited=3.0,
            routes={"tool": 2},
        )
    }


def test_the_cap_is_asked_before_anything_goes_out() -> None:
    model, limiter = Model(), Limiter()
    metered = MeteredModel(model, limiter, MemoryLedger(), cap=2.0)
    metered.call(ask())
    metered.call(ask())
    with pytest.raises(BudgetSpent) as caught:
        metered.call(ask())
    with pytest.raises(BudgetSpent):
        next(iter(metered.stream(ask())))
    assert model.asked == len(limiter.tokens) == 2
    assert (caught.value.spent, caught.value.cap) == (2.0, 2.0)
    assert "$2.00" in caught.value.message
    assert "--max-cost" in caught.value.hint
    assert metered.left() == 0.0


def test_the_cap_is_asked_again_after_a_wait() -> None:
    ledger = MemoryLedger()

    class Slow(Limiter):
        def wait(self, tokens: int) -> float:
            ledger.enter(Spend(key="another lane", stage="units", model="m", dollars=5.0))
            return 20.0

    model = Model()
    with pytest.raises(BudgetSpent):
        MeteredModel(model, Slow(), ledger, cap=5.0).call(ask())
    assert model.asked == 0


def test_without_a_cap_nothing_stops() -> None:
    metered = MeteredModel(Model(dollars=1e6), Limiter(), MemoryLedger(), cap=None)
    metered.call(ask())
    metered.call(ask())
    assert metered.left() is None


def test_a_cap_of_nothing_sends_nothing() -> None:
    model = Model()
    with pytest.raises(BudgetSpent):
        MeteredModel(model, Limiter(), MemoryLedger(), cap=0.0).call(ask())
    assert model.asked == 0


def test_a_stream_is_counted_by_its_reply() -> None:
    ledger = MemoryLedger()
    metered = MeteredModel(Model(), Limiter(), ledger, cap=None)
    parts = list(metered.stream(ask(stage="compose")))
    assert parts[:2] == ["a", "b"]
    assert isinstance(parts[2], ModelReply)
    assert ledger.spent() == 1.0
    assert metered.spending["compose"].calls == 1


def test_a_stream_that_breaks_or_is_left_counts_as_failed() -> None:
    metered = MeteredModel(Model(error=ModelError("cut off")), Limiter(), MemoryLedger())
    with pytest.raises(ModelError, match="cut off"):
        list(metered.stream(ask(stage="compose")))
    stream = metered.stream(ask(stage="compose"))
    assert next(stream) == "a"
    del stream
    spent = metered.spending["compose"]
    assert (spent.calls, spent.failed, spent.dollars) == (0, 2, 0.0)


def test_a_failed_call_counts_what_it_is_known_to_have_cost() -> None:
    model, ledger = Model(), MemoryLedger()
    metered = MeteredModel(model, Limiter(), ledger, cap=None)
    model.error = ModelError("overloaded")
    with pytest.raises(ModelError):
        metered.call(ask())
    assert ledger.spent() == 0.0
    paid = ModelError("what came back is no JSON")
    paid.reply = model.reply
    model.error = paid
    with pytest.raises(ModelError):
        metered.call(ask())
    assert ledger.spent() == 1.0
    spent = metered.spending["units"]
    assert (spent.calls, spent.failed, spent.dollars) == (0, 2, 1.0)
    assert spent.usage.output_tokens == 5


def test_what_came_by_batch_is_entered_once() -> None:
    ledger = MemoryLedger()
    metered = MeteredModel(Model(), Limiter(), ledger, cap=0.5)
    reply = ModelReply(dollars=0.5, truncated=True)
    metered.book(ask(), reply, key="batch-1/call-1", batch=True)
    metered.book(ask(), reply, key="batch-1/call-1", batch=True)
    assert ledger.spent() == 0.5
    with pytest.raises(BudgetSpent):
        metered.check()


def test_stages_add_up() -> None:
    metered = MeteredModel(Model(), Limiter(), MemoryLedger())
    metered.call(ask(stage="passages"))
    metered.call(ask(stage="plan"))
    assert list(metered.spending) == ["passages", "plan"]
    both = total(metered.spending)
    assert (both.calls, both.dollars, both.routes) == (2, 2.0, {"tool": 2})


@pytest.mark.parametrize("lanes", [1, 4, 16])
def test_at_most_the_calls_in_flight_go_beyond_the_cap(lanes: int) -> None:
    """Every lane is held inside the model until all of them are there: the worst case."""
    ready = threading.Semaphore(0)
    go = threading.Event()
    asked = threading.Lock()

    class Held(Model):
        def call(self, call: ModelCall) -> ModelReply:
            with asked:
                self.asked += 1
            ready.release()
            assert go.wait(timeout=20)
            return self.reply

    model, ledger = Held(), MemoryLedger()
    metered = MeteredModel(model, Limiter(), ledger, cap=1.0)
    stopped: list[BudgetSpent] = []

    def lane() -> None:
        try:
            while True:
                metered.call(ask())
        except BudgetSpent as error:
            stopped.append(error)

    threads = [threading.Thread(target=lane, daemon=True) for _ in range(lanes)]
    for thread in threads:
        thread.start()
    for _ in range(lanes):  # all are in flight, none is paid for
        assert ready.acquire(timeout=20)
    go.set()
    for thread in threads:
        thread.join(timeout=20)
    assert len(stopped) == lanes, "each lane ends by the cap"
    # The first reply reaches the cap; what every other lane had under way comes on top, once.
    assert model.asked == lanes
    assert ledger.spent() == model.asked == metered.spending["units"].calls


def test_lanes_that_run_freely_stay_within_their_number_beyond_the_cap() -> None:
    model, ledger = Model(), MemoryLedger()
    metered = MeteredModel(model, Limiter(), ledger, cap=50.0)

    def lane() -> None:
        with contextlib.suppress(BudgetSpent):
            while True:
                metered.call(ask())

    threads = [threading.Thread(target=lane, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert 50 <= ledger.spent() <= 50 + 7


def test_lanes_lose_no_count() -> None:
    metered = MeteredModel(Model(dollars=0.25), Limiter(), MemoryLedger())

    def lane() -> None:
        for _ in range(200):
            metered.call(ask())

    threads = [threading.Thread(target=lane, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert metered.spending["units"].calls == 800
    assert metered.spending["units"].dollars == 200.0


@pytest.mark.parametrize(
    ("cap", "shown"), [(0.005, "$0.005"), (0.0, "$0.00"), (5.0, "$5.00"), (12.5, "$12.50")]
)
def test_a_cap_is_shown_as_it_was_given(cap: float, shown: str) -> None:
    ledger = Ledger()
    ledger.enter(Spend(key="a", stage="units", model="m", dollars=cap))
    with pytest.raises(BudgetSpent) as caught:
        MeteredModel(Model(), Limiter(), ledger, cap=cap).check()
    assert f"cap of {shown} is reached" in caught.value.message
