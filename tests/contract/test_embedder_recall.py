"""The two MiniLM runtimes find the same evidence of the demo corpus."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from resin_es.adapters.onnx import OnnxEmbedder
from resin_es.adapters.sentence_transformers import SentenceTransformersEmbedder
from resin_es.demo import demo_documents_path, demo_questions_path
from resin_es.extract.sentences import split_sentences

if TYPE_CHECKING:
    from pathlib import Path

    from resin_es.ports import Embedder

K = 10
ORIGINAL_RECALL = 0.7542
"""recall@10 of the questions' facts by sentence-transformers, over all demo sentences; held to
the original itself wherever that is installed."""
LEAST_DIFFERENCE = 0.02
"""Both runtimes gave .7542 when measured."""


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def recall(embedder: Embedder) -> float:
    """Mean over questions of the share of facts among the K nearest sentences."""
    sentences: list[tuple[str, str]] = []
    for document in rows(demo_documents_path()):
        text = document["text"]
        sentences += [(document["id"], text[a:b]) for a, b in split_sentences(text)]
    questions = rows(demo_questions_path())
    known = embedder.embed([text for _, text in sentences])
    asked = embedder.embed([one["question"] for one in questions])
    shares = []
    for question, scores in zip(questions, asked @ known.T, strict=True):
        best = [sentences[i] for i in np.argsort(-scores, kind="stable")[:K]]
        found = [
            any(name == fact["document"] and fact["quote"] in text for name, text in best)
            for fact in question["facts"]
        ]
        shares.append(sum(found) / len(found))
    return sum(shares) / len(shares)


def test_the_light_runtime_recalls_what_the_original_does() -> None:
    assert recall(OnnxEmbedder()) == pytest.approx(ORIGINAL_RECALL, abs=LEAST_DIFFERENCE)


def test_the_kept_figure_is_the_originals() -> None:
    pytest.importorskip("sentence_transformers", reason="the extra [sentence-transformers]")
    found = recall(SentenceTransformersEmbedder(device="cpu"))
    assert found == pytest.approx(ORIGINAL_RECALL, abs=0.001)
