"""What looks hard, and is taken and answered all the same."""

from __future__ import annotations

import json
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resin_es.testing.command import CommandLine

Write = Callable[..., Path]
LONG_ID = ("Ordner 7/Ümläute & Co/🚇 日本 'x' \"y\" a=b?c#d%20\\ " * 20)[:597] + "end"


@pytest.fixture(scope="module", autouse=True)
def _something_stands(cli: CommandLine, tmp_path_factory: pytest.TempPathFactory) -> None:
    records = [
        {"id": "line-7", "title": "Line 7", "text": "Line 7 is a tram. Its fare is 3 crowns."},
        {"id": "chinese", "title": "七号线", "text": "七号线是有轨电车。车票价格是三克朗。"},
    ]
    path = tmp_path_factory.mktemp("corpus") / "a.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    cli.run("index", path, "--public")


def test_an_id_of_600_characters(cli: CommandLine, write: Write) -> None:
    assert len(LONG_ID) == 600
    assert {"/", " ", "🚇"} <= set(LONG_ID)
    record = {"id": LONG_ID, "text": "The basalt quarry opened in 1911."}
    cli.run("index", write("a.jsonl", record), "--public", "--source", "long")
    question = ("When did the basalt quarry open?", "--source", "long")
    answer = cli.run("ask", *question, "--json").json
    assert "1911" in answer["text"]
    assert answer["citations"][0]["document_id"] == LONG_ID
    assert answer["evidence"][0]["document_id"] == LONG_ID
    assert LONG_ID in cli.run("ask", *question).stdout
    found = cli.run("retrieve", *question, "--filter", f"document_id={LONG_ID}", "--json").json
    assert [one["document_id"] for one in found["evidence"]] == [LONG_ID]
    cause = cli.run("diagnose", answer["trace_id"], "--expect", LONG_ID, "--json").json
    assert cause["stage"] == "used"
    cli.run("delete", LONG_ID, "--source", "long")
    assert "1911" not in cli.run("search", "basalt quarry", "--json").stdout


def test_metadata_of_2000_keys_and_values_of_40_kb(cli: CommandLine, write: Write) -> None:
    metadata: dict[str, Any] = {f"key {n}": n for n in range(2000)}
    metadata |= {"big": "x" * 40_000, "list": ["y" * 40_000, "z"], "deep": {"er": {"est": "w"}}}
    record = {"id": "wide", "text": "The gantry is green.", "metadata": metadata}
    cli.run("index", write("a.jsonl", record), "--public", "--source", "wide")
    for wanted in ("key 1999=1999", "key 0=0", "list=z", "deep.er.est=w"):
        found = cli.run(
            "ask", "Which colour is the gantry?", "--filter", f"metadata.{wanted}", "--json"
        ).json
        assert [one["document_id"] for one in found["citations"]] == ["wide"], wanted
    none = cli.run("ask", "The gantry?", "--filter", "metadata.key 7=8", "--json").json
    assert none["citations"] == []
    report = cli.run("index", write("a.jsonl", record), "--public", "--source", "wide", "--json")
    assert report.json["unchanged"] == 1


def test_other_metadata_is_only_rewritten(cli: CommandLine, write: Write) -> None:
    record: dict[str, Any] = {"id": "1", "text": "The winch is blue.", "metadata": {"year": 2023}}
    for year, found in ((2023, 1), (2024, 1)):
        record["metadata"] = {"year": year}
        report = cli.run("index", write("a.jsonl", record), "--public", "--source", "m", "--json")
        assert report.json["rights_changed"] == (year == 2024)
        hits = cli.run("search", "winch", "--source", "m", "--filter", f"metadata.year={year}",
                       "--kind", "sentence", "--json").json["hits"]  # fmt: skip
        assert len(hits) == found
    old = cli.run(
        "search", "winch", "--source", "m", "--filter", "metadata.year=2023", "--json"
    ).json
    assert old["hits"] == []


