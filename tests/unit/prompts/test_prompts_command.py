"""resin-es prompts: every stage's prompt, exactly as a call carries it."""

from __future__ import annotations

import pytest

from resin_es.cli.app import app
from resin_es.prompts import STAGES, prompt
from resin_es.testing.command import CommandLine

LINE = CommandLine(app)


@pytest.mark.parametrize("stage", STAGES)
def test_show_prints_the_text_and_nothing_else(stage: str) -> None:
    found = prompt(stage)  # type: ignore[arg-type]
    told = LINE.run("prompts", "show", stage)
    assert told.stdout == found.text + "\n"
    assert told.stderr == f"{stage}, version {found.version}\n"
    shown = LINE.run("prompts", "show", stage, "--json").json
    assert (shown["text"], shown["version"]) == (found.text, found.version)


def test_list_names_all_stages_in_the_order_of_a_run() -> None:
    rows = LINE.run("prompts", "list", "--json").json
    assert [row["stage"] for row in rows] == ["passages", "units", "plan", "compose", "solve"]
    assert [row["version"] for row in rows] == [prompt(stage).version for stage in STAGES]
    assert [row["model"] for row in rows] == ["RESIN_LLM_READ_MODEL"] * 2 + [
        "RESIN_LLM_ANSWER_MODEL"
    ] * 3
    told = LINE.run("prompts", "list").stdout
    for row in rows:
        assert all(value in told for value in row.values())


def test_an_unknown_stage_is_refused_with_those_there_are() -> None:
    told = LINE.run("prompts", "show", "judge", code=2)
    assert "no stage 'judge'" in told.stderr
    assert "passages, units, plan, compose, solve" in told.stderr


def test_prompts_alone_shows_its_commands() -> None:
    told = LINE.run("prompts", code=None)
    assert "show" in told.everything
    assert "list" in told.everything
