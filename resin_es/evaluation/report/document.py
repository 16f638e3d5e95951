"""The report as JSON. Its schema is that of ``values.Report``: ``schema()`` prints it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resin_es.evaluation.report.values import Report
from resin_es.evaluation.values import EvalResult

DIGITS = 6


def report_document(report: Report, results: Sequence[EvalResult] = ()) -> dict[str, Any]:
    """A report as JSON values, shares rounded to six digits. With the ``results`` that it was
    built from, each data set also holds ``asked``, its questions, and each row ``findings``,
    the ``QuestionResult`` of every question and budget."""
    document: dict[str, Any] = _rounded(report.model_dump(mode="json"))
    for section, result in zip(document["datasets"], results, strict=False):
        section["asked"] = [question.model_dump(mode="json") for question in result.asked]
        findings = {
            row.system: [one.model_dump(mode="json") for one in row.questions]
            for row in result.systems
        }
        for row in section["rows"]:
            row["findings"] = findings[row["system"]]
    return document


def schema() -> dict[str, Any]:
    """JSON schema of :func:`report_document`, without what ``results`` add."""
    return Report.model_json_schema(mode="serialization")


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value
