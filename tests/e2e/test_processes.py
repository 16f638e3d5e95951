"""Real processes: one that is killed in its work, one that reads 50 MB, one that is piped."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from resin_es.testing.command import CommandLine

Write = Callable[..., Path]
COMMAND = (sys.executable, "-m", "resin_es.cli")


def environ(cli: CommandLine, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RESIN_")}
    return {**kept, **cli.environ, **more}


# ---------------------------------------------------------------- kill -9

TREES = ("Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Juniper", "Larch", "Maple", "Oak")


def corpus() -> list[dict[str, Any]]:
    """24 documents, none like another."""
    return [
        {
            "id": f"tree/{n}",
            "title": f"{TREES[n % 10]} {n}",
            "text": f"{TREES[n % 10]} {n} is a tree. {TREES[n % 10]} {n} fell in 19{n + 10} "
            f"because storm {n} broke its trunk. Gardener {n} needs {n + 2} saws.",
        }
        for n in range(24)
    ]


def content(shelf: Any, source: str) -> dict[str, Counter[str]]:
    """What stands of a source, without the ids, which its name is part of."""
    fields = {
        "units": ("document_id", "kind", "statement"),
        "sentences": ("document_id", "statement"),
        "passages": ("document_id", "text"),
        "documents": ("document_id", "status", "title", "settled"),
    }
    return {
        family: Counter(
            json.dumps([record.get(name) for name in names])
            for record in shelf.all(family, source=source).values()
        )
        for family, names in fields.items()
    }


@pytest.fixture(scope="module")
def unkilled(cli: CommandLine, shelf: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("corpus") / "trees.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in corpus()))
    cli.run("index", path, "--public", "--source", "whole")
    return path, content(shelf, "whole")


def moment(seed: int) -> tuple[str, int, float]:
    """A family, how many of its records have to be there, and a little longer."""
    drawn = random.Random(seed)
    family = drawn.choice(["units", "sentences", "passages", "documents"])
    return family, drawn.randint(1, 15), drawn.random() * 0.1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_killed_in_the_middle_and_run_again(
    cli: CommandLine, shelf: Any, unkilled: tuple[Path, Any], seed: int
) -> None:
    path, whole = unkilled
    source = f"killed-{seed}"
    arguments = ("index", str(path), "--public", "--source", source)
    # the cache holds the vectors already: without it the work takes longer, as it does at first
    slow = environ(cli, RESIN_BATCH_DOCUMENTS="3", RESIN_CACHE_VECTORS="false")
    family, records, wait = moment(seed)
    process = subprocess.Popen([*COMMAND, *arguments], env=slow, stdout=subprocess.DEVNULL)
    try:
        while shelf.count(family, source=source) < records and process.poll() is None:
            time.sleep(0.01)
        time.sleep(wait)
    finally:
        process.kill()
    assert process.wait() == -signal.SIGKILL, "it had ended before it was killed"
    assert content(shelf, source) != whole
    report = cli.run(*arguments, "--json").json
    assert report["documents"] == 24
    assert report["new"] + report["changed"] > 0
    assert content(shelf, source) == whole
    again = cli.run(*arguments, "--json").json
    assert (again["unchanged"], again["read_passages"]) == (24, 0)


# ---------------------------------------------------------------- 50 MB

DOCUMENTS, GAP = 20, 1_250_000
"""A line break is two bytes of JSON."""


def big_lines(documents: int) -> Iterator[str]:
    """Lines of 2.5 MB that cost little: two sentences, many blank lines apart."""
    gap = "\n" * GAP
    for n in range(documents):
        text = f"Locker {n} holds a rope.{gap}The key of locker {n} hangs at gate {n}."
        yield json.dumps({"id": str(n), "text": text}) + "\n"


def peak(cli: CommandLine, path: Path, source: str, documents: int) -> int:
    """Index ``path`` in a process of its own; the most memory it held, in bytes."""
    with path.open("w") as file:
        file.writelines(big_lines(documents))
    arguments = ("index", str(path), "--public", "--source", source)
    process = subprocess.Popen([*COMMAND, *arguments], env=environ(cli), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def test_50_mb_are_streamed(cli: CommandLine, shelf: Any, tmp_path: Path) -> None:
    little = peak(cli, tmp_path / "little.jsonl", "little", 2)
    path = tmp_path / "big.jsonl"
    much = peak(cli, path, "big", DOCUMENTS)
    assert path.stat().st_size > 49_000_000
    assert much - little < 12_000_000
    assert shelf.count("documents", source="big", status="indexed") == DOCUMENTS
    found = cli.run(
        "retrieve", "Where hangs the key of locker 17?", "--source", "big", "--json"
    ).json
    ends = {s["text"]: s["end"] for one in found["evidence"] for s in one["sentences"]}
    assert ends["The key of locker 17 hangs at gate 17."] > GAP


# ---------------------------------------------------------------- pipes


def test_documents_by_pipe_into_the_installed_command(cli: CommandLine) -> None:
    """The installed command, started as a user does it."""
    command = Path(sys.executable).with_name("resin-es")
    record = '{"id": "1", "text": "The dinghy is white."}\n'
    told = subprocess.run(
        [command, "index", "-", "--public", "--source", "pipe", "--json"],
        input=record, env=environ(cli), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(told.stdout)["new"] == 1
    assert told.stderr == ""
