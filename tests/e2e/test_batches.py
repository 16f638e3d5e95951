"""index --batch and batches, from end to end: interrupted, listed, cancelled, taken up."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from resin_es.testing.batch_server import ScriptedBatches
from resin_es.testing.command import CommandLine
from resin_es.testing.model_server import Asked, ModelServer, Reply
from resin_es.testing.scripted_claude import ScriptedClaude

if find_spec("anthropic") is None and not os.environ.get("CI"):
    pytest.skip("the extra [anthropic] is not installed", allow_module_level=True)

Write = Callable[..., Path]
INDEX = ("index", "--public", "--yes", "--batch")


class Provider:
    """A script that presses Ctrl-C at the next look at a batch, if ``interrupts``."""

    def __init__(self) -> None:
        self.batches = ScriptedBatches(single=ScriptedClaude(), polls=0)
        self.interrupts = False

    def __call__(self, asked: Asked) -> Reply:
        reply = self.batches(asked)
        if self.interrupts and asked.method == "GET":
            self.interrupts = False
            os.kill(os.getpid(), signal.SIGINT)
        return reply

    def hold(self) -> None:
        """Batches made so far do not end for a while."""
        self.batches._polls = 9

    def end(self) -> None:
        self.batches._polls = 0
        for batch in self.batches.batches.values():
            batch.polls = 0


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def house(cli: CommandLine, provider: Provider) -> Iterator[CommandLine]:
    with ModelServer(provider) as server:
        yield cli.under(
            RESIN_LLM="claude",
            RESIN_ANTHROPIC_URL=server.url,
            RESIN_ANTHROPIC_KEY="sk-test-12345",
        )


@pytest.fixture
def corpus(write: Write) -> Path:
    """Documents that no other test has, since all share one index and its cache."""
    name = uuid.uuid4().hex[:6]

    def text(number: int) -> str:
        return " ".join(f"Ferry {name} leaves pier {n} at {number} o'clock." for n in range(1, 5))

    records = ({"id": f"{name}-{n}", "title": "F", "text": text(n)} for n in range(4))
    return write("docs.jsonl", *records)


def test_a_batch_run_asks_nothing_one_by_one_and_costs_half(
    house: CommandLine, provider: Provider, corpus: Path
) -> None:
    shown = house.run(*INDEX, corpus, "--json").json
    assert (shown["new"], shown["batches"]["landed"], shown["batches"]["errored"]) == (4, 12, 0)
    assert provider.batches.singles == 0
    total = shown["spending"]["total"]
    assert (total["calls"], total["batched"]) == (12, 12)
    assert total["dollars"] == pytest.approx(shown["batches"]["dollars"]) != 0
    assert "no batch is open" in house.run("batches").stdout
    again = house.run(*INDEX, corpus)
    assert "4 unchanged" in again.stdout
    assert "by batch: nothing" in again.stdout


def test_an_interrupted_run_says_how_to_go_on_and_goes_on(
    house: CommandLine, provider: Provider, corpus: Path
) -> None:
    provider.hold()
    provider.interrupts = True
    told = house.run(*INDEX, corpus, code=130).stderr
    assert "1 batch goes on at the provider" in told
    assert "msgbatch_0001" in told
    assert "resin-es batches --cancel" in told
    listed = house.run("batches", "--json").json["batches"]
    assert [(one["id"], one["calls"], one["state"]) for one in listed] == [
        ("msgbatch_0001", 4, "running")
    ]
    assert "msgbatch_0001" in house.run("batches").stdout
    provider.end()
    shown = house.run(*INDEX, corpus, "--json").json
    assert (shown["batches"]["resumed"], shown["batches"]["submitted"]) == (1, 1)
    assert set(provider.batches.paid.values()) == {1}
    assert provider.batches.singles == 0


def test_a_run_without_batches_says_that_results_are_left(
    house: CommandLine, provider: Provider, corpus: Path
) -> None:
    provider.hold()
    provider.interrupts = True
    told = house.run(*INDEX, corpus, "--json", code=130)
    assert "msgbatch_0001" in told.json["interrupted"]
    shown = house.run("index", "--public", "--yes", corpus)
    assert "1 batch of an earlier run is open" in shown.stderr
    assert provider.batches.singles > 0
    provider.end()
    assert house.run(*INDEX, corpus, "--json").json["unchanged"] == 4
    assert house.run("batches", "--json").json["batches"] == []  # nothing left to get from it


def test_cancelled_batches_are_named_and_what_is_missing_is_read_one_by_one(
    house: CommandLine, provider: Provider, corpus: Path
) -> None:
    provider.hold()
    provider.interrupts = True
    house.run(*INDEX, corpus, code=130)
    assert house.run("batches", "--cancel", "--json").json["cancelled"] == ["msgbatch_0001"]
    provider.end()
    shown = house.run(*INDEX, corpus, "--json").json
    assert (shown["new"], shown["batches"]["canceled"]) == (4, 4)
    assert shown["failures"] == []
    assert provider.batches.singles == 12


def test_a_recorded_batch_is_replayed_as_single_calls(
    house: CommandLine, provider: Provider, corpus: Path, tmp_path: Path
) -> None:
    house.under(RESIN_RECORD=str(tmp_path / "kept")).run(*INDEX, corpus)
    asked = len(provider.batches.batches)
    other = house.under(
        RESIN_PREFIX=f"t-{uuid.uuid4().hex[:10]}", RESIN_REPLAY=str(tmp_path / "kept")
    )
    other.run("install")
    try:
        assert other.run("index", "--public", "--yes", corpus, "--json").json["failures"] == []
        refused = other.run(*INDEX, corpus, code=2)
    finally:
        other.run("uninstall", "--yes")
    assert "--batch cannot be replayed" in refused.stderr
    assert (provider.batches.singles, len(provider.batches.batches)) == (0, asked)
