"""An evaluation from settings to report: index, rows, run, report."""

from resin_es.bootstrap.evaluation.removing import evaluated, remove_evaluations
from resin_es.bootstrap.evaluation.request import EvalRequest
from resin_es.bootstrap.evaluation.rows import catalogue
from resin_es.bootstrap.evaluation.running import EvalOutcome, run_evaluation

__all__ = [
    "EvalOutcome",
    "EvalRequest",
    "catalogue",
    "evaluated",
    "remove_evaluations",
    "run_evaluation",
]
