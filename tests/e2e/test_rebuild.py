"""Another embedding model by the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from resin_es.testing.command import CommandLine

Write = Callable[..., Path]
FERRY = "The Kestrel is a ferry. The Kestrel leaves pier 7 at dawn because the tide turns."


def leaves(cli: CommandLine) -> Any:
    return cli.run("ask", "Which pier does the Kestrel leave?", "--json").json


def test_from_one_model_to_another(cli: CommandLine, write: Write) -> None:
    path = write("a.jsonl", {"id": "1", "text": FERRY})
    cli.run("index", path, "--public")
    assert not cli.run("rebuild", "--json").json["done"], "the settings are what stands"
    stands = cli.run("rebuild", "--status", "--json").json
    assert (stands["state"], stands["old"]["model"]) == ("none", "hash-64")

    new = cli.under(RESIN_EMBEDDER_MODEL="32")
    assert "resin-es rebuild" in new.run("search", "pier", code=1).stderr
    assert "--yes" in new.run("rebuild", code=2).stderr
    report = new.run("rebuild", "--yes", "--json").json
    assert (report["done"], report["generation"]) == (True, "v2")
    assert report["records"]["units"] > 0
    assert len(report["dropped"]) == 3

    for line in (new, cli):  # the second is a process that still has the old settings
        assert "pier 7" in str(leaves(line))
        assert line.run("index", path, "--public", "--json").json["unchanged"] == 1
    told = {row["name"]: row for row in cli.run("doctor", "--json").json}
    assert told["model"]["ok"] is None
    assert "from hash-64 to hash-32" in told["model"]["detail"]

    cli.under(RESIN_EMBEDDER_MODEL="16").run("search", "pier", code=1)  # never belonged here
    assert new.run("rebuild", "--cancel", "--json").json == {"deleted": []}


def test_contradictions_are_refused(cli: CommandLine) -> None:
    assert "contradict" in cli.run("rebuild", "--status", "--cancel", code=2).stderr
