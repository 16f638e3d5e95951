"""Second vectors by the command line: none, asked for, kept, given up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from resin_es.testing.command import CommandLine

Write = Callable[..., Path]
FERRY = "The Kestrel is a ferry. The Kestrel leaves pier 7 at dawn because the tide turns."
FÄHRE = "Die Möwe ist eine alte Fähre. Sie verlässt den Hafen am Abend, weil die Flut dann kommt."


def languages(cli: CommandLine) -> Any:
    [row] = [one for one in cli.run("doctor", "--json").json if one["name"] == "other languages"]
    return row


def test_none_then_one_then_none(cli: CommandLine, write: Write) -> None:
    path = write("a.jsonl", {"id": "1", "text": FERRY}, {"id": "2", "text": FÄHRE})
    cli.run("index", path, "--public")
    row = languages(cli)
    assert (row["ok"], row["detail"]) == (None, "no second vectors beside a model of your own")

    asked = cli.under(RESIN_MULTILINGUAL="32")
    assert languages(asked)["hint"] == "`resin-es rebuild` makes them by hash-32."
    assert "--yes" in asked.run("rebuild", code=2).stderr
    told = asked.run("rebuild", "--yes").stdout
    assert "vectors by hash-64, of what is in another language than English also by hash-32" in told
    status = cli.run("rebuild", "--status", "--json").json
    assert (status["state"], status["old"]["multilingual"]) == ("none", "hash-32")
    assert asked.run("rebuild", "--json").json["multilingual"] == "hash-32"
    for line in (cli, asked):  # the index says how its encoders are loaded
        assert languages(line)["ok"] is True
        assert line.run("install", "--json").json["multilingual"] == "hash-32"
        found = line.run("search", "Wann verlässt die Möwe den Hafen?", "--json").json
        assert "Hafen" in str(found)
        assert line.run("index", path, "--public", "--json").json["unchanged"] == 2

    refused = cli.run("rebuild", "--yes", code=2).stderr
    assert "hash-32" in refused
    assert "RESIN_MULTILINGUAL=off" in refused
    off = cli.under(RESIN_MULTILINGUAL="off")
    assert languages(off)["hint"].startswith("RESIN_MULTILINGUAL=off counts")
    report = off.run("rebuild", "--yes", "--json").json
    assert (report["done"], report["model"], report["multilingual"]) == (True, "hash-64", "")
    assert languages(off)["detail"] == "no second vectors (RESIN_MULTILINGUAL=off)"
    assert "Hafen" in str(off.run("search", "Wann verlässt die Möwe den Hafen?", "--json").json)


def test_what_is_no_encoder_is_refused_before_anything_is_made(cli: CommandLine) -> None:
    wrong = cli.under(RESIN_MULTILINGUAL="/nowhere", RESIN_PREFIX="t-never-made")
    for command in ("install", "rebuild"):
        line = wrong if command == "install" else cli.under(RESIN_MULTILINGUAL="/nowhere")
        told = line.run(command, code=2).stderr
        assert "RESIN_MULTILINGUAL '/nowhere' names no encoder" in told
    assert "not installed" in str(cli.under(RESIN_PREFIX="t-never-made").run("doctor", code=1))
    cli.under(RESIN_MULTILINGUAL="/nowhere").run("rebuild", "--status")  # a look needs no model
