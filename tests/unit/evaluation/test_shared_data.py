"""The data sets themselves, read where they lie. Nothing of them stands here."""

from __future__ import annotations

from pathlib import Path

import pytest

from resin_es.evaluation.align import found_gold, gold_documents
from resin_es.evaluation.datasets import load
from resin_es.evaluation.values import EvalDataset


def check(dataset: EvalDataset) -> None:
    """Offsets are exact, and every question's gold is found by all documents together."""
    texts = {document.id: document.text for document in dataset.documents}
    for document in dataset.documents:
        for sentence in document.sentences:
            assert document.text[sentence.span.start : sentence.span.end] == sentence.text
    for question in dataset.questions:
        assert question.gold
        own = [gold.places[0] for gold in question.gold]
        assert all(texts[place.document_id][place.start : place.end].strip() for place in own)
        assert all(found_gold(question, own))


@pytest.fixture(scope="module")
def biology(shared_data: Path) -> EvalDataset:
    (dataset,) = load("holisqa", shared_data / "holisqa" / "biology")
    return dataset


@pytest.fixture(scope="module")
def hotpotqa(shared_data: Path) -> EvalDataset:
    (dataset,) = load("hotpotqa", shared_data / "hotpotqa")
    return dataset


def test_biology(biology: EvalDataset) -> None:
    assert (biology.name, len(biology.documents), len(biology.questions)) == ("biology", 1111, 421)
    check(biology)
    copies = sum(len(gold.places) > 1 for one in biology.questions for gold in one.gold)
    assert copies > 0, "some abstracts stand there twice"


def test_hotpotqa(hotpotqa: EvalDataset) -> None:
    assert (len(hotpotqa.documents), len(hotpotqa.questions)) == (994, 100)
    check(hotpotqa)
    assert {question.kind for question in hotpotqa.questions} == {"bridge", "comparison"}
    assert {len(gold_documents(question)) for question in hotpotqa.questions} == {2}
