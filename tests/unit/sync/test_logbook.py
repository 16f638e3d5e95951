"""Log lines of documents: which one, which attempt, what became of it."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from resin_es.model import DocumentStatus, RegistryEntry, StageError, document_key
from resin_es.sync import logbook


def entry(status: DocumentStatus, attempts: int) -> RegistryEntry:
    return RegistryEntry(
        key=document_key("kb", "page/1"),
        source="kb",
        external_id="page/1",
        status=status,
        attempts=attempts,
        error=StageError(stage="units", type="ModelError", message="it broke off"),
    )


def test_an_attempt_is_told_as_it_begins(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        logbook.taken("read_document", [entry(DocumentStatus.PENDING, 1)])
    [line] = caplog.records
    told = {name: line.__dict__[name] for name in ("task", "source", "document", "attempt")}
    assert told == {
        "task": "read_document",
        "source": "kb",
        "document": "page/1",
        "attempt": 2,
    }


@pytest.mark.parametrize(
    ("status", "level"),
    [(DocumentStatus.PENDING, "WARNING"), (DocumentStatus.FAILED, "ERROR")],
)
def test_a_failure_says_whether_it_was_the_last(
    caplog: pytest.LogCaptureFixture, status: DocumentStatus, level: str
) -> None:
    logbook.failed([entry(status, 3)])
    [line] = caplog.records
    assert (line.levelname, line.__dict__["attempt"], line.__dict__["status"]) == (
        level,
        3,
        status.value,
    )
    assert line.getMessage().endswith(": it broke off")
    assert ("last time" in line.getMessage()) == (status is DocumentStatus.FAILED)


def test_nothing_is_written_where_nobody_set_logging_up() -> None:
    code = "from resin_es.sync import logbook; logbook.logger.error('document failed')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""
