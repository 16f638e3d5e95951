"""The baselines' request bodies, how rankings are joined, and what each row makes of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.errors import InputError
from resin_es.evaluation.corpus import Corpus, corpus_of
from resin_es.evaluation.systems.baselines import BASELINES, UNSEEN, fused_scores, make_baselines
from resin_es.evaluation.systems.corpus_index import Found, dense_body, lexical_body
from resin_es.evaluation.systems.ranked import reciprocal_ranks, standardised
from resin_es.evaluation.systems.remembered import Remembered
from resin_es.evaluation.values import EvalDataset, EvalDocument, SourceSentence, Span

ONLY_NUMBERS = {
    "_source": False,
    "stored_fields": "_none_",
    "sort": [{"_score": "desc"}, {"number": "asc"}],
    "track_total_hits": False,
}


def test_lexical_body() -> None:
    assert lexical_body("window", 'why "(eels)?', 7) == {
        "query": {"match": {"window_text": {"query": 'why "(eels)?'}}},
        "size": 7,
        **ONLY_NUMBERS,
    }


def test_dense_body() -> None:
    body = dense_body("sentence", list(np.array([0.5, 0.25], np.float32)), 7)
    assert body == {
        "knn": {
            "field": "sentence_vector",
            "query_vector": [0.5, 0.25],
            "k": 7,
            "num_candidates": 7,
        },
        "size": 7,
        **ONLY_NUMBERS,
    }
    assert {type(value) for value in body["knn"]["query_vector"]} == {float}, "JSON can hold it"


def document(key: str, *sentences: str) -> EvalDocument:
    placed, start = [], 0
    for number, text in enumerate(sentences):
        span = Span(document_id=key, start=start, end=start + len(text))
        placed.append(SourceSentence(id=f"{key}{number}", span=span, text=text))
        start += len(text) + 1
    return EvalDocument(id=key, title=key, text=" ".join(sentences), sentences=tuple(placed))


@pytest.fixture
def corpus() -> Corpus:
    """Documents 0 to 2 (a, b, c), sentences 3 to 9 (a0 to a5, b0, c0), windows from 11."""
    documents = (
        document("a", "one.", "two.", "three.", "four.", "five.", "six."),
        document("b", "seven."),
        document("c", "eight."),
    )
    return corpus_of(EvalDataset(name="toy", documents=documents, questions=()))


class Scripted:
    """Answers by the field that is searched, and keeps what it was asked."""

    def __init__(self, corpus: Corpus, answers: Mapping[str, Found]) -> None:
        self.corpus, self.answers = corpus, answers
        self.asked: list[str] = []

    def search(self, bodies: Sequence[Mapping[str, Any]]) -> list[Found]:
        fields = [
            body["knn"]["field"] if "knn" in body else next(iter(body["query"]["match"]))
            for body in bodies
        ]
        self.asked += fields
        return [self.answers[field] for field in fields]


def embed(texts: Sequence[str]) -> Any:
    return np.ones((len(texts), 2), dtype=np.float32)


def scripted(corpus: Corpus) -> Scripted:
    return Scripted(
        corpus,
        {
            "document_text": ((1, 9.0), (0, 8.0)),
            "document_vector": ((2, 0.9), (1, 0.8), (0, 0.1)),
            "sentence_text": ((8, 3.0), (9, 2.0)),
            "sentence_vector": ((8, 0.9), (4, 0.8), (10, 0.7), (9, 0.6)),
            "window_text": ((12, 5.0), (11, 4.0)),
            "window_vector": ((12, 0.5), (11, 0.4), (13, 0.3)),
        },
    )


@pytest.mark.parametrize(
    ("name", "sentences"),
    [
        ("none", []),
        ("bm25", [["b0"], ["a0", "a1", "a2", "a3", "a4", "a5"]]),
        ("dense", [["c0"], ["b0"], ["a0", "a1", "a2", "a3", "a4", "a5"]]),
        ("rrf", [["b0"], ["a0", "a1", "a2", "a3", "a4", "a5"], ["c0"]]),
        ("sentence-document", [["a0", "a1", "a2", "a3", "a4", "a5"], ["c0"], ["b0"]]),
        ("dense-sentences", [["a5"], ["a1"], ["c0"], ["b0"]]),
        ("bm25-sentences", [["a5"], ["b0"]]),
        ("windows", [["a5"], ["a0", "a1", "a2", "a3", "a4"], ["b0"]]),
    ],
)
def test_rows(corpus: Corpus, name: str, sentences: list[list[str]]) -> None:
    [row] = make_baselines(scripted(corpus), embed, [name])
    evidence = row.evidence("q", 1000)
    assert [[s.id for s in passage.sentences] for passage in evidence.passages] == sentences
    assert [[s.document_id for s in spans] for spans in evidence.ranked] == [
        [passage.document_id] for passage in evidence.passages
    ]


def test_fused_takes_the_best_sentences_of_the_document_it_cuts(corpus: Corpus) -> None:
    [row] = make_baselines(scripted(corpus), embed, ["fused"])
    whole = row.evidence("q", 1000)
    assert [passage.document_id for passage in whole.passages] == ["a", "b", "c"]
    cut = row.evidence("q", 4)
    [passage] = cut.passages
    assert [s.id for s in passage.sentences] == ["a1", "a5"], "its two best ones"
    assert passage.text == "two. […] six."
    assert cut.ranked == whole.ranked, "the list is the row's own, whatever the budget"


def test_one_search_for_all_rows_and_budgets(corpus: Corpus) -> None:
    index, memory = scripted(corpus), Remembered()
    rows = make_baselines(index, embed, memory=memory)
    assert [row.name for row in rows] == [baseline.name for baseline in BASELINES]
    for row in rows:
        for budget in (1, 10, 1000):
            tokens = sum(p.tokens for p in row.evidence("q", budget).passages)
            assert tokens <= budget
    deeper = ["document_text", "document_vector", "sentence_vector"]
    assert sorted(index.asked) == sorted([*index.answers, *deeper]), "each once, fused's deeper"
    asked = len(index.asked)
    memory.forget()
    rows[1].evidence("another", 10)
    assert index.asked[asked:] == ["document_text"]


def test_unknown_names_are_refused(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="bm52"):
        make_baselines(scripted(corpus), embed, ["bm25", "bm52"])


def test_ties_go_by_place() -> None:
    tied = reciprocal_ranks([((4, 1.0), (1, 0.5)), ((1, 1.0), (4, 0.5))])
    assert [number for number, _ in tied] == [1, 4]


def test_reciprocal_ranks() -> None:
    joined = dict(reciprocal_ranks([((0, 9.0), (1, 1.0)), ((1, 0.3),)]))
    assert joined == {0: 1 / 61, 1: 1 / 62 + 1 / 61}


def test_equal_scores_stay_equal_whatever_adding_them_leaves() -> None:
    assert standardised(dict.fromkeys(range(3), 682.7213412692224)) == dict.fromkeys(range(3), 0.0)


@given(st.dictionaries(st.integers(0, 99), st.floats(-1e3, 1e3), max_size=20))
def test_standardised(scores: dict[int, float]) -> None:
    z = standardised(scores)
    assert z.keys() == scores.keys()
    assert math.isclose(sum(z.values()), 0.0, abs_tol=1e-6)
    order = sorted(scores, key=lambda key: scores[key])
    assert all(z[a] <= z[b] + 1e-9 for a, b in pairwise(order))


def test_fused_scores_use_all_four_signals(corpus: Corpus) -> None:
    lexical: Found = ((0, 4.0), (1, 2.0))
    dense: Found = ((1, 0.9), (0, 0.5), (2, 0.1))
    sentences: Found = ((9, 0.9), (3, 0.7), (4, 0.6), (5, 0.5), (6, 0.3))
    scores = fused_scores(corpus, lexical, dense, sentences)
    text = standardised({0: 4.0, 1: 2.0, 2: 0.0})
    vector = standardised({0: 0.5, 1: 0.9, 2: 0.1})
    unseen = 0.3 - UNSEEN * (0.6 - 0.3)
    best = standardised({0: 0.7, 1: 0.9, 2: unseen})
    three = standardised({0: 1.8, 1: 0.9 + 2 * unseen, 2: 3 * unseen})
    for number in range(3):
        mean = (text[number] + vector[number] + best[number] + three[number]) / 4
        assert math.isclose(scores[number], mean)
