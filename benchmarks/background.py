"""What keeping an index fresh costs beside building it: reading calls and time, as shares.

    python -m benchmarks.background --records 5000

Vectors by hash and a scripted reader of documents of three sentences: reading costs next to
nothing here, so the shares of time are the worst there are. A real Elasticsearch of its own; one
process, no queue (``resin-es sync --here``), so that nothing but work is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from elasticsearch import Elasticsearch

from resin_es.bootstrap.syncing import sync_here
from resin_es.testing.nodes import temporary_node
from tests.background.command import read_by_marks
from tests.background.reading import FOLDER, calls
from tests.background.world import World

LARGE = {"RESIN_TASK_DOCUMENTS": "50"}


def measured(world: World, work: Callable[[], Any]) -> dict[str, Any]:
    """Seconds and reading calls of ``work``, which returns what the sync reports."""
    before = len(calls(world.folder))
    started = time.perf_counter()
    report = work()
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "calls": len(calls(world.folder)) - before, **report}


def synced(world: World, *, full: bool = False) -> dict[str, Any]:
    report, work = sync_here(world.services, world.office.source, full=full)
    assert not work.problems, work.problems
    return {"looked_at": report.looked_at, "done": work.done}


def run(records: int, folder: Path) -> dict[str, dict[str, Any]]:
    os.environ[FOLDER] = str(folder)
    with temporary_node() as node, Elasticsearch(node.url, request_timeout=60) as es:
        world = World(es, node.url, "redis://127.0.0.1:1/0", "bench", folder, settings=LARGE)
        # records that are older than a sync looks back: the usual case
        world.set_up(records, updated_at="2020-01-01T00:00:00Z")
        found = {"first build": measured(world, lambda: synced(world))}
        found["nothing edited"] = measured(world, lambda: synced(world))
        edited = range(0, records, 100)
        world.office.put((n, world.office.record(n, 2)) for n in edited)
        found["1% edited"] = measured(world, lambda: synced(world))
        assert world.finished(records), world.states()
        found["nothing edited, --full"] = measured(world, lambda: synced(world, full=True))
        found["rights of one"] = measured(world, lambda: _rights(world))
    return found


def _rights(world: World) -> dict[str, Any]:
    world.office.put([(1, world.office.record(1, groups=["board"]))])
    return synced(world)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=5000)
    records = parser.parse_args().records
    with tempfile.TemporaryDirectory() as folder, read_by_marks():
        found = run(records, Path(folder))
    first = found["first build"]
    for name, one in found.items():
        one["share of calls"] = one["calls"] / first["calls"]
        one["share of time"] = one["seconds"] / first["seconds"]
        print(
            f"{name:24} {one['seconds']:8.2f} s {one['share of time']:8.2%}"
            f" {one['calls']:7} calls {one['share of calls']:8.2%}"
        )
    print(json.dumps({"records": records, **found}))


if __name__ == "__main__":
    main()
