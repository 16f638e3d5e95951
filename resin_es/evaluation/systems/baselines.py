"""The baselines, a row each, and one known way that is better than they are.

All of them search the data set's own abstracts, sentences and windows (``evaluation.corpus``)
and are packed alike (``evaluation.packing``); none sees a unit, a plan or our sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from resin_es.errors import InputError
from resin_es.evaluation.corpus import Corpus, Granularity
from resin_es.evaluation.packing import Piece
from resin_es.evaluation.systems.corpus_index import CorpusIndex, Found
from resin_es.evaluation.systems.ranked import (
    Embed,
    Rank,
    RankedSystem,
    Scores,
    Searches,
    best_first,
    pieces_of,
    reciprocal_ranks,
    standardised,
)
from resin_es.evaluation.systems.remembered import Remembered

TOP_SENTENCES = 3
"""Sentences of a document whose scores are added up in the fused row."""

DEEP_DOCUMENTS, DEEP_SENTENCES = 2_000, 1_000
"""How far down the fused row looks: the means and spreads of its signals are to be those of the
corpus, not of a pool of good hits."""

UNSEEN = 2.0
"""How far below the worst sentence found an unseen one is taken to be, in heights of the mean
above the worst. So 1,000 sentences give the evidence that all 11,051 of biology give: recall at
500 tokens .856 (all: .857); with the worst one's own score it is .851."""


def _none(searches: Searches, question: str) -> Iterable[Piece]:
    return ()


def _bm25(searches: Searches, question: str) -> Iterable[Piece]:
    return pieces_of(searches.corpus, searches.lexical(question, "document"))


def _dense(searches: Searches, question: str) -> Iterable[Piece]:
    return pieces_of(searches.corpus, searches.dense(question, "document"))


def _rrf(searches: Searches, question: str) -> Iterable[Piece]:
    return _both(searches, question, "document")


def _both(searches: Searches, question: str, granularity: Granularity) -> Iterable[Piece]:
    """By the reciprocal ranks of words and vectors together."""
    rankings = [searches.lexical(question, granularity), searches.dense(question, granularity)]
    return pieces_of(searches.corpus, reciprocal_ranks(rankings))


def _sentence_document(searches: Searches, question: str) -> Iterable[Piece]:
    corpus = searches.corpus
    best: dict[int, float] = {}
    for number, score in searches.dense(question, "sentence"):
        best.setdefault(corpus.document_number(number), score)
    return pieces_of(corpus, best_first(best))


def _dense_sentences(searches: Searches, question: str) -> Iterable[Piece]:
    return pieces_of(searches.corpus, searches.dense(question, "sentence"))


def _bm25_sentences(searches: Searches, question: str) -> Iterable[Piece]:
    return pieces_of(searches.corpus, searches.lexical(question, "sentence"))


def _windows(searches: Searches, question: str) -> Iterable[Piece]:
    return _both(searches, question, "window")


def _fused(searches: Searches, question: str) -> Iterator[Piece]:
    corpus = searches.corpus
    sentences = searches.dense(question, "sentence", DEEP_SENTENCES)
    scores = fused_scores(
        corpus,
        searches.lexical(question, "document", DEEP_DOCUMENTS),
        searches.dense(question, "document", DEEP_DOCUMENTS),
        sentences,
    )
    own = dict(sentences)
    for number, score in best_first(scores):
        yield _best_sentences_first(corpus, number, own, score)


def _best_sentences_first(corpus: Corpus, number: int, own: Scores, score: float) -> Piece:
    """A whole document whose best sentences are kept first, unseen ones last, in text order."""
    document = corpus.documents[number]
    order = sorted(
        range(len(document.sentences)),
        key=lambda place: (-own.get(corpus.sentence_number(number, place), 0.0), place),
    )
    return Piece(corpus.records[number].id, document, tuple(order), score)


