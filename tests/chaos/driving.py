"""The team and the operator: documents change, things break and are put right again."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import psutil
from elastic_transport import TransportError
from elasticsearch import ApiError

from resin_es.errors import ResinError
from resin_es.local.node import down, status, up
from tests.background.office import name

if TYPE_CHECKING:
    from resin_es.testing.nodes import TemporaryNode
    from resin_es.testing.redis_server import TemporaryRedis
    from tests.background.processes import Processes
    from tests.background.world import World
    from tests.chaos.asking import Ledger
    from tests.chaos.proxy import Faults
    from tests.chaos.schedule import Change, Trouble

OUTAGE_S = 90.0
ALWAYS, SHARE = 0.03, 0.4
"""Of bulk calls that fail: all the time, and while more of them do."""


class Team:
    """Writes the office's records; keeps in mind what stands there."""

    def __init__(self, world: World, ledger: Ledger, records: int, seed: int) -> None:
        self._world, self._ledger = world, ledger
        self._chance = random.Random(seed)
        self._versions = dict.fromkeys(range(records), 1)
        self._there = dict.fromkeys(range(records), True)
        self._closed: set[int] = set()
        self.done: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """Records that are there."""
        return sum(self._there.values())

    def do(self, change: Change) -> None:
        pool = {
            "edit": [n for n, there in self._there.items() if there],
            "delete": [n for n, there in self._there.items() if there],
            "bring back": [n for n, there in self._there.items() if not there],
            "close": [n for n, there in self._there.items() if there and n not in self._closed],
            "open": [n for n in self._closed if self._there[n]],
        }["delete" if change == "delete and tell" else change]
        if not pool:
            return
        number = self._chance.choice(pool)
        {
            "edit": self._edit,
            "delete": self._delete,
            "delete and tell": self._delete_and_tell,
            "bring back": self._bring_back,
            "close": self._close,
            "open": self._open,
        }[change](number)
        self.done[change] += 1

    def _write(self, number: int) -> None:
        groups = ["board"] if number in self._closed else ["all"]
        record = self._world.office.record(number, self._versions[number], groups=groups)
        insist(lambda: self._world.office.put([(number, record)]))

    def _edit(self, number: int) -> None:
        self._versions[number] += 1
        self._write(number)

    def _delete(self, number: int) -> None:
        insist(lambda: self._world.office.drop([number]))
        self._there[number] = False

    def _delete_and_tell(self, number: int) -> None:
        self._delete(number)
        self._tell(number)
        self._ledger.deleted([number])

    def _bring_back(self, number: int) -> None:
        self._ledger.coming_back(number)
        self._versions[number] += 1
        self._there[number] = True
        self._write(number)

    def _close(self, number: int) -> None:
        """For the board alone; nobody who asks here is of it."""
        self._closed.add(number)
        self._write(number)
        self._tell(number)
        self._ledger.deleted([number])

    def _open(self, number: int) -> None:
        self._ledger.coming_back(number)
        self._closed.discard(number)
        self._write(number)

    def _tell(self, number: int) -> None:
        world = self._world
        insist(lambda: world.service.notify(world.office.source, [name(number)]))


def insist(action: Callable[[], object]) -> None:
    """Until it is done: Elasticsearch may be away for a while."""
    deadline = time.monotonic() + OUTAGE_S
    while True:
        try:
            action()
            return
        except (ApiError, TransportError, ResinError) as error:
            # a bulk delete that was done before its answer was lost finds nothing the next time
            if "not_found" in str(error):
                return
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


class Operator:
    """Breaks things. What ran is started again, and nothing else is done about it."""

    def __init__(
        self,
        processes: Processes,
        redis: TemporaryRedis,
        node: TemporaryNode,
        faults: Faults,
        seed: int,
    ) -> None:
        self._processes, self._redis, self._node = processes, redis, node
        self._faults = faults
        self._chance = random.Random(seed)
        self._outage: threading.Thread | None = None
        self.done: Counter[str] = Counter()
        self.restarts = 0

    def do(self, trouble: Trouble) -> None:
        worker = self._chance.choice(self._processes.workers)
        actions: dict[Trouble, Callable[[], object]] = {
            "worker killed": worker.kill,
            "task killed": worker.kill_child,
            "machine killed": worker.kill_all,
            "worker terminated": worker.terminate,
            "beat killed": self._processes.beat.kill_all,
            "redis flushed": self._redis.flush,
            "redis restarted": lambda: self._redis.restart(kill=self._chance.random() < 0.5),
            "elasticsearch restarted": lambda: self._elsewhere(lambda: down(self._node.settings)),
            "elasticsearch killed": lambda: self._elsewhere(self._kill_node),
            "bulk calls fail": lambda: setattr(self._faults, "share", SHARE),
        }
        self._faults.share = ALWAYS
        actions[trouble]()
        self.done[trouble] += 1

    def supervise(self) -> None:
        """What any service manager does."""
        self.restarts += sum(one.ensure() for one in self._processes.all)

    def calm(self) -> None:
        """Nothing is broken any more."""
        self._faults.share = 0.0
        if self._outage is not None:
            self._outage.join()
        self.supervise()

    def _elsewhere(self, end: Callable[[], object]) -> None:
        """Elasticsearch takes its time to come back: meanwhile all else goes on."""
        if self._outage is not None:
            self._outage.join()

        def outage() -> None:
            end()
            up(self._node.settings)

        self._outage = threading.Thread(target=outage)
        self._outage.start()

    def _kill_node(self) -> None:
        pid = status(self._node.settings).pid
        assert pid is not None, "the node does not run"
        process = psutil.Process(pid)
        process.kill()
        process.wait(10)
