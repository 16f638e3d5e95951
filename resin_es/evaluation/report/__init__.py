"""A run's results: terminal tables, JSON, one HTML page."""

from __future__ import annotations

from resin_es.evaluation.report.earlier import as_dict, as_table

__all__ = ["as_dict", "as_table"]
