"""What is refused: one clear line, exit code 1 or 2, nothing half-written."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from resin_es.testing.command import CommandLine, Outcome
from resin_es.testing.wire import Wire, failure

USAGE, FAILED = 2, 1
READS = ("search", "retrieve", "ask")


@pytest.fixture(scope="module", autouse=True)
def _nothing_half_written(
    cli: CommandLine, shelf: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """One document stands; whatever this file's tests had refused leaves no record beside it."""
    path = tmp_path_factory.mktemp("corpus") / "a.jsonl"
    path.write_text(
        '{"id": "line-7", "title": "Line 7", "text": "Line 7 is a tram. Its fare is 3 crowns.", '
        '"metadata": {"colour": "red"}}\n'
    )
    cli.run("index", path, "--public")
    before = shelf.all("documents"), shelf.sizes()
    yield
    assert (shelf.all("documents"), shelf.sizes()) == before


def refusal(outcome: Outcome) -> str:
    """The one line that says what was wrong. At most one more says what to do."""
    assert outcome.stdout == ""
    told = outcome.stderr.splitlines()
    assert told[0].startswith("error: ")
    assert len(told) == 1 or (len(told) == 2 and told[1].startswith("  ")), told
    assert "Traceback" not in outcome.stderr
    return told[0]


def not_taken(outcome: Outcome) -> str:
    """The one line that names the record or file that was left out."""
    [line] = outcome.stderr.splitlines()
    assert line.startswith("not taken: ")
    return line


# ---------------------------------------------------------------- asking


@pytest.mark.parametrize("command", READS)
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--kind", "entity-fakt"), "unknown kind 'entity-fakt'"),
        (("--filter", "colour=red"), "unknown filter field 'colour'"),
        (("--filter", "colour"), "filter 'colour' is not FIELD=VALUE"),
        (("--filter", "metadata.color=red"), "no document here has the metadata key 'color'"),
        (("--source", "nowhere"), "no document that you may read is in source 'nowhere'"),
    ],
)
def test_what_nothing_has_is_refused(
    cli: CommandLine, command: str, options: tuple[str, ...], told: str
) -> None:
    outcome = cli.run(command, "What is the fare?", *options, code=USAGE)
    assert told in refusal(outcome)


def test_a_near_name_is_suggested(cli: CommandLine) -> None:
    outcome = cli.run("ask", "The fare?", "--filter", "metadata.color=red", code=USAGE)
    assert "Did you mean colour?" in outcome.stderr


@pytest.mark.parametrize(
    "command",
    [
        *((one, "The fare?") for one in READS),
        ("trace", "0" * 16),
        ("diagnose", "0" * 16, "--expect", "x"),
    ],
    ids=lambda command: command[0],
)
def test_nobody_reads_without_a_principal(cli: CommandLine, command: tuple[str, ...]) -> None:
    outcome = cli.under(RESIN_GROUPS=None).run(*command, code=USAGE)
    assert "Nobody is named" in refusal(outcome)
    assert "--group" in outcome.stderr


def test_status_without_a_principal_shows_no_counts(cli: CommandLine) -> None:
    outcome = cli.under(RESIN_GROUPS=None).run("status", "--json")
    assert outcome.json["sources"] is None
    assert "addresses" not in outcome.json


@pytest.mark.parametrize("command", [*READS, "plan"])
@pytest.mark.parametrize("question", ["?!… —", "  ", "😀"])
def test_a_question_without_a_word(cli: CommandLine, command: str, question: str) -> None:
    outcome = cli.run(command, question, code=USAGE)
    assert re.search("holds no word|is empty", refusal(outcome))


@pytest.mark.parametrize("command", READS)
@pytest.mark.parametrize("k", [0, -1, 20_000])
def test_k_out_of_bounds(cli: CommandLine, command: str, k: int) -> None:
    told = refusal(cli.run(command, "The fare?", "--k", k, code=USAGE))
    assert f"k is {k}" in told
    assert "10,000" in told or "10000" in told


def test_k_out_of_bounds_by_environment(cli: CommandLine) -> None:
    assert "k is 0" in refusal(cli.under(RESIN_K="0").run("ask", "The fare?", code=USAGE))


@pytest.mark.parametrize("command", ["ask", "retrieve"])
def test_a_plan_that_does_not_fit(
    cli: CommandLine, write: Callable[..., Path], command: str
) -> None:
    path = write("plan.json", {"hops": [{"id": "h1"}]})
    told = refusal(cli.run(command, "The fare?", "--plan", path, code=USAGE))
    assert "hops.0.subquestion" in told


def test_a_broken_line_of_questions_is_named_before_any_is_asked(
    cli: CommandLine, write: Callable[..., Path]
) -> None:
    path = write("q.jsonl", {"id": "1", "question": "The fare?"}, "{", {"id": "3"})
    assert "q.jsonl line 2" in refusal(cli.run("retrieve", "--questions", path, code=USAGE))


# ---------------------------------------------------------------- the server


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("command", READS)
def test_the_server_is_down(cli: CommandLine, command: str) -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    told = refusal(cli.under(RESIN_ES_URL=url).run(command, "The fare?", code=FAILED))
    assert f"{url} cannot be reached" in told


