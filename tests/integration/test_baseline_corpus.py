"""The baselines' corpus on a real node: built once, mended, exact, the same twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from resin_es.adapters.elasticsearch import ElasticsearchStore, install
from resin_es.adapters.elasticsearch.corpus import (
    ElasticsearchCorpus,
    build_corpus,
    corpus_index_name,
    drop_corpora,
    merge_families,
)
from resin_es.errors import ModelError, StoreNotInstalled
from resin_es.evaluation.corpus import Corpus, corpus_of
from resin_es.evaluation.systems.baselines import make_baselines
from resin_es.evaluation.systems.corpus_index import dense_body, lexical_body
from resin_es.evaluation.values import EvalDataset, EvalDocument, SourceSentence, Span
from resin_es.index.settings import StoreSettings
from resin_es.ports import ModelIdentity
from resin_es.testing.hash_embedder import HashEmbedder

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

    from resin_es.ports import Vectors

TREES = ("Alder", "Birch", "Cedar", "Elm", "Fir", "Ginkgo", "Hazel", "Ilex", "Juniper", "Larch")
NUMBERS = 48
"""Different numbers in the toy sentences."""


def document(number: int) -> EvalDocument:
    texts = [
        f"{TREES[(number + n) % 10]} tree {number * 7 % NUMBERS} grows in street {n * number % 11}."
        for n in range(1 + number % 8)
    ]
    sentences, start = [], 0
    for n, text in enumerate(texts):
        span = Span(document_id=f"d{number}", start=start, end=start + len(text))
        sentences.append(SourceSentence(id=f"d{number}-{n}", span=span, text=text))
        start += len(text) + 1
    return EvalDocument(
        id=f"d{number}",
        title=f"Trees {number}",
        text=" ".join(texts),
        sentences=tuple(sentences),
    )


CORPUS = corpus_of(
    EvalDataset(name="Trees", documents=tuple(document(n) for n in range(60)), questions=())
)
QUESTION = "Where does the Ginkgo tree 7 grow?"


class Counting(HashEmbedder):
    """Counts the texts it was given; breaks after ``limit`` of them."""

    def __init__(self, limit: int = 10**9) -> None:
        super().__init__()
        self.texts, self.limit = 0, limit

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.texts + len(texts) > self.limit:
            raise ModelError("out of breath")
        self.texts += len(texts)
        return super().embed(texts)


class Kept:
    """A vector cache."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        return {key: self.values[key] for key in keys if key in self.values}

    def put(self, values: Mapping[str, bytes]) -> None:
        self.values.update(values)


def build(
    es: Elasticsearch, prefix: str, embedder: Any, kept: Kept, corpus: Corpus = CORPUS
) -> ElasticsearchCorpus:
    settings = StoreSettings(prefix=prefix)
    return build_corpus(es, settings, corpus, embedder, kept.get, kept.put)


def test_dense_search_is_exact(es: Elasticsearch, prefix: str) -> None:
    embedder = HashEmbedder()
    index = build(es, prefix, embedder, Kept())
    query = embedder.embed([QUESTION])[0]
    for granularity in ("document", "sentence", "window"):
        numbers = [n for n, r in enumerate(CORPUS.records) if r.granularity == granularity]
        vectors = embedder.embed([CORPUS.records[n].searched for n in numbers])
        cosines = dict(zip(numbers, (vectors @ query).tolist(), strict=True))
        [found] = index.search([dense_body(granularity, query.tolist(), 10)])
        best = sorted(cosines.values(), reverse=True)[:10]
        assert np.allclose([2 * score - 1 for _, score in found], best, atol=2e-3)
        assert all(abs(cosines[n] - (2 * score - 1)) < 2e-3 for n, score in found)


