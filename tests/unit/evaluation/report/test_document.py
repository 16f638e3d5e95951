"""The JSON results: complete, and what their schema says."""

from __future__ import annotations

import json
from typing import Any

from resin_es.evaluation.report import Report, as_dict, build_report, schema
from tests.unit.evaluation.report.made_up import ROWS, made_up


def test_a_document_is_read_back_by_its_own_models() -> None:
    report = build_report(
        [made_up("biology", questions=9, answers=True), made_up("fish", questions=4)]
    )
    document = json.loads(json.dumps(as_dict(report), allow_nan=False))
    again = Report.model_validate(document)
    assert again.datasets[0].rows[1].label == "BM25"
    assert as_dict(again) == document


def test_every_row_is_there_with_its_figures() -> None:
    document = as_dict(build_report([made_up(questions=9, answers=True)]))
    assert document["schema_version"] == 1
    (section,) = document["datasets"]
    assert [row["system"] for row in section["rows"]] == [r[0] for r in ROWS] + ["graphrag-local"]
    resin = next(row for row in section["rows"] if row["system"] == "resin")
    bm25 = next(row for row in section["rows"] if row["system"] == "bm25")
    assert set(resin["gold_recall"]) == {"500", "1000", "2000"}
    assert set(bm25["against_resin"]["500"]) == {"difference", "low", "high", "questions", "level"}
    assert set(resin["failures"]["500"]) == {
        "not_indexed",
        "not_retrieved",
        "not_selected",
        "not_used",
    }
    assert resin["answers"]["answers"] == 9
    assert resin["answers"]["judge_failures"] >= 0
    assert resin["spent"]["calls"] == 27
    assert section["facts"]["seed"] == "0"
    assert document["mean"] is None


def test_published_figures_say_that_nobody_measured_them_here() -> None:
    (section,) = as_dict(build_report([made_up("biology", questions=4)]))["datasets"]
    assert section["published"]
    assert {row["measured_here"] for row in section["published"]} == {False}


def test_findings_come_with_the_results() -> None:
    run = made_up(questions=4)
    plain, full = as_dict(build_report([run])), as_dict(build_report([run]), [run])
    assert "findings" not in plain["datasets"][0]["rows"][0]
    (section,) = full["datasets"]
    assert [one["id"] for one in section["asked"]] == ["q0", "q1", "q2", "q3"]
    assert len(section["rows"][1]["findings"]) == 12
    assert section["rows"][-1]["findings"] == []


def test_the_schema_names_every_field() -> None:
    properties: dict[str, Any] = schema()["$defs"]["RowReport"]["properties"]
    assert {"gold_recall", "against_resin", "failures", "answers"} <= set(properties)
    document = as_dict(build_report([made_up(questions=4)]))
    for section in document["datasets"]:
        assert set(section) == set(schema()["$defs"]["Section"]["properties"])
        for row in section["rows"]:
            assert set(row) == set(properties)
