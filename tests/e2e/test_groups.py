"""Two groups on one cluster: no command shows one anything of the other's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resin_es.testing.command import CommandLine, Outcome

CRIMSON: list[dict[str, Any]] = [
    {
        "id": "crimson-dossier",
        "title": "Vermilion ledger",
        "text": "The Zanthor reactor is a furnace. The Zanthor reactor melts tin because the "
        "quillstone burns. The wages of Zanthor are 941,307 crowns.",
        "metadata": {"scarlet_key": "ruby", "year": 2024},
        "access": ["crimson"],
        "url": "https://crimson.example/zanthor",
    },
    {
        "id": "crimson-annex",
        "title": "Vermilion annex",
        "text": "Zanthor workers need a carmine badge.",
        "metadata": {"scarlet_key": "garnet"},
        "access": ["crimson"],
    },
]
AZURE: list[dict[str, Any]] = [
    {
        "id": "azure-note",
        "title": "Harbour note",
        "text": "The harbour crane is a machine. The harbour crane lifts 20 tonnes.",
        "metadata": {"dock": "north"},
        "access": ["azure"],
    }
]
# none of them can come up by chance, in an id made of hex digits or in a score
SECRETS = (
    "zanthor", "vermilion", "quillstone", "carmine", "scarlet", "ruby", "garnet", "crimson",
    "941,307",
)  # fmt: skip
QUESTION = "What does the reactor melt, and what does the crane lift?"


@pytest.fixture(scope="module", autouse=True)
def _indexed(cli: CommandLine, tmp_path_factory: pytest.TempPathFactory) -> None:
    import json

    for source, records in (("crimson-papers", CRIMSON), ("azure-papers", AZURE)):
        path = tmp_path_factory.mktemp(source) / "a.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        cli.run("index", path, "--source", source)


@pytest.fixture(scope="module")
def crimson(cli: CommandLine) -> CommandLine:
    return cli.under(RESIN_GROUPS="crimson")


@pytest.fixture(scope="module")
def azure(cli: CommandLine) -> CommandLine:
    return cli.under(RESIN_GROUPS="azure")


@pytest.fixture(scope="module")
def their_trace(crimson: CommandLine) -> str:
    found = crimson.run("ask", "What does the Zanthor reactor melt?", "--json").json
    assert found["citations"][0]["document_id"] == "crimson-dossier"
    return str(found["trace_id"])


def silent(outcome: Outcome, *given: str) -> Outcome:
    """Nothing of the other group's reached the user, save the words that he gave himself."""
    told = outcome.everything.casefold()
    for word in given:
        told = told.replace(word.casefold(), "")
    assert [secret for secret in SECRETS if secret in told] == []
    return outcome


@pytest.mark.parametrize("json_output", [("--json",), ()], ids=["json", "people"])
@pytest.mark.parametrize(
    "command",
    [
        ("search", QUESTION, "--limit", "100"),
        ("retrieve", QUESTION, "--k", "100"),
        ("ask", QUESTION, "--k", "100"),
        ("ask", QUESTION, "--explain"),
        ("plan", QUESTION),
        ("status",),
        ("doctor",),
        ("settings",),
    ],
    ids=lambda command: " ".join(command[::2]),
)
def test_no_command_shows_the_others(
    azure: CommandLine, command: tuple[str, ...], json_output: tuple[str, ...]
) -> None:
    shown = silent(azure.run(*command, *json_output))
    if command[0] in ("search", "retrieve", "ask"):
        assert "harbour crane" in shown.stdout


def test_retrieve_of_a_file_of_questions(azure: CommandLine, write: Callable[..., Path]) -> None:
    path = write("q.jsonl", {"id": "1", "question": QUESTION}, {"id": "2", "question": "wages"})
    for line in silent(azure.run("retrieve", "--questions", path)).lines:
        ids = {one["document_id"] for one in line["evidence"] + line["dropped"]}
        ids |= {c["document_id"] for hop in line["hops"] for c in hop["candidates"]}
        assert ids <= {"azure-note"}


def test_counts_are_of_what_one_may_read(azure: CommandLine, crimson: CommandLine) -> None:
    mine, theirs = azure.run("status", "--json").json, crimson.run("status", "--json").json
    assert [one["source"] for one in mine["sources"]] == ["azure-papers"]
    assert [one["source"] for one in theirs["sources"]] == ["crimson-papers"]
    assert mine["sources"][0]["documents"] == 1
    assert theirs["sources"][0]["documents"] == 2
    assert mine["addresses"]["sentence"] == 2
    assert theirs["addresses"]["sentence"] == 4
    answer = azure.run("ask", QUESTION, "--json").json
    assert answer["coverage"] == mine["sources"]


