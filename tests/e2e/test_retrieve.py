"""`retrieve`, `plan` and ready-made plans: the shape of what goes out, to the character."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resin_es.testing.command import CommandLine

Write = Callable[..., Path]
DOCUMENTS: dict[str, dict[str, Any]] = {
    "dam/1": {
        "title": "Dam",
        "text": "  Über dem Tal 🏞️ stands a dam.\n\nThe dam is a wall of stone. The dam holds "
        "40 million litres. The dam leaks because the wall was cracked.\tIts "
        "“keeper” is Odile.\r\nEnd.",
        "metadata": {"year": 2024},
    },
    "mill 2": {
        "title": "Mill",
        "text": "The mill is a building. The mill grinds rye. The miller needs a licence.",
        "metadata": {"year": 2023},
    },
    "Brücke/3 🌉": {
        "title": "Bridge",
        "text": "The bridge is older than the mill. Odile built the bridge in 1911.",
        "metadata": {"year": 2024},
    },
}
QUESTIONS = [
    {"id": "q/1", "question": "What does the dam hold, and what does the mill grind?"},
    {"id": 2, "question": "Who built the bridge?"},
    {"id": "q 3", "question": "Why does the dam leak?", "answer": "GOLDEN"},
]


@pytest.fixture(scope="module", autouse=True)
def _indexed(cli: CommandLine, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("corpus") / "a.jsonl"
    records = ({"id": key, **fields} for key, fields in DOCUMENTS.items())
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    cli.run("index", path, "--public")


def check_shape(line: dict[str, Any]) -> None:
    """Names, types and order as the command's description promises them."""
    assert list(line) == ["id", "hops", "evidence", "dropped"]
    assert line["hops"]
    for hop in line["hops"]:
        assert list(hop) == ["question", "candidates"]
        scores = []
        for candidate in hop["candidates"]:
            assert list(candidate) == ["kind", "document_id", "score"]
            assert candidate["document_id"] in DOCUMENTS
            scores.append(candidate["score"])
        assert scores == sorted(scores, reverse=True)
    for passage in line["evidence"]:
        assert list(passage) == ["document_id", "passage_id", "tokens", "sentences"]
        text = DOCUMENTS[passage["document_id"]]["text"]
        ends = [-1]
        for sentence in passage["sentences"]:
            assert list(sentence) == ["id", "start", "end", "text"]
            assert text[sentence["start"] : sentence["end"]] == sentence["text"]
            assert sentence["start"] >= ends[-1]
            ends.append(sentence["end"])
        assert passage["tokens"] > 0
    assert isinstance(line["dropped"], list)


def test_a_file_of_questions(cli: CommandLine, write: Write) -> None:
    outcome = cli.run("retrieve", "--questions", write("q.jsonl", *QUESTIONS))
    assert [line["id"] for line in outcome.lines] == ["q/1", "2", "q 3"]
    assert outcome.stderr == ""
    assert "GOLDEN" not in outcome.stdout
    for line in outcome.lines:
        check_shape(line)
        assert line["evidence"]
    first, second, _ = outcome.lines
    assert len(first["hops"]) >= 2
    assert {one["document_id"] for one in first["evidence"]} >= {"dam/1", "mill 2"}
    assert second["evidence"][0]["document_id"] == "Brücke/3 🌉"
    same = cli.run("retrieve", "--questions", write("q.jsonl", *QUESTIONS), "--json")
    assert same.stdout == outcome.stdout


def test_one_question(cli: CommandLine) -> None:
    found = cli.run("retrieve", "Who built the bridge?", "--json").json
    check_shape(found)
    people = cli.run("retrieve", "Who built the bridge?").stdout
    assert "Odile built the bridge in 1911." in people
    assert "Bridge (Brücke/3 🌉)" in people


def test_a_question_or_a_file_of_them(cli: CommandLine, write: Write) -> None:
    path = write("q.jsonl", *QUESTIONS)
    for arguments in ((), ("Who?", "--questions", path)):
        outcome = cli.run("retrieve", *arguments, code=2)
        assert "either one question or --questions" in outcome.stderr


def test_budget_and_k(cli: CommandLine) -> None:
    question = ("What does the dam hold, and what does the mill grind?", "--json")
    wide = cli.run("retrieve", *question).json
    small = cli.run("retrieve", *question, "--budget", "40").json
    assert sum(one["tokens"] for one in wide["evidence"]) > 40
    assert 0 < sum(one["tokens"] for one in small["evidence"]) <= 40
    assert any(one["reason"] == "budget" for one in small["dropped"])
    narrow = cli.run("retrieve", *question, "--k", "1").json
    for hop in narrow["hops"]:
        assert len({c["document_id"] for c in hop["candidates"]}) == 1


