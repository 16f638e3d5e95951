"""Which queue a worker of all queues takes its next message from."""

from __future__ import annotations

from collections import Counter

from kombu.utils.scheduling import cycle_by_name
from pydantic import SecretStr

from resin_es.adapters.celery_app import LANES, BrokerOptions, configuration, lanes
from resin_es.adapters.queue_order import PASSED_OVER, Turns

ALL = [lane for queue in LANES for lane in lanes(queue)]


def turns() -> Turns:
    made = Turns()
    for end in range(1, len(ALL) + 1):  # as Kombu does: anew with each queue that is consumed
        made.update(ALL[:end])
    return made


def served(order: Turns, waiting: dict[str, int], count: int) -> list[str]:
    """The lists that ``count`` messages come from, as BRPOP would take them."""
    left, taken = Counter(waiting), []
    for _ in range(count):
        found = next((name for name in order.consume(len(ALL)) if left[name]), None)
        if found is None:
            break
        left[found] -= 1
        taken.append(order.rotate(found))
    return taken


def test_kombu_finds_the_order_by_its_name() -> None:
    options = BrokerOptions(url=SecretStr("redis://redis.test/7"), space="resin:kb:")
    name = configuration(options)["broker_transport_options"]["queue_order_strategy"]
    assert cycle_by_name(name) is Turns


def test_every_list_is_asked_once_each_time() -> None:
    order = turns()
    for name in (ALL[0], ALL[5], ALL[-1], ALL[0]):
        assert sorted(order.consume(len(ALL))) == sorted(ALL)
        order.rotate(name)
    assert len(order.consume(3)) == 3


def test_first_passes_go_before_reading() -> None:
    waiting = {"resin.read.0": 5, "resin.index.0": 10, "resin.index.1": 2}
    taken = served(turns(), waiting, 17)
    assert taken[:12].count("resin.index.1") == 2
    assert taken[12:] == ["resin.read.0"] * 5


def test_sources_of_a_queue_take_turns() -> None:
    taken = served(turns(), {"resin.read.2": 9, "resin.read.5": 9, "resin.read.7": 9}, 9)
    assert Counter(taken) == {"resin.read.2": 3, "resin.read.5": 3, "resin.read.7": 3}


def test_reading_is_not_passed_over_for_ever() -> None:
    taken = served(turns(), {"resin.read.0": 9, "resin.read.1": 9, "resin.index.0": 1_000}, 400)
    places = [place for place, name in enumerate(taken) if name.startswith("resin.read")]
    assert places == [n * (PASSED_OVER + 1) + PASSED_OVER for n in range(len(places))]
    assert {taken[places[0]], taken[places[1]]} == {"resin.read.0", "resin.read.1"}


def test_looks_for_changes_go_first_but_leave_every_other_turn() -> None:
    taken = served(turns(), {"resin.sync": 100, "resin.index.0": 4, "resin.read.0": 4}, 20)
    assert taken[0:9:2] == ["resin.sync"] * 5
    assert taken[1:16:2] == ["resin.index.0"] * 4 + ["resin.read.0"] * 4
    assert taken[16:] == ["resin.sync"] * 4


def test_a_worker_of_some_queues_serves_those() -> None:
    order = Turns()
    order.update(["resin.read.0", "resin.read.1"])
    assert order.consume(2) == ["resin.read.0", "resin.read.1"]
    order.rotate("resin.read.0")
    order.update(["resin.read.0", "resin.read.1"])  # a reconnect
    assert order.consume(2) == ["resin.read.1", "resin.read.0"]
    order.update(["resin.read.0"])
    assert order.consume(2) == ["resin.read.0"]


def test_what_changed_goes_before_what_was_never_read_but_not_for_ever() -> None:
    waiting = {"resin.read.0": 9, "resin.read.1": 9, "resin.read.1.first": 60, "resin.index.0": 2}
    taken = served(turns(), waiting, 80)
    assert taken[:2] == ["resin.index.0"] * 2
    assert taken[2 : 2 + PASSED_OVER] == ["resin.read.1.first"] * PASSED_OVER
    assert taken[2 + PASSED_OVER] in ("resin.read.0", "resin.read.1")
    assert taken[3 + PASSED_OVER : 63] == ["resin.read.1.first"] * 10
    assert sorted(taken[63:]) == ["resin.read.0"] * 8 + ["resin.read.1"] * 9
