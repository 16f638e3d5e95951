"""One run: set up, trouble, quiet, and the count of what stands."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from elasticsearch import Elasticsearch

from resin_es.bootstrap import Services
from resin_es.model import DocumentStatus, RegistryEntry
from resin_es.testing.nodes import TemporaryNode, temporary_node
from resin_es.testing.redis_server import TemporaryRedis, temporary_redis
from tests.background.command import read_by_marks
from tests.background.office import wait_until
from tests.background.processes import Processes
from tests.background.reading import calls
from tests.background.world import World, fresh, logged
from tests.chaos.asking import Asker, Ledger
from tests.chaos.driving import Operator, Team
from tests.chaos.figures import Figures, compared
from tests.chaos.proxy import Faults, proxy
from tests.chaos.schedule import schedule

Say = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """``seconds`` of trouble over ``records``; then ``settle_s`` at most until all is done."""

    seconds: float = 600.0
    records: int = 2000
    seed: int = 1
    settle_s: float = 900.0
    changes_per_s: float = 4.0
    pause: float = 8.0
    es_version: str | None = None


@dataclass
class Outcome:
    """All that is told at the end."""

    options: Options
    figures: Figures
    troubles: dict[str, int] = field(default_factory=dict)
    changes: dict[str, int] = field(default_factory=dict)
    bulk_calls: dict[str, int] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    met: dict[str, int] = field(default_factory=dict)
    restarts: int = 0
    reading_calls: int = 0
    settled_s: float | None = None
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return not self.figures.wrong and self.settled_s is not None

    def to_dict(self) -> dict[str, Any]:
        return {"passed": self.passed, **asdict(self)}


def run(options: Options, say: Say = print) -> Outcome:
    """Raises what the set-up raises; whatever goes wrong after that is in the figures."""
    started = time.monotonic()
    with ExitStack() as stack:
        stack.enter_context(read_by_marks())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="resin-es-chaos-")))
        node = stack.enter_context(temporary_node(options.es_version))
        redis = stack.enter_context(temporary_redis())
        faults = Faults(Random(options.seed))
        through = stack.enter_context(proxy(node.url, faults))
        es = stack.enter_context(Elasticsearch(node.url, request_timeout=20))
        world = World(es, node.url, redis.url(7), "chaos", folder, workers_es_url=through)
        say(f"Elasticsearch {node.status.version}, {options.records} records")
        world.set_up(options.records)
        processes = stack.enter_context(world.processes())
        outcome = _with_trouble(options, world, node, redis, processes, faults, say)
        if not outcome.passed:
            say(processes.logs())
    outcome.seconds = time.monotonic() - started
    return outcome


def _with_trouble(
    options: Options,
    world: World,
    node: TemporaryNode,
    redis: TemporaryRedis,
    processes: Processes,
    faults: Faults,
    say: Say,
) -> Outcome:
    ledger = Ledger()
    team = Team(world, ledger, options.records, options.seed)
    operator = Operator(processes, redis, node, faults, options.seed)
    asker = Asker(Services(world.settings), ledger, options.records, options.seed)
    asker.start()
    _ = world.service  # imported before the noise begins
    try:
        _await_work(world, options)
        with _changing(team, options):
            _troubles(operator, options, say)
        operator.calm()
        say("quiet from here on; nobody helps")
        settled = _settle(world, team, options.settle_s)
        say("settled" if settled is not None else f"not settled: {world.states()}")
    finally:
        asker.stop()
    figures = count(world, "chaos-fresh")
    figures.left_in_queue = world.waiting()
    figures.take("wrong_answers", asker.told.wrong)
    figures.take("failed_answers", asker.told.failures)
    return Outcome(
        options=options,
        figures=figures,
        troubles=dict(operator.done),
        changes=dict(team.done),
        bulk_calls=dict(faults.met),
        answers={k: v for k, v in asdict(asker.told).items() if isinstance(v, int)},
        met=_met(processes),
        restarts=operator.restarts,
        reading_calls=len(calls(world.folder)),
        settled_s=settled,
    )


def _await_work(world: World, options: Options) -> None:
    """Trouble begins when a twentieth is read: who is idle cannot be hurt."""
    begun = wait_until(lambda: len(calls(world.folder)) > options.records / 10, 120)
    assert begun, f"no document was read: {world.states()}"


MET = ("crashed", "dead", "retried", "busy", "suspects", "swept", "settled", "deleted")


def _met(processes: Processes) -> dict[str, int]:
    """What tasks told of trouble, summed over all of them (those that lived to tell)."""
    found: Counter[str] = Counter()
    for worker in processes.workers:
        for line in logged(worker.log, "task done"):
            report = line.get("report") or {}
            found.update({name: int(report.get(name) or 0) for name in MET})
        found["tasks failed"] += len(logged(worker.log, "task failed"))
    return {name: count for name, count in sorted(found.items()) if count}


@contextmanager
def _changing(team: Team, options: Options) -> Iterator[None]:
    """The team works on while things break. What it fails with is raised at the end."""

    def work() -> None:
        begun = time.monotonic()
        for due in _schedule(options):
            if due.change is not None:
                time.sleep(max(0.0, begun + due.at - time.monotonic()))
                if time.monotonic() - begun > options.seconds:
                    return
                team.do(due.change)

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        yield
        done.result()


def _troubles(operator: Operator, options: Options, say: Say) -> None:
    begun = time.monotonic()
    for due in _schedule(options):
        if due.trouble is None:
            continue
        while (left := begun + due.at - time.monotonic()) > 0:
            time.sleep(min(left, 1.0))
            operator.supervise()
        say(f"{time.monotonic() - begun:6.1f} s  {due.trouble}")
        operator.do(due.trouble)


def _schedule(options: Options) -> Any:
    return schedule(
        options.seconds,
        options.seed,
        changes_per_s=options.changes_per_s,
        pause=options.pause,
    )


def _settle(world: World, team: Team, seconds: float) -> float | None:
    """Seconds until everything is done, None if it is not in time."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        if world.finished(team.count) and not world.waiting() and not _unlisted(world):
            return time.monotonic() - begun
        time.sleep(2.0)
    return None


def _unlisted(world: World) -> bool:
    """Whether records are left that belong to no document."""
    store = world.services.store
    counts = dict(store.record_counts())
    entries = {key: one.entry for key, one in store.entries(list(counts)).items()}
    return any(key not in entries or count != _held(entries[key]) for key, count in counts.items())


def _held(entry: RegistryEntry) -> int:
    if entry.status is DocumentStatus.DELETED:
        return 0
    return entry.counts.sentences + entry.counts.passages + entry.counts.units


def count(world: World, prefix: str) -> Figures:
    """Registry and records against those of a fresh build of the same documents."""
    source = world.office.source
    other = fresh(world, prefix, world.documents())
    world.services.store.refresh()
    return compared(
        [one.entry for one in world.services.store.scan_entries(source)],
        world.records(),
        [one.entry for one in other.store.scan_entries(source)],
        world.records(prefix),
    )
