"""A run's results: built once, shown in the terminal, as JSON and as one HTML page."""

from __future__ import annotations

from resin_es.evaluation.report.build import build_report
from resin_es.evaluation.report.document import report_document, schema
from resin_es.evaluation.report.document import report_document as as_dict
from resin_es.evaluation.report.page import render_page
from resin_es.evaluation.report.page import render_page as as_page
from resin_es.evaluation.report.terminal import tables
from resin_es.evaluation.report.values import Report

__all__ = [
    "Report",
    "as_dict",
    "as_page",
    "build_report",
    "render_page",
    "report_document",
    "schema",
    "tables",
]
