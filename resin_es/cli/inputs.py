"""Questions and plans from files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resin_es.errors import InputError, PlanError
from resin_es.model import Plan
from resin_es.query.planner import parse_plans


@dataclass(frozen=True)
class Asked:
    """One question of a run, with a ready-made plan if there is one."""

    id: str
    question: str
    plan: Plan | None = None


def questions_of(
    question: str | None, questions: Path | None, plan_file: Path | None
) -> list[Asked]:
    """Raises InputError or PlanError naming file and line, before anything is asked. With
    ready-made plans, every question needs one."""
    if (question is None) == (questions is None):
        raise InputError("Give either one question or --questions FILE.jsonl.")
    pairs = [("", question)] if question is not None else _pairs(questions or Path())
    if plan_file is None:
        return [Asked(id=name, question=text) for name, text in pairs]
    try:
        book = parse_plans(_read(plan_file), dict(pairs))
        return [Asked(id=name, question=text, plan=book.get(text, name)) for name, text in pairs]
    except PlanError as error:
        raise PlanError(f"{plan_file}: {error.message}", hint=error.hint) from error


def _pairs(questions: Path) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for where, record in _jsonl(questions):
        text, name = record.get("question"), record.get("id")
        if not isinstance(text, str) or not isinstance(name, str | int):
            raise InputError(f"{where}: not an object with `id` and `question`.")
        pairs.append((str(name), text))
    if not pairs:
        raise InputError(f"{questions} holds no question.")
    return pairs


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
