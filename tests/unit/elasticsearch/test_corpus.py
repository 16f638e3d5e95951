"""The baselines' index: its body, its name, and how answers are read."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.adapters.elasticsearch.corpus import (
    corpus_index_body,
    corpus_index_name,
    record_source,
)
from resin_es.errors import SettingsError
from resin_es.evaluation.corpus import Corpus, corpus_of
from resin_es.evaluation.values import EvalDataset, EvalDocument, SourceSentence, Span
from resin_es.index.settings import StoreSettings
from resin_es.index.templates import Schema
from resin_es.ports import ModelIdentity

MODEL = ModelIdentity(name="m", dims=3)
VECTOR = {
    "type": "dense_vector",
    "dims": 3,
    "index": True,
    "similarity": "cosine",
    "index_options": {"type": "flat"},
}
TEXT = {"type": "text", "analyzer": "resin_text"}


def corpus(text: str = "One.", name: str = "Toy Set") -> Corpus:
    span = Span(document_id="a", start=0, end=len(text))
    sentence = SourceSentence(id="s", span=span, text=text)
    document = EvalDocument(id="a", title="T", text=text, sentences=(sentence,))
    return corpus_of(EvalDataset(name=name, documents=(document,), questions=()))


@pytest.mark.parametrize("stemming", [True, False])
def test_index_body(stemming: bool) -> None:
    body = corpus_index_body(Schema(model=MODEL, settings=StoreSettings(), stemming=stemming))
    analyzer = body["settings"]["analysis"]["analyzer"]["resin_text"]
    assert analyzer["type"] == ("english" if stemming else "custom")
    assert body["mappings"] == {
        "_meta": {"resin": {"managed_by": "resin-es", "family": "corpus", "complete": False}},
        "dynamic": "strict",
        "_source": {"excludes": ["document_vector", "sentence_vector", "window_vector"]},
        "properties": {
            "number": {"type": "integer"},
            "document_text": TEXT,
            "document_vector": VECTOR,
            "sentence_text": TEXT,
            "sentence_vector": VECTOR,
            "window_text": TEXT,
            "window_vector": VECTOR,
        },
    }


def test_dims_that_no_index_holds_are_refused() -> None:
    wide = ModelIdentity(name="m", dims=5000)
    with pytest.raises(SettingsError, match="5000 dims"):
        corpus_index_body(Schema(model=wide, settings=StoreSettings()))


def test_records_stand_under_the_fields_of_their_granularity() -> None:
    whole, sentence, window = corpus().records
    assert record_source(7, whole, [1.0]) == {
        "number": 7,
        "document_text": "T\nOne.",
        "document_vector": [1.0],
    }
    assert set(record_source(8, sentence, [1.0])) == {"number", "sentence_text", "sentence_vector"}
    assert set(record_source(9, window, [1.0])) == {"number", "window_text", "window_vector"}


def test_the_name_tells_corpora_apart() -> None:
    settings = StoreSettings(prefix="p-eval")
    name = corpus_index_name(settings, corpus(), MODEL)
    assert name.startswith("p-eval-corpus-toy-set-")
    assert corpus_index_name(settings, corpus(), MODEL) == name
    others: list[tuple[StoreSettings, Corpus, ModelIdentity]] = [
        (settings, corpus("Two."), MODEL),
        (settings, corpus(), ModelIdentity(name="n", dims=3)),
        (settings, corpus(), ModelIdentity(name="m", dims=4)),
        (settings.model_copy(update={"language": "german"}), corpus(), MODEL),
    ]
    names: set[Any] = {corpus_index_name(*other) for other in others}
    assert len(names | {name}) == 5
