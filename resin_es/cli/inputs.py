"""Questions and plans from files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resin_es.errors import InputError, PlanError
from resin_es.model import Plan
from resin_es.query.planner import parse_plan


@dataclass(frozen=True)
class Asked:
    """One question of a run, with a ready-made plan if there is one."""

    id: str
    question: str
    plan: Plan | None = None


def questions_of(
    question: str | None, questions: Path | None, plan_file: Path | None
) -> list[Asked]:
    """Raises InputError or PlanError naming file and line, before anything is asked."""
    if (question is None) == (questions is None):
        raise InputError("Give either one question or --questions FILE.jsonl.")
    if questions is None:
        assert question is not None
        plan = read_plan(plan_file, question) if plan_file else None
        return [Asked(id="", question=question, plan=plan)]
    plans = _plans(plan_file) if plan_file else {}
    asked = []
    for where, record in _jsonl(questions):
        text, name = record.get("question"), record.get("id")
        if not isinstance(text, str) or not isinstance(name, str | int):
            raise InputError(f"{where}: not an object with `id` and `question`.")
        asked.append(Asked(id=str(name), question=text, plan=plans.get(str(name))))
    if not asked:
        raise InputError(f"{questions} holds no question.")
    return asked


def read_plan(path: Path, question: str) -> Plan:
    """One plan from a JSON file; its ``question`` may be left out. Raises PlanError."""
    content = _read(path)
    try:
        value = json.loads(content)
    except ValueError as error:
        raise PlanError(f"{path} is not JSON: {error}.") from error
    if isinstance(value, dict):
        value = {"question": question, **value}
    return parse_plan(value)


def _plans(path: Path) -> dict[str, Plan]:
    """Plans by question id: one JSON line each, ``{"id": …, "plan": {…}}``."""
    plans = {}
    for where, record in _jsonl(path):
        name, plan = record.get("id"), record.get("plan")
        if not isinstance(name, str | int) or not isinstance(plan, dict):
            raise PlanError(f"{where}: not an object with `id` and `plan`.")
        try:
            plans[str(name)] = parse_plan(plan)
        except PlanError as error:
            raise PlanError(f"{where}: {error.message}", hint=error.hint) from error
    return plans


def _jsonl(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(_read(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path} line {number}"
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InputError(f"{where}: not JSON: {error}.") from error
        if not isinstance(record, dict):
            raise InputError(f"{where}: not a JSON object.")
        yield where, record


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 (byte {error.start}).") from error
