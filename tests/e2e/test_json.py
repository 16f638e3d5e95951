"""Every command says its result as exactly one JSON document, its failure too; settings mask
secrets; exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resin_es._version import __version__
from resin_es.testing.command import CommandLine

Write = Callable[..., Path]
COMMANDS = {
    "up", "down", "status", "settings", "install", "uninstall", "doctor", "convert",
    "estimate", "index", "delete", "search", "plan", "retrieve", "ask", "trace", "diagnose",
    "eval", "demo", "batches", "rebuild", "sync", "notify", "revoke", "worker", "beat",
}  # fmt: skip
TEXT = "The sluice is a gate. The sluice opens at noon because the basin fills."


@pytest.fixture(scope="module", autouse=True)
def _indexed(cli: CommandLine, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("corpus") / "a.jsonl"
    path.write_text(json.dumps({"id": "sluice", "title": "Sluice", "text": TEXT}) + "\n")
    cli.run("index", path, "--public")


@pytest.fixture(scope="module")
def trace(cli: CommandLine) -> str:
    return str(cli.run("ask", "When does the sluice open?", "--json").json["trace_id"])


@pytest.fixture
def holisqa(tmp_path: Path) -> Path:
    """A domain folder of the data set's shape, with words of our own."""
    domain = tmp_path / "canals"
    domain.mkdir()
    sentences = ["The lock is a basin.", "The lock lifts barges by 4 metres.", "Rain fills it."]
    rows: dict[str, list[dict[str, Any]]] = {
        "articles": [{"article_id": "a1", "title": "Locks"}],
        "sentences": [
            {"sentence_id": f"s{n}", "article_id": "a1", "sent_idx": n, "text": text}
            for n, text in enumerate(sentences)
        ],
        "qa": [
            {
                "qa_id": "q1",
                "question": "How far does the lock lift barges?",
                "answer": "4 metres",
                "context_sentence_ids": ["s1"],
            }
        ],
    }
    for name, lines in rows.items():
        (domain / f"{name}.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    return domain


def test_every_command_is_there_with_json(cli: CommandLine) -> None:
    assert {command.name for command in cli.app.registered_commands} == COMMANDS
    for command in COMMANDS:
        assert "--json" in cli.run(command, "--help").stdout


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (("status",), {"elasticsearch", "sources", "addresses"}),
        (("install",), {"created", "existing"}),
        (("search", "sluice"), {"query", "hits"}),
        (("plan", "When does the sluice open?"), {"question", "hops"}),
        (("retrieve", "When does the sluice open?"), {"hops", "evidence", "dropped"}),
        (
            ("ask", "When does the sluice open?"),
            {"text", "citations", "found", "missing", "coverage", "trace_id", "hops", "evidence"},
        ),
        (("ask", "When does the sluice open?", "--explain"), {"text", "trace"}),
    ],
    ids=lambda value: " ".join(value[::2]) if isinstance(value, tuple) else "",
)
def test_one_document_that_is_an_object(
    cli: CommandLine, command: tuple[str, ...], names: set[str]
) -> None:
    outcome = cli.run(*command, "--json")
    assert names <= set(outcome.json)
    assert outcome.stderr == ""


def test_trace_and_diagnose(cli: CommandLine, trace: str) -> None:
    shown = cli.run("trace", trace, "--json").json
    assert shown["id"] == trace
    assert shown["hops"][0]["body"]["knn"]
    assert shown["citations"][0]["evidence"]["document_id"] == "sluice"
    for hop in cli.run("trace", trace, "--replay", "--json").json:
        assert (hop["overlap"], hop["same_order"]) == (1.0, True)
    for expect, stage in (("opens at noon", "used"), ("quagga", "not_indexed")):
        found = cli.run("diagnose", trace, "--expect", expect, "--json").json
        assert found["stage"] == stage
    assert "opens at noon" in cli.run("trace", trace).stdout
    assert "same order" in cli.run("trace", trace, "--replay").stdout
    assert "used" in cli.run("diagnose", trace, "--expect", "opens at noon").stdout


def test_index_and_delete(cli: CommandLine, write: Write) -> None:
    path = write("a.jsonl", {"id": "1", "text": "The weir is low."}, "{")
    report = cli.run("index", path, "--public", "--source", "j", "--json", code=1).json
    assert report["new"] == 1
    assert report["problems"][0]["where"].endswith("line 2")
    gone = cli.run("delete", "1", "2", "--source", "j", "--json", code=1).json
    assert gone["deleted"] == 1
    assert gone["problems"] == [{"where": "2", "reason": "no such document"}]


def test_doctor(cli: CommandLine) -> None:
    rows = cli.run("doctor", "--json").json
    assert all(row["ok"] is not False for row in rows)
    wrong = cli.under(RESIN_PREFIX=f"{cli.environ['RESIN_PREFIX']}-bare")
    rows = wrong.run("doctor", "--json", code=1).json
    assert [row["name"] for row in rows if row["ok"] is False] == ["indices"]


def test_uninstall_takes_only_its_own(cli: CommandLine) -> None:
    other = cli.under(RESIN_PREFIX=f"{cli.environ['RESIN_PREFIX']}-more")
    assert len(other.run("install", "--json").json["created"]) == 9
    other.run("uninstall", code=1)  # nobody said yes
    assert other.run("status", "--json").json["sources"] == []
    assert len(other.run("uninstall", "--yes", "--json").json["indices"]) == 9
    assert cli.run("status", "--json").json["sources"][0]["documents"] == 1


