"""``python -m tests.chaos``: workers, Redis and Elasticsearch die while documents change; at the
end nothing may be lost, doubled, left over, stuck or mixed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.chaos.run import Options, Outcome, run


def options() -> tuple[Options, Path | None]:
    given = Options()
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=given.seconds, help="of trouble")
    parser.add_argument("--records", type=int, default=given.records)
    parser.add_argument("--seed", type=int, default=given.seed)
    parser.add_argument("--pause", type=float, default=given.pause, help="between two troubles")
    parser.add_argument("--settle", type=float, default=given.settle_s, help="most seconds after")
    parser.add_argument("--json", type=Path, help="file for the figures")
    told = parser.parse_args()
    chosen = Options(
        seconds=told.seconds,
        records=told.records,
        seed=told.seed,
        pause=told.pause,
        settle_s=told.settle,
        es_version=os.environ.get("RESIN_TEST_ES_VERSION"),
    )
    return chosen, told.json


def show(outcome: Outcome) -> None:
    table = Table("figure", "value", title=f"after {outcome.seconds:.0f} s")
    rows = {k: v for k, v in asdict(outcome.figures).items() if k != "samples"}
    rows["settled after (s)"] = outcome.settled_s
    rows["processes started again"] = outcome.restarts
    rows["reading calls"] = outcome.reading_calls
    groups = (outcome.troubles, outcome.changes, outcome.bulk_calls, outcome.answers, outcome.met)
    for group in groups:
        rows.update(group)
    for name, value in rows.items():
        shown = f"{value:.1f}" if isinstance(value, float) else str(value)
        table.add_row(name.replace("_", " "), shown)
    console = Console()
    console.print(table)
    for name, samples in outcome.figures.samples.items():
        console.print(f"{name}: {samples}")


def main() -> int:
    chosen, path = options()
    outcome = run(chosen, lambda told: print(told, flush=True))
    show(outcome)
    told = json.dumps(outcome.to_dict())
    if path is not None:
        path.write_text(told)
    print(told)
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    sys.exit(main())
