"""Where a run keeps what it found: one folder a data set, one line a finding.

A line holds under which fingerprint it was found: data set, index, code and the row's own
settings. A run that was broken off goes on after its last whole line; lines of another
fingerprint are left aside, so that no row mixes two states of the index or of the code.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from resin_es.errors import InputError
from resin_es.evaluation.values import EvalQuestion, Evidence, QuestionResult
from resin_es.model import Trace

FINDINGS, CONTEXTS, JUDGED = "findings.jsonl", "contexts.jsonl", "judged.jsonl"
TRACES = "traces"

Key = tuple[str, str, int]
"""System, question id, budget."""


class RunFolder:
    """One data set's findings below ``path``. Raises InputError where it cannot be written."""

    def __init__(self, path: Path, fingerprint: str, *, fresh: bool = False) -> None:
        self.path, self.fingerprint = path, fingerprint
        self._writing = threading.Lock()
        writable(path)
        try:
            if fresh:
                for name in (FINDINGS, CONTEXTS, JUDGED):
                    (path / name).unlink(missing_ok=True)
            for name in (FINDINGS, CONTEXTS, JUDGED):
                _end_line(path / name)
        except OSError as error:
            raise InputError(
                f"{path} cannot be written: {error.strerror}.", hint="Name another --out."
            ) from error

    def findings(self, prints: Mapping[str, str]) -> dict[Key, QuestionResult]:
        """What earlier runs found for rows whose fingerprint (by system) still is the same."""
        known: dict[Key, QuestionResult] = {}
        for row in _lines(self.path / FINDINGS):
            system = row.get("system", "")
            if row.get("print") == self._print(prints.get(system, "")) and system in prints:
                try:
                    result = QuestionResult.model_validate(row["result"])
                except (KeyError, ValidationError):
                    continue  # written by another version: found again
                known[system, result.question_id, result.budget] = result
        return known

    def keep(self, system: str, row_print: str, result: QuestionResult) -> None:
        """Append one finding."""
        self._append(
            FINDINGS,
            {
                "system": system,
                "print": self._print(row_print),
                "result": result.model_dump(mode="json", exclude_defaults=True),
            },
        )

    def keep_context(
        self, system: str, question: EvalQuestion, budget: int, evidence: Evidence, answer: str
    ) -> None:
        """Append what the composer was given, and what it wrote."""
        self._append(
            CONTEXTS,
            {
                "system": system,
                "question_id": question.id,
                "budget": budget,
                "contexts": context_texts(evidence),
                "documents": [passage.document_id for passage in evidence.passages],
                "answer": answer,
            },
        )

    def keep_trace(self, trace: Trace) -> None:
        """Write a trace as ``traces/<id>.json``, for those who want to see every step."""
        path = self.path / TRACES / f"{trace.id}.json"
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_text(trace.model_dump_json(), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}.") from error

    def keep_judged(self, row: Mapping[str, Any]) -> None:
        """Append one judge call: what was sent, and what came back."""
        self._append(JUDGED, row)

    def _print(self, row_print: str) -> str:
        return f"{self.fingerprint}:{row_print}"

    def _append(self, name: str, row: Mapping[str, Any]) -> None:
        try:
            with self._writing, (self.path / name).open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
        except OSError as error:
            raise InputError(f"{self.path / name} cannot be written: {error.strerror}.") from error


def writable(folder: Path) -> None:
    """Make ``folder`` and try it. Raises InputError, before a long run has found anything."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written: {error.strerror}.", hint="Name another --out."
        ) from error


def context_texts(evidence: Evidence) -> Sequence[str]:
    """The contexts as a judge is given them: a text per passage, its title above it."""
    if evidence.text:
        return [evidence.text]
    return [f"{p.title}\n{p.text}" if p.title else p.text for p in evidence.passages]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Whole lines; the last one may have been cut off by whatever ended the run."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row


def _end_line(path: Path) -> None:
    """End a line that a broken run left open, so that the next one stands alone."""
    if path.is_file() and path.stat().st_size:
        with path.open("rb+") as raw:
            raw.seek(-1, 2)
            if raw.read(1) != b"\n":
                raw.write(b"\n")