def test_words_count_by_granularity(es: Elasticsearch, prefix: str) -> None:
    """Each granularity's BM25 knows its own records alone: the share of records that hold a
    word, and their lengths, would differ otherwise."""
    index = build(es, prefix, HashEmbedder(), Kept())
    only = corpus_of(EvalDataset(name="alone", documents=CORPUS.documents, questions=()))
    alone = only.model_copy(
        update={"records": tuple(r for r in only.records if r.granularity == "document")}
    )
    apart = build(es, prefix, HashEmbedder(), Kept(), alone)
    assert apart.index != index.index
    body = lexical_body("document", QUESTION, 20)
    assert index.search([body]) == apart.search([body])
    [sentences] = index.search([lexical_body("sentence", QUESTION, 20)])
    assert {CORPUS.records[n].granularity for n, _ in sentences} == {"sentence"}


def test_built_once_and_never_mixed_up(es: Elasticsearch, prefix: str) -> None:
    first, again, other = Counting(), Counting(), HashEmbedder(dims=32)
    kept = Kept()
    index = build(es, prefix, first, kept)
    assert build(es, prefix, again, Kept()).index == index.index
    assert (first.texts, again.texts) == (len({r.searched for r in CORPUS.records}), 0)
    assert build(es, prefix, other, kept).index != index.index
    segments = es.indices.segments(index=index.index)["indices"][index.index]["shards"]["0"]
    assert segments[0]["num_committed_segments"] == 1


def test_a_build_that_broke_off_goes_on(
    es: Elasticsearch, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resin_es.adapters.elasticsearch.corpus.CHUNK", 100)
    kept = Kept()
    with pytest.raises(ModelError, match="out of breath"):
        build(es, prefix, Counting(limit=250), kept)
    name = corpus_index_name(StoreSettings(prefix=prefix), CORPUS, HashEmbedder().identity)
    es.indices.refresh(index=name)
    assert 0 < es.count(index=name)["count"] < len(CORPUS.records)
    paid = len(kept.values)
    second = Counting()
    index = build(es, prefix, second, kept)
    assert es.count(index=name)["count"] == len(CORPUS.records)
    assert second.texts == len({r.searched for r in CORPUS.records}) - paid
    fresh = build_corpus(
        es, StoreSettings(prefix=f"{prefix}-b"), CORPUS, HashEmbedder(), kept.get, kept.put
    )
    bodies = [lexical_body("sentence", QUESTION, 50), lexical_body("window", QUESTION, 50)]
    assert index.search(bodies) == fresh.search(bodies), "broken off or not, the same scores"


def test_an_index_that_lost_records_is_mended(es: Elasticsearch, prefix: str) -> None:
    index = build(es, prefix, HashEmbedder(), Kept())
    bodies = [lexical_body("document", QUESTION, 50)]
    found = index.search(bodies)
    es.delete(index=index.index, id=CORPUS.records[5].id, refresh=True)
    build(es, prefix, HashEmbedder(), Kept())
    assert es.count(index=index.index)["count"] == len(CORPUS.records)
    assert index.search(bodies) == found


def test_rows_answer_the_same_twice_and_within_budget(es: Elasticsearch, prefix: str) -> None:
    embedder = HashEmbedder()
    index = build(es, prefix, embedder, Kept())
    rows, again = (make_baselines(index, embedder.embed) for _ in range(2))
    for row, other in zip(rows, again, strict=True):
        for budget in (20, 100):
            evidence = row.evidence(QUESTION, budget)
            assert evidence == other.evidence(QUESTION, budget)
            assert sum(passage.tokens for passage in evidence.passages) <= budget
            assert bool(evidence.passages) == (row.name != "none"), row.name


def test_merging_what_resin_searches(es: Elasticsearch, prefix: str) -> None:
    settings = StoreSettings(prefix=prefix)
    with pytest.raises(StoreNotInstalled):
        merge_families(es, settings)
    install(es, settings, ModelIdentity(name="m", dims=3))
    merge_families(es, settings)
    ElasticsearchStore(es, settings).check(ModelIdentity(name="m", dims=3))


def test_dropping_leaves_what_is_not_ours(es: Elasticsearch, prefix: str) -> None:
    index = build(es, prefix, HashEmbedder(), Kept())
    foreign = f"{prefix}-corpus-foreign"
    es.indices.create(index=foreign)
    assert drop_corpora(es, StoreSettings(prefix=prefix)) == (index.index,)
    assert es.indices.exists(index=foreign)