LUCENE = r'fare AND (tram OR "Line 7"~2) +title:x^3 -[a TO {b}] /re.*/ \ && || ! * ? : _exists_:y'


@pytest.mark.parametrize(
    ("question", "cited"),
    [
        (LUCENE, "line-7"),
        ("fare", "line-7"),
        ("车票价格是多少?", "chinese"),
        ("What is the fare of the tram? " * 700, "line-7"),
        ("fare" + "x" * 19_000 + " tram fare " * 80, "line-7"),
        (" ".join(f"{a}{b}{c}" for a in string.ascii_letters for b in "abcdefgh"
                  for c in "ijklmnopqrst")[:19_960] + " What is the fare of the tram Line 7?",
         "line-7"),
        ("\u202eWhat\u0000 is\tthe\r\nfare\u200b of Line 7?\ufeff", "line-7"),
    ],
    ids=["lucene", "one word", "chinese", "20000", "giant word", "5000 words", "controls"],
)  # fmt: skip
@pytest.mark.parametrize("command", ["ask", "retrieve", "search"])
def test_a_question_of_any_shape(cli: CommandLine, command: str, question: str, cited: str) -> None:
    found = cli.run(command, question, "--source", "files", "--json").json
    if command == "search":
        ids = [hit["candidate"]["document_id"] for hit in found["hits"]]
    else:
        ids = [one["document_id"] for one in found["evidence"]]
    assert cited in ids
    if command == "ask":
        assert found["trace_id"]
        cli.run("ask", question, "--source", "files")


@pytest.mark.parametrize("question", [LUCENE, "车票", "fare " * 4000])
def test_a_plan_of_any_question(cli: CommandLine, question: str) -> None:
    assert 1 <= len(cli.run("plan", question, "--json").json["hops"]) <= 4


# ---------------------------------------------------------------- faulty lines among good ones


def test_broken_line_3_of_10(cli: CommandLine, write: Write) -> None:
    records: list[Any] = [{"id": str(n), "text": f"Berth {n} is free."} for n in range(1, 11)]
    records[2] = '{"id": "3", "text": "Berth 3'
    outcome = cli.run("index", write("a.jsonl", *records), "--public", "--source", "ten", code=1)
    [line] = outcome.stderr.splitlines()
    assert "a.jsonl line 3: not JSON" in line
    found = cli.run("search", "berth", "--source", "ten", "--limit", "50", "--json").json["hits"]
    assert {hit["candidate"]["document_id"] for hit in found} == {*"12456789", "10"}


def test_duplicate_ids_in_one_run(cli: CommandLine, write: Write) -> None:
    one, two = (
        write("a.jsonl", {"id": "1", "text": "The first says amber."}),
        write(
            "b.jsonl",
            {"id": "2", "text": "Another."},
            {"id": "1", "text": "The second says ochre."},
        ),
    )
    outcome = cli.run("index", one, two, "--public", "--source", "twice", code=1)
    [line] = outcome.stderr.splitlines()
    assert "b.jsonl line 2: duplicate id '1'" in line
    told = cli.run("search", "what it says", "--source", "twice", "--json").stdout
    assert "amber" in told
    assert "ochre" not in told


def test_a_record_without_rights_among_others(cli: CommandLine, write: Write) -> None:
    path = write(
        "a.jsonl",
        {"id": "1", "text": "The buoy is red.", "access": ["*"]},
        {"id": "2", "text": "The buoy is blue."},
        {"id": "3", "text": "The buoy is green.", "access": ["*"]},
    )
    outcome = cli.run("index", path, "--source", "mixed", code=1)
    [line] = outcome.stderr.splitlines()
    assert "line 2: nothing says who may read this document" in line
    told = cli.run("search", "buoy", "--source", "mixed", "--json").stdout
    assert ("red" in told, "blue" in told, "green" in told) == (True, False, True)