def fused_scores(corpus: Corpus, lexical: Found, dense: Found, sentences: Found) -> Scores:
    """Score of each document that any of the searches found: the mean of four signals, each
    standardised over those documents. What the searches did not bring is estimated: BM25 as 0
    (all documents that share a word with the question are brought), a cosine of documents as
    the least one, a sentence's as ``UNSEEN`` says."""
    own: dict[int, list[float]] = {}
    for number, score in sentences:
        own.setdefault(corpus.document_number(number), []).append(score)
    by_text, by_vector = dict(lexical), dict(dense)
    farthest = min(by_vector.values(), default=0.0)
    documents = sorted({*by_text, *by_vector, *own})
    unseen = [_unseen([score for _, score in sentences])] * TOP_SENTENCES
    best = {d: [*own.get(d, ())[:TOP_SENTENCES], *unseen][:TOP_SENTENCES] for d in documents}
    signals = [
        standardised({d: by_text.get(d, 0.0) for d in documents}),
        standardised({d: by_vector.get(d, farthest) for d in documents}),
        standardised({d: scores[0] for d, scores in best.items()}),
        standardised({d: sum(scores) for d, scores in best.items()}),
    ]
    return {d: sum(signal[d] for signal in signals) / len(signals) for d in documents}


def _unseen(scores: Sequence[float]) -> float:
    if not scores:
        return 0.0
    least = min(scores)
    return least - UNSEEN * (sum(scores) / len(scores) - least)


class Baseline(NamedTuple):
    """A row of the table: what it is called and how it ranks."""

    name: str
    label: str
    group: str
    about: str
    rank: Rank


BASELINES: tuple[Baseline, ...] = (
    Baseline("none", "no retrieval", "baseline", "No evidence at all.", _none),
    Baseline(
        "bm25",
        "BM25",
        "baseline",
        "Whole documents by BM25 of title and text; the last one is cut at a sentence.",
        _bm25,
    ),
    Baseline(
        "dense",
        "StandardRAG (dense)",
        "baseline",
        "Whole documents by cosine of title and text; the last one is cut at a sentence.",
        _dense,
    ),
    Baseline(
        "rrf",
        "RRF of BM25 and dense",
        "baseline",
        "Whole documents by reciprocal rank fusion of the two; the last one is cut at a sentence.",
        _rrf,
    ),
    Baseline(
        "sentence-document",
        "dense sentence → document",
        "baseline",
        "Whole documents by the cosine of their best sentence; the last one is cut at a sentence.",
        _sentence_document,
    ),
    Baseline(
        "dense-sentences", "dense sentences", "baseline", "Sentences by cosine.", _dense_sentences
    ),
    Baseline("bm25-sentences", "BM25 sentences", "baseline", "Sentences by BM25.", _bm25_sentences),
    Baseline(
        "windows",
        "RRF, 5-sentence windows",
        "baseline",
        "Windows of five sentences by reciprocal rank fusion of BM25 and cosine; the last one is "
        "cut at a sentence.",
        _windows,
    ),
    Baseline(
        "fused",
        "fused document score",
        "known",
        "Documents by the mean z of BM25, cosine, best sentence and the sum of the three best "
        "ones; then their sentences by cosine; the last document is cut at a sentence.",
        _fused,
    ),
)


def make_baselines(
    index: CorpusIndex,
    embed: Embed,
    names: Sequence[str] | None = None,
    memory: Remembered | None = None,
) -> list[RankedSystem]:
    """The rows ``names`` (all by default), over one corpus. They share their searches through
    ``memory``, which the caller tells to forget when a new question begins; ``embed`` gives
    vectors of questions by the model that ``index`` was built with.

    Raises InputError on an unknown name.
    """
    table = {baseline.name: baseline for baseline in BASELINES}
    unknown = [name for name in names or () if name not in table]
    if unknown:
        raise InputError(
            f"no baseline is called {', '.join(unknown)}.", hint=f"Known: {', '.join(table)}."
        )
    searches = Searches(index, embed, memory or Remembered())
    return [
        RankedSystem(*table[name], searches=searches)
        for name in (table if names is None else names)
    ]
