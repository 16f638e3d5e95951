"""A run's results: built once, shown in the terminal, as JSON and as one HTML page."""

from __future__ import annotations

from resin_es.evaluation.report.build import build_report
from resin_es.evaluation.report.document import as_dict, schema
from resin_es.evaluation.report.page import as_page
from resin_es.evaluation.report.terminal import tables
from resin_es.evaluation.report.values import Report

__all__ = ["Report", "as_dict", "as_page", "build_report", "schema", "tables"]
