"""Claude's path from end to end: the command line, the real SDK, a scripted server, a real
Elasticsearch."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from resin_es.cli.app import app
from resin_es.testing.command import CommandLine
from resin_es.testing.model_server import ModelServer
from resin_es.testing.scripted_claude import ScriptedClaude

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

KEY = "sk-ant-a-key-that-nobody-may-see"
PLACES = ("Alder", "Birch", "Cedar", "Dune", "Elm", "Fir", "Gorse", "Hazel", "Ivy", "Juniper")
CHANGING = frozenset({"committed_at", "heartbeat", "attempts"})
SPENT = frozenset({"tokens", "cost"})
"""What a record says of when, how often and for how much it was written."""

Records = dict[str, dict[str, dict[str, Any]]]
Lines = Callable[..., CommandLine]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if find_spec("anthropic") is None and not os.environ.get("CI"):
        for item in items:
            if "claude" in item.path.parts:
                item.add_marker(pytest.mark.skip("the extra [anthropic] is not installed"))


def sentences_of(n: int) -> list[str]:
    """Three sentences of document ``n``; over six documents all six kinds of unit."""
    place = f"{PLACES[n % 10]} Station {n}"
    kinds = [
        f"{place} is a stop of the Valley Line number {n}.",
        f"{place} owns {n + 2} wooden benches.",
        f"{place} opened in 19{n % 90 + 10}.",
        f"If snow of {n} centimetres falls, trains end at {place}.",
        f"Trains are late at {place} because ice covers switch {n}.",
        f"All trains need permit {n} at {place}.",
    ]
    return [kinds[(n + at) % 6] for at in range(3)]


def document(n: int, sentences: Sequence[str] = ()) -> dict[str, Any]:
    text = " ".join(sentences or sentences_of(n))
    return {"id": f"stop/{n}", "title": f"Stop {n}", "text": text}


def written(path: Path, documents: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
    return path


class Corpus(NamedTuple):
    """How documents are made, for tests that change some."""

    sentences: Callable[[int], list[str]] = sentences_of
    document: Callable[..., dict[str, Any]] = document
    written: Callable[..., Path] = written


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return Corpus()


@pytest.fixture(scope="session")
def stops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 documents of three sentences each: one passage, two calls."""
    folder = tmp_path_factory.mktemp("stops")
    return written(folder / "stops.jsonl", [document(n) for n in range(200)])


@pytest.fixture(scope="session")
def lines(es_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lines]:
    """``lines(url)``: a command line with indices of its own, read by Claude at ``url``."""
    made: list[CommandLine] = []
    home = str(tmp_path_factory.mktemp("no-config"))

    def make(url: str, **more: str) -> CommandLine:
        environ = {
            "RESIN_ES_URL": es_url,
            "RESIN_PREFIX": f"t-{uuid.uuid4().hex[:10]}",
            "RESIN_EMBEDDER": "hash",
            "RESIN_GROUPS": "all",
            "RESIN_LLM": "claude",
            "RESIN_ANTHROPIC_KEY": KEY,
            "RESIN_ANTHROPIC_URL": url,
            "XDG_CONFIG_HOME": home,
        }
        line = CommandLine(app, {**environ, **more})
        line.run("install")
        made.append(line)
        return line

    yield make
    for line in made:
        line.run("uninstall", "--yes")


@pytest.fixture(scope="session")
def everything(es: Elasticsearch) -> Callable[[CommandLine], Records]:
    """What a command line's indices hold of documents, by family and id, but for what differs
    from run to run by nature."""

    def records(line: CommandLine) -> Records:
        found: Records = {}
        for family in ("documents", "passages", "sentences", "units"):
            index = f"{line.environ['RESIN_PREFIX']}-{family}"
            es.indices.refresh(index=index)
            told = es.search(index=index, query={"match_all": {}}, size=10_000)
            found[family] = {hit["_id"]: _lasting(hit["_source"]) for hit in told["hits"]["hits"]}
        return found

    return records


@pytest.fixture(scope="session")
def unkilled(lines: Lines, stops: Path, everything: Callable[[CommandLine], Records]) -> Records:
    """The 200 documents, read in one go."""
    with ModelServer(ScriptedClaude()) as server:
        line = lines(server.url)
        line.run("index", stops, "--public", "--yes")
        return everything(line)


def _lasting(record: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in record.items() if name not in CHANGING}
    if "counts" in kept:
        kept["counts"] = {k: v for k, v in kept["counts"].items() if k not in SPENT}
    return kept
