"""eval from the command line: rows side by side, findings kept, both reports written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.testing.command import CommandLine

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

pytestmark = pytest.mark.e2e

DOCUMENTS = {
    "lock": ("Orrin Lock", ["Orrin Lock lifts barges by nine metres.", "It opened in 1911."]),
    "canal": (
        "Vale Canal",
        ["The Vale Canal joins Orrin and Tarn.", "Floods close it in most springs."],
    ),
    "mill": ("Tarn Mill", ["Tarn Mill ground oats until 1950.", "It is now a school."]),
}
QUESTIONS = (
    ("q1", "How far does Orrin Lock lift barges?", "nine metres", "lock", 0),
    ("q2", "Why is the Vale Canal closed?", "floods", "canal", 1),
)


@pytest.fixture(scope="module")
def own_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three documents and two questions in the format ``own``."""
    folder = tmp_path_factory.mktemp("data") / "waters"
    folder.mkdir()
    documents = [
        {"id": key, "title": title, "text": " ".join(sentences)}
        for key, (title, sentences) in DOCUMENTS.items()
    ]
    questions = [
        {
            "id": key,
            "question": question,
            "answer": answer,
            "gold": [{"document": document, "quote": DOCUMENTS[document][1][number]}],
        }
        for key, question, answer, document, number in QUESTIONS
    ]
    for name, rows in (("documents", documents), ("questions", questions)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture(scope="module", autouse=True)
def eval_prefix(cli: CommandLine) -> Iterator[str]:
    """What the names of `eval`'s indices begin with; taken away whatever happens."""
    yield f"{cli.environ['RESIN_PREFIX']}-eval"
    cli.run("eval", "remove", "--yes")


def documents_by_prefix(es: Elasticsearch, root: str) -> dict[str, int]:
    """How many documents each evaluation's registry holds, by its prefix."""
    names = es.indices.get_alias(index=f"{root}-*-documents").body
    es.indices.refresh(index=f"{root}-*-documents")
    return {name.rpartition("-documents-v")[0]: es.count(index=name)["count"] for name in names}


@pytest.fixture(scope="module")
def first_run(
    cli: CommandLine, own_set: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """A run with the default rows and answers."""
    out = tmp_path_factory.mktemp("run")
    told = cli.run("eval", "own", "--data", own_set, "--out", out, "--answers", "--json").json
    return out, told


def rows_of(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    [section] = told["datasets"]
    return {row["system"]: row for row in section["rows"]}


def test_every_default_row_is_measured(first_run: tuple[Path, dict[str, Any]]) -> None:
    _, told = first_run
    [section] = told["datasets"]
    assert (section["name"], section["documents"], section["questions"]) == ("waters", 3, 2)
    rows = rows_of(told)
    assert list(rows) == [
        "none", "bm25", "dense", "rrf", "sentence-document", "dense-sentences",
        "bm25-sentences", "windows", "fused", "resin",
    ]  # fmt: skip
    assert rows["none"]["gold_recall"] == {"500": 0.0, "1000": 0.0, "2000": 0.0}
    for name in ("bm25", "rrf", "resin"):
        assert rows[name]["gold_recall"]["500"] == 1.0, name
        assert rows[name]["over_budget"] == 0
    assert rows["resin"]["answers"]["f1"] > 0
    assert rows["resin"]["against_resin"] == {}
    assert rows["none"]["against_resin"]["500"]["difference"] == -1.0
    assert section["facts"]["command"].startswith("resin-es eval own --data ")


def test_findings_results_and_page_lie_in_the_folder(
    first_run: tuple[Path, dict[str, Any]],
) -> None:
    out, told = first_run
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert rows_of(results)["resin"]["gold_recall"] == rows_of(told)["resin"]["gold_recall"]
    assert len(rows_of(results)["resin"]["findings"]) == 6
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "waters" in page
    assert "RRF of BM25 and dense" in page
    lines = (out / "waters" / "findings.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 10 * 2 * 3
    contexts = (out / "waters" / "contexts.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(contexts) == 10 * 2


def test_a_second_run_finds_nothing_again_and_a_fresh_one_finds_the_same(
    cli: CommandLine, own_set: Path, first_run: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    out, told = first_run
    findings = out / "waters" / "findings.jsonl"
    before = findings.read_bytes()
    again = cli.run("eval", "own", "--data", own_set, "--out", out, "--answers", "--json").json
    assert findings.read_bytes() == before
    assert again == told
    other = cli.run("eval", "own", "--data", own_set, "--out", tmp_path, "--answers", "--json").json
    timed = ("seconds_p50", "seconds_p95")
    for name, row in rows_of(other).items():
        for field, value in row.items():
            if field not in timed:
                assert value == rows_of(told)[name][field], (name, field)


def test_new_rows_join_and_what_cannot_run_says_why(
    cli: CommandLine, own_set: Path, first_run: tuple[Path, dict[str, Any]]
) -> None:
    out, _ = first_run
    wanted = "bm25,k=1,kind=causal-edge,entities,paper,one-hop-matched,ircot,claude-units,lightrag"
    ran = cli.run("eval", "own", "--data", own_set, "--out", out, "--systems", wanted, "--json")
    rows = rows_of(ran.json)
    assert set(wanted.split(",")) | {"resin"} == set(rows)
    for name in ("ircot", "claude-units", "lightrag"):
        assert rows[name]["skipped"], name
        assert rows[name]["label"] in ran.stderr
    assert rows["k=1"]["gold_recall"]["2000"] > 0
    assert rows["entities"]["mean_passages"]["500"] <= rows["resin"]["mean_passages"]["500"]


def test_the_terminal_shows_the_rows_and_where_the_files_are(
    cli: CommandLine, own_set: Path, first_run: tuple[Path, dict[str, Any]]
) -> None:
    out, _ = first_run
    ran = cli.run("eval", "own", "--data", own_set, "--out", out, "--systems", "bm25")
    assert "RESIN" in ran.stdout
    assert "BM25" in ran.stdout
    assert str(out / "report.html") in ran.stderr


def test_nothing_but_the_evaluation_s_own_indices_is_touched(
    cli: CommandLine, es: Elasticsearch, eval_prefix: str, first_run: tuple[Path, dict[str, Any]]
) -> None:
    assert first_run
    mine = {one["source"] for one in cli.run("status", "--json").json["sources"]}
    assert not mine
    theirs = documents_by_prefix(es, eval_prefix)
    assert [name.rpartition("-")[0] for name in theirs] == [f"{eval_prefix}-own-waters-3"]
    assert list(theirs.values()) == [3]


def test_sets_of_one_name_in_two_folders_do_not_overwrite_each_other(
    cli: CommandLine, es: Elasticsearch, own_set: Path, tmp_path: Path, eval_prefix: str
) -> None:
    twin = tmp_path / "waters"
    twin.mkdir()
    for path in own_set.iterdir():
        text = path.read_text(encoding="utf-8").replace("nine metres", "four metres")
        (twin / path.name).write_text(text, encoding="utf-8")
    told = [
        cli.run(
            "eval", "own", "--data", data, "--out", tmp_path / name, "--systems", "resin", "--json"
        ).json
        for data, name in ((own_set, "a"), (twin, "b"), (own_set, "c"))
    ]
    assert all(rows_of(one)["resin"]["gold_recall"]["500"] == 1.0 for one in told)
    assert len([p for p in documents_by_prefix(es, eval_prefix) if "-own-waters-3-" in p]) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("own",), "--data is missing"),
        (("squad", "--data", "."), "unknown data set 'squad'"),
        (("own", "--data", "{own}", "--systems", "bm52"), "no system is called 'bm52'"),
        (("own", "--data", "{own}", "--budgets", "5,many"), "--budgets is '5,many'"),
        (("own", "--data", "{own}", "--budgets", "0"), "--budgets is '0'"),
        (("own", "--data", "{own}", "--budgets", ","), "--budgets is ','"),
        (("own", "--data", "{own}", "--budgets", "10000000"), "from 1 to 1,000,000"),
        (("own", "--data", "{own}", "--out", "{own}/questions.jsonl"), "cannot be written"),
        (("own", "--data", "{own}", "--judge"), "no model is named"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    cli: CommandLine, own_set: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    given = [one.replace("{own}", str(own_set)) for one in arguments]
    out = () if "--out" in given else ("--out", str(tmp_path))
    refused = cli.run("eval", *given, *out, code=2)
    assert said in refused.stderr


def test_rows_are_listed(cli: CommandLine) -> None:
    listed = cli.run("eval", "systems", "--json").json["systems"]
    by_name = {entry["name"]: entry for entry in listed}
    assert by_name["resin"]["group"] == "resin"
    assert by_name["ircot"]["needs"]
    assert "kind=causal-edge" in cli.run("eval", "systems").stdout


def test_remove_takes_evaluations_away_and_nothing_else(
    cli: CommandLine, own_set: Path, es: Elasticsearch, tmp_path: Path
) -> None:
    other = cli.under(RESIN_PREFIX=f"{cli.environ['RESIN_PREFIX']}-other")
    root = f"{other.environ['RESIN_PREFIX']}-eval"
    alike = other.under(RESIN_PREFIX=f"{root}-of-somebody")
    alike.run("install")
    other.run("eval", "own", "--data", own_set, "--out", tmp_path, "--systems", "bm25")
    other.run("eval", "own", "--data", own_set, "--out", tmp_path, "--documents", "1")
    assert any("-corpus-" in name for name in es.indices.get(index=f"{root}-*").body)
    removed = other.run("eval", "remove", "--yes", "--json").json["removed"]
    assert len(removed) == 2  # the set and its slice
    left = es.indices.get(index=f"{root}*").body
    assert left
    assert all(name.startswith(f"{root}-of-somebody-") for name in left)
    alike.run("uninstall", "--yes")
    assert not es.indices.get(index=f"{root}*").body