def test_someone_in_no_group_sees_nothing(cli: CommandLine) -> None:
    nobody = cli.under(RESIN_GROUPS="strangers")
    found = nobody.run("status", "--json").json
    assert found["sources"] == []
    assert not any(found["addresses"].values())
    assert nobody.run("search", "Zanthor crane", "--json").json["hits"] == []
    answer = nobody.run("ask", "What does the crane lift?", "--json").json
    assert not answer["found"]
    assert answer["citations"] == answer["evidence"] == answer["coverage"] == []


def test_both_groups_together_see_both(cli: CommandLine) -> None:
    found = cli.run("search", "Zanthor crane", "--group", "azure", "--group", "crimson", "--json")
    ids = {hit["candidate"]["document_id"] for hit in found.json["hits"]}
    assert ids == {"azure-note", "crimson-dossier", "crimson-annex"}


# ---------------------------------------------------------------- filters and their hints


@pytest.mark.parametrize("command", ["search", "retrieve", "ask"])
@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("--filter", "metadata.scarlet_kee=x"),
        ("--filter", "metadata.scarlet_key=ruby"),
        ("--source", "crimson-papers"),
    ],
)
def test_a_refusal_tells_nothing(
    azure: CommandLine, cli: CommandLine, command: str, option: str, given: str
) -> None:
    """What exists but may not be read is refused in the same words as what is not."""
    value = given.removeprefix("metadata.").partition("=")[0]
    mine = silent(azure.run(command, QUESTION, option, given, code=2), value, given)
    other = "metadata.qqqqqqq_qqq=x" if option == "--filter" else "qqqqqqq-qqqqqq"
    nothing = azure.run(command, QUESTION, option, other, code=2)
    made_up = other.removeprefix("metadata.").partition("=")[0]
    assert mine.everything.replace(value, made_up) == nothing.everything


@pytest.mark.parametrize("command", ["search", "retrieve", "ask"])
@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("--entity", "Zanthor reactor"),
        ("--filter", "document_id=crimson-dossier"),
        ("--filter", "source=azure-papers"),
    ],
)
def test_a_filter_opens_nothing(azure: CommandLine, command: str, option: str, given: str) -> None:
    silent(azure.run(command, QUESTION, option, given, "--json"), given)


# ---------------------------------------------------------------- traces


def test_the_others_trace_looks_as_if_there_were_none(
    azure: CommandLine, crimson: CommandLine, their_trace: str
) -> None:
    made_up = "0" * len(their_trace)
    for command in (
        ("trace", their_trace),
        ("trace", their_trace, "--replay"),
        ("diagnose", their_trace, "--expect", "reactor"),
    ):
        crimson.run(*command)
        for option in ((), ("--json",)):
            mine = silent(azure.run(*command, *option, code=2))
            nothing = azure.run(command[0], made_up, *command[2:], *option, code=2)
            assert mine.everything.replace(their_trace, made_up) == nothing.everything


def test_a_trace_of_fewer_groups_may_be_read_by_more(cli: CommandLine, their_trace: str) -> None:
    both = cli.under(RESIN_GROUPS="azure,crimson")
    assert "tin" in both.run("trace", their_trace).stdout
    wide = both.run("ask", QUESTION, "--json").json["trace_id"]
    silent(cli.under(RESIN_GROUPS="azure").run("trace", wide, code=2))


def test_diagnose_of_ones_own_trace_finds_only_ones_own(azure: CommandLine) -> None:
    mine = azure.run("ask", QUESTION, "--json").json["trace_id"]
    for expect in ("The Zanthor reactor melts tin", "crimson-dossier"):
        found = silent(azure.run("diagnose", mine, "--expect", expect, "--json"), expect).json
        absent = azure.run("diagnose", mine, "--expect", "qqqqq", "--json").json
        assert found["stage"] == absent["stage"] == "not_indexed"
        assert found["details"] == absent["details"]
        assert found["documents"] == []
    assert azure.run("diagnose", mine, "--expect", "azure-note", "--json").json["documents"]


def test_a_trace_withholds_what_its_reader_lost(
    cli: CommandLine, write: Callable[..., Path]
) -> None:
    record = {"id": "shared", "text": "The heliotrope pump drains the lock.", "access": ["green"]}
    green = cli.under(RESIN_GROUPS="green")
    cli.run("index", write("a.jsonl", record), "--source", "moving")
    trace = green.run("ask", "What drains the lock?", "--json").json["trace_id"]
    assert "heliotrope" in green.run("trace", trace, "--json").stdout
    cli.run("index", write("a.jsonl", {**record, "access": ["gold"]}), "--source", "moving")
    shown = green.run("trace", trace, "--json")
    assert "heliotrope" not in shown.everything
    assert shown.json["citations"][0]["evidence"]["state"] == "withheld"
    assert "heliotrope" not in green.run("trace", trace).everything
