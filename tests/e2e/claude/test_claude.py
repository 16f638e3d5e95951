"""What reading and asking by Claude takes: calls, money, nothing twice; a run told again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from resin_es.demo import demo_documents_path
from resin_es.testing.command import CommandLine
from resin_es.testing.model_server import ModelServer
from resin_es.testing.scripted_claude import ScriptedClaude

Everything = Callable[[CommandLine], dict[str, dict[str, dict[str, Any]]]]
LANES = 4
PRICES = '{"claude-haiku-5-5": [1.0, 5.0], "claude-sonnet-5-5": [3.0, 15.0]}'
QUESTION = "Which district has 42,000 residents?"
NOBODY = "http://127.0.0.1:9"
EXACT = {"RESIN_VECTOR_INDEX": "flat"}
"""A quantised graph ranks by how it was built: the same documents may give other evidence."""


class Served(NamedTuple):
    line: CommandLine
    claude: ScriptedClaude


@pytest.fixture(scope="module")
def serve(lines: Any) -> Callable[..., Any]:
    """``serve(claude)``: a server, and a command line of its own that asks it."""

    @contextmanager
    def serving(claude: ScriptedClaude, **environ: str) -> Iterator[Served]:
        with ModelServer(claude) as server:
            yield Served(lines(server.url, RESIN_PRICES=PRICES, **environ), claude)

    return serving


def indexed(line: CommandLine, path: Path, *more: str) -> Any:
    return line.run("index", path, "--public", "--yes", "--json", *more).json


# ---------------------------------------------------------------- the demo, recorded


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recording")


@pytest.fixture(scope="module")
def demo(serve: Any, recording: Path) -> Iterator[tuple[Served, Any, Any]]:
    """The demo corpus read and asked while everything is recorded."""
    with serve(ScriptedClaude(), RESIN_RECORD=str(recording), **EXACT) as served:
        report = indexed(served.line, demo_documents_path())
        answer = served.line.run("ask", QUESTION, "--json").json
        yield served, report, answer


def test_every_document_is_read_once(demo: tuple[Served, Any, Any]) -> None:
    served, report, _ = demo
    assert (report["documents"], report["new"]) == (43, 43)
    assert report["units"] == report["sentences"] == 195
    assert (report["rejected_units"], report["model_faults"], report["failures"]) == ({}, {}, [])
    assert served.claude.calls["passages"] == 43
    assert served.claude.calls["units"] == report["read_passages"]
    assert served.claude.asked_twice() == {}


def test_the_report_says_what_the_server_took(demo: tuple[Served, Any, Any]) -> None:
    served, report, _ = demo
    offline = [one for one in served.claude.requests if one.stage in ("passages", "units")]
    total = report["spending"]["total"]
    assert total["calls"] == len(offline)
    assert total["dollars"] == pytest.approx(report["cost"])
    usage = total["usage"]
    dollars = (usage["input_tokens"] * 1.0 + usage["output_tokens"] * 5.0) / 1e6
    assert total["dollars"] == pytest.approx(dollars)


def test_an_unchanged_corpus_costs_no_call(demo: tuple[Served, Any, Any]) -> None:
    served, _, _ = demo
    before = len(served.claude.requests)
    again = indexed(served.line, demo_documents_path())
    assert (again["unchanged"], again["cost"]) == (43, 0)
    assert len(served.claude.requests) == before


def test_a_question_is_planned_and_answered_with_citations(demo: tuple[Served, Any, Any]) -> None:
    served, _, answer = demo
    assert (served.claude.calls["plan"], served.claude.calls["compose"]) == (1, 1)
    assert answer["found"]
    assert answer["citations"][0]["quote"] == "Fernhill has 42,000 residents."
    assert answer["composer"].startswith("claude-sonnet-5-5/")
    trace = served.line.run("trace", answer["trace_id"], "--json").json
    assert trace["plan"]["fallback"] == ""


def test_a_key_alone_sends_nothing(demo: tuple[Served, Any, Any]) -> None:
    served, _, _ = demo
    before = len(served.claude.requests)
    line = served.line.under(RESIN_LLM=None, RESIN_RECORD=None)
    assert line.run("ask", QUESTION, "--json").json["composer"].startswith("extractive")
    rows = line.run("doctor", "--json", code=None).json
    assert len(served.claude.requests) == before
    assert any("RESIN_LLM=claude" in row["hint"] for row in rows)


# ---------------------------------------------------------------- told again


def test_a_recording_holds_no_key_and_no_header(
    demo: tuple[Served, Any, Any], recording: Path
) -> None:
    served, _, _ = demo
    files = list(recording.glob("*.json"))
    assert len(files) == len(served.claude.requests)
    written = "".join(path.read_text(encoding="utf-8") for path in files)
    assert served.line.environ["RESIN_ANTHROPIC_KEY"] not in written
    assert "x-api-key" not in written.lower()
    assert "anthropic-version" not in written.lower()


def test_a_recording_gives_the_same_index_and_answer_offline(
    demo: tuple[Served, Any, Any], recording: Path, lines: Any, everything: Everything
) -> None:
    served, report, answer = demo
    offline = lines(NOBODY, RESIN_REPLAY=str(recording), **EXACT)
    offline = offline.under(RESIN_ANTHROPIC_KEY=None, RESIN_ANTHROPIC_URL=None)
    told = indexed(offline, demo_documents_path())
    assert told["cost"] == 0
    assert told["tokens"] == report["tokens"]
    assert everything(offline) == everything(served.line)
    again = offline.run("ask", QUESTION, "--json").json
    assert again["use"]["dollars"] == 0
    for part in ("text", "found", "statements", "citations", "missing"):
        assert again[part] == answer[part]


@pytest.mark.usefixtures("demo")
def test_what_was_not_recorded_ends_with_what_differs(recording: Path, lines: Any) -> None:
    offline = lines(NOBODY, RESIN_REPLAY=str(recording))
    told = offline.run("ask", "Who owns the moon?", code=1)
    assert "does not hold call" in told.stderr
    assert "stage plan" in told.stderr
    other = offline.under(RESIN_LLM_READ_MODEL="another-model")
    told = other.run("index", demo_documents_path(), "--public", "--yes", code=None)
    assert told.exit_code == 1
    assert "the model is another-model, not claude-haiku-5-5" in told.stderr


# ---------------------------------------------------------------- one changed sentence


@pytest.mark.slow
def test_one_changed_sentence_among_1111_documents(serve: Any, tmp_path: Path, corpus: Any) -> None:
    documents = [corpus.document(n) for n in range(1111)]
    path = corpus.written(tmp_path / "many.jsonl", documents)
    with serve(ScriptedClaude(), RESIN_BATCH_DOCUMENTS="256") as served:
        assert indexed(served.line, path)["units"] == 3333
        assert served.claude.calls == {"passages": 1111, "units": 1111}
        served.claude.forget()
        changed = [*corpus.sentences(777)[:2], "A lift was added in May."]
        documents[777] = corpus.document(777, changed)
        report = indexed(served.line, corpus.written(path, documents))
        assert (report["changed"], report["unchanged"]) == (1, 1110)
        assert 1 <= len(served.claude.requests) <= 2
        served.claude.forget()
        assert indexed(served.line, path)["unchanged"] == 1111
        assert served.claude.requests == []


# ---------------------------------------------------------------- a cap


def test_a_cap_stops_the_reading_and_more_money_ends_it(
    serve: Any, stops: Path, unkilled: Any, everything: Everything
) -> None:
    with serve(ScriptedClaude(thinking=400), RESIN_LLM_LANES=str(LANES)) as served:
        line, claude = served
        cap = line.run("estimate", stops, "--json").json["dollars"] / 2
        told = line.run(
            "index", stops, "--public", "--yes", "--max-cost", f"{cap:.6f}", "--json", code=1
        )
        assert "cap" in told.stderr
        spent = [_dollars(one) for one in claude.usages]
        reached = next(n for n in range(len(spent)) if sum(spent[: n + 1]) >= cap)
        assert len(spent) <= reached + LANES
        paid = len(spent)
        report = indexed(line, stops)
        assert report["failures"] == []
        assert claude.asked_twice() == {}
        assert len(claude.usages) == 400
        assert report["spending"]["total"]["calls"] == 400 - paid
        assert everything(line) == unkilled


def _dollars(usage: Any) -> float:
    return float(usage["input_tokens"] * 1.0 + usage["output_tokens"] * 5.0) / 1e6
