"""Rows by a package of others: from its chunks to evidence, and every way in which it can fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from resin_es.errors import ModelError, UsageError
from resin_es.evaluation.systems.external.environment import ExternalEnvironments
from resin_es.evaluation.systems.external.running import Limits
from resin_es.evaluation.systems.external.systems import (
    NO_ENDPOINT,
    ExternalSystem,
    external_systems,
)
from resin_es.evaluation.values import Span, Spent

Make = Callable[..., ExternalSystem]
OTTERS, ROOTS, KELP = "what do otters eat", "what has no roots", "how does kelp grow"
SECRET = "sk-not-for-any-file"


def test_chunks_become_passages_in_the_packages_order_cut_at_the_budget(make: Make) -> None:
    row = make()
    assert row.prepare() == ""
    whole = row.evidence(OTTERS, 500)
    assert whole.passages[0].document_id == "sea/kelp"
    assert whole.ranked[0] == (Span(document_id="sea/kelp", start=0, end=65),)
    assert len(whole.ranked) == 3
    cut = row.evidence(OTTERS, 12)
    (passage,) = cut.passages
    assert passage.text == "Giant kelp grows fast. Urchins graze on kelp."
    assert not passage.complete
    assert cut.ranked == whole.ranked
    assert row.group == "external"


def test_tokens_and_their_price_are_the_questions_own(make: Make) -> None:
    row = make()
    row.prepare()
    spent = row.evidence(ROOTS, 500).spent
    assert spent == Spent(calls=1, input_tokens=10, output_tokens=2, dollars=4e-05)
    assert row.indexing() == Spent(calls=1, input_tokens=100, output_tokens=20, dollars=4e-04)
    assert row.lent() > 0
    assert row.lent() == 0


def test_a_chunk_that_stands_nowhere_is_counted(make: Make) -> None:
    row = make()
    row.evidence(ROOTS, 500)
    assert row.facts()["fake chunks found in no document"] == "1"
    assert row.facts()["fake package"] == "fake 1.0"


def test_a_context_of_its_own_is_text_within_the_budget(make: Make) -> None:
    row = make("text")
    evidence = row.evidence(KELP, 20)
    assert evidence.passages == ()
    assert evidence.text.startswith("A report on how does kelp grow")
    assert 60 < len(evidence.text) <= 80
    assert evidence.answer is None


def test_its_own_answer_only_where_wanted(make: Make) -> None:
    assert make().evidence(KELP, 500).answer is None
    assert make(answers=True).evidence(KELP, 500).answer == "so"


def test_what_was_answered_is_not_asked_again(make: Make, tmp_path: Path) -> None:
    make().prepare()
    (replies,) = tmp_path.glob("run/fake-*/fake-contexts.jsonl")
    before = replies.read_bytes()
    again = make("crash")
    assert again.prepare() == ""
    assert again.evidence(OTTERS, 500).passages
    assert replies.read_bytes() == before


def test_a_job_that_was_cut_off_goes_on_after_its_last_whole_line(
    make: Make, tmp_path: Path
) -> None:
    first = make("cut off")
    assert "ended with 9" in first.prepare()
    (replies,) = tmp_path.glob("run/fake-*/fake-contexts.jsonl")
    kept = [line for line in replies.read_text().splitlines() if '"answered"' in line]
    assert len(kept) == 2  # one whole, one torn
    row = make()
    assert row.prepare() == ""
    assert row.evidence(KELP, 500).passages
    whole = [json.loads(line) for line in replies.read_text().splitlines() if line.endswith("}")]
    asked = [line["question"] for line in whole if line["kind"] == "answered"]
    assert len(asked) == len(set(asked)) == 3


def test_other_documents_are_another_index(make: Make, tmp_path: Path, documents: tuple) -> None:  # type: ignore[type-arg]
    make().prepare()
    make(documents=documents[:2]).prepare()
    assert len(list(tmp_path.glob("run/fake-*"))) == 2


def test_without_an_endpoint_the_row_is_skipped_and_says_so(make: Make, tmp_path: Path) -> None:
    row = make(model=None)
    skipped = row.skipped_row()
    assert skipped.skipped == NO_ENDPOINT
    assert (skipped.system, skipped.label, skipped.group) == ("fake", "Fake", "external")
    assert skipped.questions == ()
    assert not (tmp_path / "run").exists()


def test_without_its_package_the_row_is_skipped(make: Make, tmp_path: Path) -> None:
    environments = ExternalEnvironments(tmp_path / "none")
    row = make(environments=environments)
    with pytest.raises(UsageError, match="no package 'fake'"):
        environments.available("fake")
    assert "There is no package 'fake'" in row.prepare()


@pytest.mark.parametrize(
    ("behave", "reason"),
    [
        ("crash", "ended with 7: the graph is empty"),
        ("fatal", "ended with 3: 401: bad key ********"),
        ("half", "1 of 3 questions got no context: RateLimitError: slow down"),
        ("holes", "3 of 3 documents were not indexed"),
    ],
)
def test_a_failure_is_the_reason_of_the_skipped_row(make: Make, behave: str, reason: str) -> None:
    row = make(behave)
    assert reason in row.prepare()
    assert reason in row.skipped_row().skipped


def test_a_failed_question_is_asked_again_by_the_next_run(make: Make) -> None:
    assert "1 of 3 questions" in make("half").prepare()
    assert make().prepare() == ""


def test_a_silent_runner_is_ended(make: Make) -> None:
    row = make("hang", limits=Limits(idle=1, total=40))
    assert "was silent for 1 s and was ended" in row.prepare()
    slow = make("hang", limits=Limits(idle=30, total=1))
    assert "took longer than 1 s" in slow.prepare()


@pytest.mark.skipif(os.name != "posix", reason="parents are told by number on POSIX alone")
def test_a_runner_ends_with_who_started_it(make: Make, tmp_path: Path) -> None:
    make("crash").prepare()  # leaves its job file
    (job,) = tmp_path.glob("run/fake-*/*.job.json")
    job.write_text(job.read_text().replace('"crash"', '"hang"'))
    (seen,) = tmp_path.glob("run/fake-*/index/seen.json")
    seen.unlink()
    starter = (
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, *sys.argv[1:3]],"
        " start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "while not pathlib.Path(sys.argv[3]).exists(): time.sleep(0.05)\n"
        "print(child.pid)\n"
    )
    runner = make()._setup.environments.packages["fake"].runner
    said = subprocess.run(
        [sys.executable, "-c", starter, runner, str(job), str(seen)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=30,
    )
    child = int(said.stdout)
    for _ in range(200):
        if not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie":
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the runner lives on")


def test_over_the_token_limit_the_job_ends(make: Make) -> None:
    assert "120 model tokens were spent, over the limit of 110" in make(max_tokens=110).prepare()


def test_a_skipped_row_gives_no_evidence(make: Make) -> None:
    with pytest.raises(ModelError, match="the graph is empty"):
        make("crash").evidence(KELP, 500)


def test_a_question_that_was_not_named_is_an_error(make: Make) -> None:
    with pytest.raises(ModelError, match="Name every question"):
        make().evidence("why", 500)


def test_the_key_reaches_the_child_and_no_file(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "other-secret")
    monkeypatch.setenv("RESIN_ES_API_KEY", "another-secret")
    make().prepare()
    (seen,) = tmp_path.glob("run/fake-*/index/seen.json")
    child = json.loads(seen.read_text())
    assert child["key"] is True
    assert not {"AWS_SECRET_ACCESS_KEY", "RESIN_ES_API_KEY", "RESIN_EXTERNAL_KEY"} & set(
        child["environment"]
    )
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path


def test_a_local_model_needs_no_key(make: Make, tmp_path: Path) -> None:
    from resin_es.evaluation.systems.external.jobs import ModelEndpoint

    row = make(model=ModelEndpoint(url="http://127.0.0.1:9/v1", model="m"))
    assert row.prepare() == ""
    (seen,) = tmp_path.glob("run/fake-*/index/seen.json")
    assert json.loads(seen.read_text())["key"] is False


def test_rows_by_name(make: Make) -> None:
    setup = make()._setup
    names = [row.name for row in external_systems(setup)]
    assert names == ["graphrag-local", "graphrag-global", "lightrag", "hipporag2"]
    assert [row.label for row in external_systems(setup, ["lightrag"])] == ["LightRAG"]
    with pytest.raises(UsageError, match="no external system 'ligthrag'"):
        external_systems(setup, ["ligthrag"])
