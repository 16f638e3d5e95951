"""The hop solver's request, and the local answer read from what came back. Pure [A.5, A.7]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from resin_es.errors import ModelError
from resin_es.llm.data import delimited, line
from resin_es.llm.wire import Wire, clipped, schema_of, word, words
from resin_es.ports import ModelCall
from resin_es.prompts import prompt
from resin_es.query.solving import LocalAnswer, SolverCandidate, SolverInput

MAX_TOKENS = 4096
"""Room for a local answer, and for what a model may think first."""


class WireSolution(Wire):
    """A local answer as the solver writes it."""

    answer: str
    found: bool
    records: list[int]


@cache
def _schema() -> dict[str, Any]:
    return schema_of(WireSolution)


def solve_call(item: SolverInput, model: str) -> ModelCall:
    """The request for one hop: number, subquestion, target, type, dependencies, candidates."""
    told = prompt("solve")
    after = ", ".join(map(str, item.depends_on)) or "none"
    rows = [_row(n, one) for n, one in enumerate(item.candidates, start=1)]
    parts = [
        f"HOP: {item.number}",
        f"SUBQUESTION: {delimited(line(item.subquestion))}",
        f"TARGET: {delimited(line('; '.join(item.target)))}",
        f"TYPE: {item.reasoning_type or 'other'}",
        f"DEPENDS_ON: {after}",
        f"RECORDS: {delimited(chr(10).join(rows))}",
    ]
    return ModelCall(
        stage="solve",
        model=model,
        prompt_version=told.version,
        system=told.text,
        user="\n".join(parts),
        output=_schema(),
        max_tokens=MAX_TOKENS,
    )


def _row(number: int, one: SolverCandidate) -> str:
    head = f"[{number}] ({', '.join(one.kinds)})"
    title = f" {line(one.title)}:" if one.title.strip() else ""
    return f"{head}{title} {line(one.text)}"


def local_answer_from(data: Any, item: SolverInput) -> LocalAnswer:
    """The local answer in ``data``; numbers that name no record are taken out and told.

    Raises ModelError where there is no answer in it.
    """
    if not isinstance(data, Mapping):
        raise ModelError("the local answer is not a JSON object.")
    text = word(data.get("answer"))
    if not text:
        raise ModelError("the local answer has no words.")
    records: dict[int, None] = {}
    rejected: list[str] = []
    for name in _names(data.get("records")):
        number = int(name) if name.isascii() and name.isdigit() and len(name) < 7 else 0
        if 1 <= number <= len(item.candidates):
            records[number - 1] = None
        else:
            rejected.append(f"[{clipped(name)}]")
    # what rests on nothing was not found, whatever the model says of it
    found = data.get("found") is True and bool(records)
    return LocalAnswer(text=text, found=found, records=tuple(records), rejected=tuple(rejected))


def _names(value: Any) -> tuple[str, ...]:
    many = value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else [value]
    return words([str(one).strip("[] ") for one in many if one is not None])
