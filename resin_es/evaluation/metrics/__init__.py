"""One metric a module, each a pure function over per-question findings."""

from resin_es.evaluation.metrics.full_recall import full_recall
from resin_es.evaluation.metrics.gold_recall import gold_recall

__all__ = ["full_recall", "gold_recall"]
