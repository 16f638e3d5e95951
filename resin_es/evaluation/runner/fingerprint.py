"""What a finding depends on, as one hash: nothing found under another one is used again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from resin_es.evaluation.values import EvalDataset
from resin_es.model.base import content_id

DECIDING = (
    "adapters/elasticsearch",
    "evaluation/align.py",
    "evaluation/corpus.py",
    "evaluation/metrics",
    "evaluation/packing.py",
    "evaluation/runner",
    "evaluation/systems",
    "extract",
    "index",
    "model",
    "query",
)
"""Parts of the package whose code decides what a row finds. Reports may change freely."""


def run_fingerprint(dataset: EvalDataset, facts: Mapping[str, str]) -> str:
    """Hash of the data set, of the ``facts`` about models and index, and of our own code."""
    return content_id(
        "run",
        dataset.name,
        dataset_hash(dataset),
        code_hash(),
        *(f"{name}={value}" for name, value in sorted(facts.items())),
        length=16,
    )


def dataset_hash(dataset: EvalDataset) -> str:
    """Hash of every document's id, title and text, and of every question."""
    parts = [part for d in dataset.documents for part in (d.id, d.title, d.text)]
    return content_id("dataset", *parts, *(q.model_dump_json() for q in dataset.questions))


@lru_cache(maxsize=1)
def code_hash() -> str:
    """Hash of the deciding source, so that a changed rule is measured again."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[2]
    for part in DECIDING:
        path = root / part
        sources = [path] if path.is_file() else sorted(path.rglob("*.py"))
        for source in sources:
            digest.update(f"{source.relative_to(root)}\n".encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
