"""The chaos run's own judgement: it finds what it is there to find."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

import pytest

from resin_es.model import DocumentStatus, RegistryEntry
from tests.background.office import text
from tests.chaos.asking import Ledger, versions
from tests.chaos.figures import compared
from tests.chaos.proxy import Faults, proxy
from tests.chaos.schedule import CHANGES, TROUBLES, schedule

# ---------------------------------------------------------------- what stands


def entry(number: int, **changes: Any) -> RegistryEntry:
    values: dict[str, Any] = {
        "key": f"k{number}",
        "source": "office",
        "external_id": f"rec/{number}",
        "status": DocumentStatus.INDEXED,
        "committed_version": "v1",
        "rights_hash": "r1",
        "access": ("all",),
    }
    return RegistryEntry(**{**values, **changes})


def record(number: int, version: int = 1, **changes: Any) -> dict[str, Any]:
    values = {"document_key": f"k{number}", "document_id": f"rec/{number}"}
    return {**values, "statement": text(number, version).split(". ")[0], **changes}


def records(**sentences: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    return {"units": {}, "sentences": dict(sentences), "passages": {}}


WANTED = [entry(1), entry(2)]
FRESH = records(a=record(1), b=record(2))


def wrong(entries: list[RegistryEntry], found: dict[str, Any]) -> dict[str, int]:
    return compared(entries, found, WANTED, FRESH).wrong


def test_the_same_is_the_same() -> None:
    grave = entry(3, status=DocumentStatus.DELETED, committed_version="")
    assert wrong([*WANTED, grave], FRESH) == {}


def test_lost() -> None:
    assert wrong([entry(1)], FRESH)["lost"] == 1
    assert wrong(WANTED, records(a=record(1))) == {"lost": 1}
    assert wrong([entry(1), entry(2, committed_version="v0")], FRESH) == {"lost": 1}
    assert wrong([entry(1), entry(2, access=("all", "board"))], FRESH) == {"lost": 1}


def test_duplicated() -> None:
    assert wrong(WANTED, records(a=record(1), b=record(2), c=record(2))) == {"duplicated": 1}
    assert wrong([*WANTED, entry(2, key="k9")], FRESH) == {"duplicated": 1, "orphaned": 1}


def test_orphaned() -> None:
    stray = record(7)
    assert wrong(WANTED, records(a=record(1), b=record(2), c=stray)) == {"orphaned": 2}
    assert wrong([*WANTED, entry(3)], FRESH) == {"orphaned": 1}


@pytest.mark.parametrize(
    "changes",
    [
        {"status": DocumentStatus.PENDING},
        {"status": DocumentStatus.WORKING, "lease": "host:1:x"},
        {"status": DocumentStatus.FAILED},
        {"settled": False},
    ],
)
def test_stuck(changes: dict[str, Any]) -> None:
    assert wrong([entry(1), entry(2, **changes)], FRESH) == {"stuck": 1}


def test_a_grave_that_is_not_closed_is_stuck() -> None:
    grave = entry(3, status=DocumentStatus.DELETED, committed_version="", settled=False)
    assert wrong([*WANTED, grave], FRESH) == {"stuck": 1}


def test_mixed_versions() -> None:
    found = wrong(WANTED, records(a=record(1), b=record(2), c=record(2, 5)))
    assert found == {"mixed_versions": 1, "orphaned": 1}


def test_another_content_under_the_same_id() -> None:
    figures = compared(WANTED, records(a=record(1), b=record(2, access=["x"])), WANTED, FRESH)
    assert figures.wrong == {"different": 1}
    assert "access" in figures.samples["different"][0]


# ---------------------------------------------------------------- answers


def test_who_is_gone_when() -> None:
    ledger = Ledger()
    before = time.monotonic()
    ledger.deleted([4])
    during = time.monotonic()
    assert not ledger.was_gone(4, before)
    assert ledger.was_gone(4, during)
    assert ledger.recent() == [4]
    ledger.coming_back(4)
    assert ledger.was_gone(4, during)
    assert not ledger.was_gone(4, time.monotonic())
    assert not ledger.was_gone(5, during)


def test_every_sentence_says_its_version() -> None:
    sentences = text(12, 34).split(". ")
    assert len(sentences) == 3
    assert all(versions(sentence) == {(12, 34)} for sentence in sentences)


# ---------------------------------------------------------------- what happens when


def test_a_seed_says_all() -> None:
    drawn = schedule(600, 5, changes_per_s=4, pause=8)
    assert drawn == schedule(600, 5, changes_per_s=4, pause=8)
    assert drawn != schedule(600, 6, changes_per_s=4, pause=8)
    assert {one.trouble for one in drawn} == {*TROUBLES, None}
    assert {one.change for one in drawn} == {*(kind for kind, _ in CHANGES), None}
    assert all(one.at < 600 for one in drawn)


# ---------------------------------------------------------------- the proxy


class Upstream(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen: list[bytes]

    def do_POST(self) -> None:
        self.seen.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is told."""


@pytest.fixture
def upstream() -> Iterator[tuple[str, list[bytes]]]:
    seen: list[bytes] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Upstream,), {"seen": seen}))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", seen
    server.shutdown()
    server.server_close()
    thread.join()


def sent(address: str, path: str) -> int | str:
    """The status, or how it failed."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
    try:
        connection.request("POST", path, b"body")
        return connection.getresponse().status
    except (http.client.HTTPException, OSError) as error:
        return type(error).__name__
    finally:
        connection.close()


class Always(Random):
    """Draws every share, and the fault that it is told."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def random(self) -> float:
        return 0.0

    def choice(self, seq: Any) -> Any:
        assert self.fault in seq
        return self.fault


@pytest.mark.parametrize(
    ("fault", "answer", "arrived"),
    [
        ("dropped", "RemoteDisconnected", 0),
        ("answer dropped", "RemoteDisconnected", 1),
        ("refused", 429, 0),
        ("delayed", 200, 1),
    ],
)
def test_faults(
    upstream: tuple[str, list[bytes]], fault: str, answer: int | str, arrived: int
) -> None:
    url, seen = upstream
    faults = Faults(Always(fault), share=1.0)
    with proxy(url, faults) as address:
        assert sent(address, "/_bulk?refresh=true") == answer
        assert len(seen) == arrived
        assert sent(address, "/_search") == 200
        faults.share = -1.0
        assert sent(address, "/_bulk") == 200
    assert faults.met[fault] == 1
    assert faults.met["bulk calls"] == 2


def test_an_upstream_that_is_away_is_no_answer() -> None:
    with proxy("http://127.0.0.1:9", replace(Faults(Random(1)))) as address:
        assert sent(address, "/_search") == "RemoteDisconnected"