@pytest.mark.parametrize(
    ("option", "ids"),
    [
        (("--filter", "metadata.year=2024"), {"dam/1", "Brücke/3 🌉"}),
        (("--filter", "metadata.year=2024", "--filter", "metadata.year=2023"), set(DOCUMENTS)),
        (("--filter", "document_id=mill 2"), {"mill 2"}),
        (("--entity", "Mill"), {"mill 2"}),
        (("--kind", "causal-edge"), {"dam/1"}),
        (("--source", "files"), set(DOCUMENTS)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
@pytest.mark.parametrize("command", ["retrieve", "ask"])
def test_narrowed(cli: CommandLine, command: str, option: tuple[str, ...], ids: set[str]) -> None:
    found = cli.run(command, "What is the dam, the mill, the bridge?", *option, "--json").json
    shown = {c["document_id"] for hop in found["hops"] for c in hop["candidates"]}
    assert shown
    assert shown <= ids
    assert {one["document_id"] for one in found["evidence"]} <= ids


# ---------------------------------------------------------------- plans

PLAN = {
    "mode": "chain",
    "hops": [
        {"id": "a", "subquestion": "Who built the bridge?"},
        {"id": "b", "subquestion": "What grinds rye?", "kinds": ["relation"], "depends_on": ["a"]},
    ],
}


def test_a_ready_made_plan(cli: CommandLine, write: Write) -> None:
    path = write("plan.json", PLAN)
    for command in ("retrieve", "ask"):
        found = cli.run(command, "Tell me something.", "--plan", path, "--json").json
        asked = [hop["question"] for hop in found["hops"]]
        assert asked[0] == "Who built the bridge?"
        assert asked[1].startswith("What grinds rye?")
        assert {one["document_id"] for one in found["evidence"]} >= {"mill 2", "Brücke/3 🌉"}


def test_ready_made_plans_for_a_file_of_questions(cli: CommandLine, write: Write) -> None:
    plans = [{"id": str(one["id"]), "plan": PLAN} for one in QUESTIONS]
    asked = write("q.jsonl", *QUESTIONS)
    outcome = cli.run("retrieve", "--questions", asked, "--plan", write("plans.jsonl", *plans))
    for line in outcome.lines:
        assert line["hops"][0]["question"] == "Who built the bridge?"
        extra = len(line["hops"]) - 2
        assert 0 <= extra <= 2, "beside the plan's two: the bare question, and what follows it"
    # no second planner steps in where a plan is missing: the runs would not be comparable
    part = write("part.jsonl", *plans[1:])
    told = cli.run("retrieve", "--questions", asked, "--plan", part, code=2)
    assert told.stdout == ""
    assert f"no plan for question {plans[0]['id']!r}" in told.stderr


def test_what_plan_prints_can_be_handed_in(cli: CommandLine, tmp_path: Path) -> None:
    question = "What does the dam hold, and what does the mill grind?"
    printed = cli.run("plan", question, "--json")
    path = tmp_path / "plan.json"
    path.write_text(printed.stdout)
    mine = cli.run("retrieve", question, "--plan", path, "--json").json
    own = cli.run("retrieve", question, "--json").json
    assert mine == own


def test_the_schema_of_a_plan(cli: CommandLine) -> None:
    schema = cli.run("plan", "--schema").json
    assert {"question", "hops", "mode"} <= set(schema["properties"])
    assert "Hop" in schema["$defs"]
    assert cli.run("plan", code=2).stderr.startswith("error: No question was given.")


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ("{", "plan.json: the plan is not JSON"),
        ({"hops": []}, "hops"),
        ({"hops": [{"id": "a", "subquestion": "?", "depends_on": ["b"]}]}, "do not come before"),
        ({"hops": [{"id": "a", "subquestion": "x", "kinds": ["fact"]}]}, "hops.0.kinds"),
        ({"hops": [{"id": str(n), "subquestion": "x"} for n in range(5)]}, "at most 4"),
    ],
)
def test_a_plan_that_does_not_fit(cli: CommandLine, write: Write, plan: Any, told: str) -> None:
    outcome = cli.run("retrieve", "Who?", "--plan", write("plan.json", plan), code=2)
    assert told in outcome.stderr