def test_the_server_is_down_for_those_who_write(
    cli: CommandLine, write: Callable[..., Path]
) -> None:
    down = cli.under(RESIN_ES_URL=f"http://127.0.0.1:{closed_port()}")
    path = write("a.jsonl", {"id": "1", "text": "Text."})
    for command in (("index", path, "--public"), ("delete", "line-7"), ("install",)):
        assert "cannot be reached" in refusal(down.run(*command, code=FAILED))


@pytest.mark.parametrize("command", [("ask", "The fare?"), ("index", "-", "--public")])
def test_an_index_of_another_model(cli: CommandLine, command: tuple[str, ...]) -> None:
    other = cli.under(RESIN_EMBEDDER="onnx")
    told = refusal(other.run(*command, stdin=b'{"id": "2", "text": "Text."}', code=FAILED))
    assert "model hash-64, dims 64" in told
    assert "dims 384" in told


def test_nothing_is_installed_under_the_prefix(
    cli: CommandLine, write: Callable[..., Path]
) -> None:
    bare = cli.under(RESIN_PREFIX=f"{cli.environ['RESIN_PREFIX']}-bare")
    for command in (
        ("ask", "The fare?"),
        ("index", write("a.jsonl", {"id": "1", "text": "Text."}), "--public"),
    ):
        outcome = bare.run(*command, code=FAILED)
        assert "not installed" in refusal(outcome)
        assert "resin-es install" in outcome.stderr


def test_a_client_too_new(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is played: it answers as version 8 does to a client of version 9."""
    too_new = failure(
        "media_type_header_exception",
        "Invalid media-type value on headers [Accept]",
        caused_by={
            "type": "status_exception",
            "reason": "Accept version must be either version 8 or 7, but found 9. "
            "Accept=application/vnd.elasticsearch+json; compatible-with=9",
        },
    )
    for command in (("ask", "The fare?"), ("search", "fare"), ("install",)):
        client = Wire(*[too_new] * 5).client
        monkeypatch.setattr("resin_es.adapters.elasticsearch.connect", lambda _, c=client: c)
        outcome = cli.run(*command, code=FAILED)
        assert "too new for this server" in refusal(outcome)
        assert "pip install" in outcome.stderr


# ---------------------------------------------------------------- indexing


def test_nothing_says_who_may_read_it(cli: CommandLine, write: Callable[..., Path]) -> None:
    path = write("a.jsonl", {"id": "1", "text": "Text."}, {"id": "2", "text": "More."})
    outcome = cli.run("index", path, code=USAGE)
    assert "line 1: nothing says who may read this document" in refusal(outcome)
    assert "--public" in outcome.stderr


def test_public_and_private_at_once(cli: CommandLine, write: Callable[..., Path]) -> None:
    path = write("a.jsonl", {"id": "1", "text": "Text."})
    refusal(cli.run("index", path, "--public", "--private", code=USAGE))


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a.md", "a.html"])
@pytest.mark.parametrize(
    ("content", "told"), [(b"", "the file is empty"), (b"caf\xe9 is open.", "not UTF-8")]
)
def test_an_unreadable_file(
    cli: CommandLine, tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(content)
    line = not_taken(cli.run("index", tmp_path / name, "--public", code=FAILED))
    assert name in line
    assert told in line


def test_no_such_file_and_no_such_kind(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    assert "does not exist" in refusal(cli.run("index", tmp_path / "b.md", code=USAGE))
    assert "no kind that can be read" in refusal(cli.run("index", tmp_path / "a.pdf", code=USAGE))


def test_a_document_over_the_limit(cli: CommandLine, write: Callable[..., Path]) -> None:
    small = cli.under(RESIN_MAX_DOCUMENT_BYTES="1000")
    for path in (
        write("a.jsonl", {"id": "long", "text": "word " * 300}),
        write("a.txt", "word " * 300),
    ):
        line = not_taken(small.run("index", path, "--public", code=FAILED))
        assert path.name in line
        assert "over the limit of 1,000" in line


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"id": "", "text": "Text."}, "`id` is missing or empty"),
        ({"id": "1"}, "`text` is missing"),
        ({"id": "1", "text": 7}, "`text` is a int, not a string"),
        ({"id": "1", "text": "Text.", "acess": ["red"]}, "unknown field 'acess'"),
        ({"id": "1", "text": "Text.", "updated_at": "soon"}, "`updated_at` is 'soon'"),
        ({"id": "1", "text": "Text.", "access": [""]}, "`access` is not a list of group names"),
    ],
)
def test_a_record_that_does_not_fit(
    cli: CommandLine, write: Callable[..., Path], record: dict[str, Any], told: str
) -> None:
    outcome = cli.run("index", write("a.jsonl", record), "--public", code=FAILED)
    assert f"a.jsonl line 1: {told}" in not_taken(outcome)


def test_deleting_what_is_not_there(cli: CommandLine) -> None:
    outcome = cli.run("delete", "nothing", code=FAILED)
    assert "nothing: no such document" in outcome.stderr
