"""One metric a module, each a pure function over per-question findings."""

from resin_es.evaluation.metrics.document_recall import document_recall
from resin_es.evaluation.metrics.exact_match import exact_match
from resin_es.evaluation.metrics.full_recall import full_recall
from resin_es.evaluation.metrics.gold_recall import gold_recall
from resin_es.evaluation.metrics.mean import known_mean, mean
from resin_es.evaluation.metrics.normalize import answer_tokens
from resin_es.evaluation.metrics.recall_at import recall_at
from resin_es.evaluation.metrics.reciprocal_rank import mean_reciprocal_rank, reciprocal_rank
from resin_es.evaluation.metrics.token_f1 import token_f1

__all__ = [
    "answer_tokens",
    "document_recall",
    "exact_match",
    "full_recall",
    "gold_recall",
    "known_mean",
    "mean",
    "mean_reciprocal_rank",
    "recall_at",
    "reciprocal_rank",
    "token_f1",
]