def test_convert_then_index(cli: CommandLine, holisqa: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    told = cli.run("convert", "holisqa", holisqa, "--out", out, "--json").json
    assert told == {"documents": 1, "file": str(out)}
    assert cli.run("convert", "holisqa", holisqa).stdout == out.read_text()
    cli.run("index", out, "--public", "--source", "canals")
    answer = cli.run("ask", "How far does the lock lift barges?", "--json").json
    assert answer["citations"][0]["document_id"] == "a1"
    assert "unknown data set" in cli.run("convert", "squad", holisqa, code=2).stderr


def test_up_and_down(cli: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The node itself has tests of its own; here it is played."""
    import resin_es.local
    from resin_es.errors import PortInUse
    from resin_es.local.settings import NodeStatus

    found = NodeStatus(running=True, ready=True, url="http://x", version="8", data_dir=tmp_path)
    monkeypatch.setattr(resin_es.local, "up", lambda settings, progress=None: found)
    assert cli.run("up", "--json").json["url"] == "http://x"
    monkeypatch.setattr(resin_es.local, "down", lambda settings: False)
    assert cli.run("down", "--json").json == {"stopped": False}
    assert cli.run("down").stdout == "the local node was not running\n"

    def busy(*_: Any) -> NodeStatus:
        raise PortInUse("Port 9250 is taken.", hint="Free it.")

    monkeypatch.setattr(resin_es.local, "up", busy)
    outcome = cli.run("up", "--json", code=1)
    assert outcome.json["error"]["type"] == "PortInUse"
    assert outcome.stderr == "error: Port 9250 is taken.\n  Free it.\n"


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (("ask", "?!"), "InputError"),
        (("search", "x", "--kind", "y"), "FilterError"),
        (("retrieve", "x", "--k", "0"), "SettingsError"),
        (("trace", "0" * 16), "InputError"),
        (("diagnose", "0" * 16, "--expect", "x"), "InputError"),
        (("index", "nowhere.jsonl"), "InputError"),
        (("eval", "holisqa", "--data", "nowhere"), "InputError"),
        (("plan", "?!"), "InputError"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_failure_is_one_document_too(
    cli: CommandLine, command: tuple[str, ...], kind: str
) -> None:
    outcome = cli.run(*command, "--json", code=2)
    error = outcome.json["error"]
    assert error["type"] == kind
    assert outcome.stderr.startswith(f"error: {error['message']}\n")


# ---------------------------------------------------------------- settings


def test_settings_say_where_they_come_from_and_mask_secrets(
    cli: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('budget = 777\nes_bearer_auth = "file-hush"\nk = 5\n')
    secrets = cli.under(
        RESIN_SETTINGS=str(file),
        RESIN_ES_API_KEY="env-hush",
        RESIN_ES_BASIC_AUTH="me:pass-hush",
        RESIN_ES_HEADERS='{"X-Token": "head-hush"}',
        RESIN_ES_OPTIONS='{"cloud_id": "cloud-hush"}',
        RESIN_K="7",
        RESIN_KK="8",
    )
    outcome = secrets.run("settings", "--json")
    rows = {row["name"]: row for row in outcome.json}
    assert (rows["budget"]["value"], rows["budget"]["origin"]) == ("777", f"file {file}")
    assert (rows["k"]["value"], rows["k"]["origin"]) == ("7", "environment RESIN_K")
    assert rows["llm"]["origin"] == "default (RESIN_LLM)"
    assert rows["es_api_key"]["value"] == rows["es_basic_auth"]["value"] == "********"
    assert rows["es_headers"]["value"] == "X-Token=********"
    assert all(row["description"] for row in rows.values())
    assert "RESIN_KK is no setting" in outcome.stderr
    for shown in (outcome, secrets.run("settings")):
        assert "hush" not in shown.everything


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RESIN_ES_URL", "localhost:9200"),
        ("RESIN_MAX_HOPS", "many"),
        ("RESIN_EMBEDDER", "word2vec"),
        ("RESIN_PREFIX", "Upper"),
        ("RESIN_BUDGET", "0"),
        ("RESIN_ES_HEADERS", "{"),
    ],
)
def test_a_wrong_setting_is_named(cli: CommandLine, name: str, value: str) -> None:
    outcome = cli.under(**{name: value}).run("ask", "When does it open?", code=2)
    assert name.removeprefix("RESIN_").lower() in outcome.stderr.lower()
    assert len(outcome.stderr.splitlines()) <= 2


def test_a_secret_in_the_address_is_shown_nowhere(cli: CommandLine) -> None:
    open_url = cli.environ["RESIN_ES_URL"]
    hidden = cli.under(RESIN_ES_URL=open_url.replace("//", "//me:p@ss-hush@"))
    for command in (("settings",), ("settings", "--json"), ("status", "--json"), ("status",)):
        shown = hidden.run(*command)
        assert "hush" not in shown.everything
        assert open_url.partition("//")[2] in shown.stdout.replace("\n", "")
    down = cli.under(RESIN_ES_URL="http://me:pass-hush@127.0.0.1:9,http://me:more-hush@[::1]:9")
    for command in (("settings",), ("doctor",), ("status",), ("ask", "When does it open?")):
        assert "hush" not in down.run(*command, code=None).everything


def test_version_help_and_wrong_usage(cli: CommandLine) -> None:
    assert cli.run("--version").stdout == f"resin-es {__version__}\n"
    for arguments in (("no-such-command",), ("ask",), ("ask", "x", "--no-such-option")):
        outcome = cli.run(*arguments, code=2)
        assert outcome.stdout == ""
        assert outcome.stderr
