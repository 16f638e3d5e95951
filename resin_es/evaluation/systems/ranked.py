"""A row that ranks records of the corpus and packs them, and the ways to join rankings. Pure,
but for the searches that it asks the index for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from math import sqrt
from typing import TYPE_CHECKING, Any

from resin_es.evaluation.corpus import Corpus, Granularity
from resin_es.evaluation.packing import Piece, pack_pieces
from resin_es.evaluation.systems.corpus_index import (
    CorpusIndex,
    Found,
    dense_body,
    lexical_body,
)
from resin_es.evaluation.systems.remembered import Remembered
from resin_es.evaluation.values import Evidence, Span

if TYPE_CHECKING:
    from resin_es.ports import Vectors

DEPTH: Mapping[Granularity, int] = {"document": 100, "sentence": 400, "window": 200}
"""How many records a search brings: 2,000 tokens hold about six abstracts or fifty sentences,
and deeper lists fuse to the same evidence (measured on HolisQA's biology)."""

LISTED = 100
"""Length of a row's own list, which recall at k and MRR are taken from."""

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack et al., 2009)."""

Embed = Callable[[Sequence[str]], "Vectors"]
Scores = Mapping[int, float]


class Searches:
    """The searches of one question, each sent once for all rows that need it."""

    def __init__(self, index: CorpusIndex, embed: Embed, memory: Remembered) -> None:
        self.index, self.corpus = index, index.corpus
        self._embed, self._memory = embed, memory
        self._spans: dict[str, tuple[Span, ...]] = {}

    def lexical(self, question: str, granularity: Granularity, size: int | None = None) -> Found:
        """The ``size`` best by BM25 (``DEPTH`` by default). Raises StoreError."""
        body = lexical_body(granularity, question, size or DEPTH[granularity])
        return self._search(f"lexical {granularity} {body['size']} {question}", body)

    def dense(self, question: str, granularity: Granularity, size: int | None = None) -> Found:
        """The ``size`` nearest by cosine (``DEPTH`` by default). Raises StoreError, ModelError."""
        body = dense_body(granularity, self._vector(question), size or DEPTH[granularity])
        return self._search(f"dense {granularity} {body['size']} {question}", body)

    def _search(self, key: str, body: Mapping[str, Any]) -> Found:
        return self._memory.call(f"baselines: {key}", lambda: self.index.search([body])[0])

    def spans_of(self, piece: Piece) -> tuple[Span, ...]:
        """``spans_of``, made once a piece."""
        if piece.id not in self._spans:
            self._spans[piece.id] = spans_of(piece)
        return self._spans[piece.id]

    def _vector(self, question: str) -> list[float]:
        def embedded() -> list[float]:
            row: list[float] = self._embed([question])[0].tolist()
            return row

        return self._memory.call(f"baselines: vector {question}", embedded)


Rank = Callable[[Searches, str], Iterable[Piece]]


class RankedSystem:
    """An ``EvalSystem`` that ranks pieces and packs them into the budget. The ranking of the
    last question is kept for its other budgets."""

    def __init__(
        self, name: str, label: str, group: str, about: str, rank: Rank, searches: Searches
    ) -> None:
        self.name, self.label, self.group, self.about = name, label, group, about
        self.searches = searches
        self._rank = rank
        self._last: tuple[str, tuple[Piece, ...], tuple[tuple[Span, ...], ...]] | None = None

    def pieces(self, text: str) -> Iterable[Piece]:
        """The row's own ranking for any text, best first. Raises StoreError, ModelError."""
        return self._rank(self.searches, text)

    def evidence(self, question: str, budget: int) -> Evidence:
        """The best pieces within ``budget`` tokens. Raises StoreError, ModelError."""
        if self._last is None or self._last[0] != question:
            pieces = tuple(islice(self.pieces(question), LISTED))
            self._last = question, pieces, tuple(map(self.searches.spans_of, pieces))
        _, pieces, ranked = self._last
        passages = pack_pieces(pieces, budget, self.searches.corpus.name)
        return Evidence(passages=passages, ranked=ranked)


def spans_of(piece: Piece) -> tuple[Span, ...]:
    """What a piece stands for: the text from its first to its last sentence."""
    sentences = piece.document.sentences
    first, last = min(piece.order), max(piece.order)
    return (
        Span(
            document_id=piece.document.id,
            start=sentences[first].span.start,
            end=sentences[last].span.end,
        ),
    )


def pieces_of(corpus: Corpus, ranking: Iterable[tuple[int, float]]) -> Iterable[Piece]:
    """Records as they are, their sentences in text order."""
    for number, score in ranking:
        record = corpus.records[number]
        order = tuple(range(record.first, record.last))
        yield Piece(record.id, corpus.by_id[record.document_id], order, score)


def reciprocal_ranks(rankings: Sequence[Found], k: int = RRF_K) -> Found:
    """Reciprocal rank fusion: the sum of 1 / (k + rank) over the rankings that hold a record."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, (number, _) in enumerate(ranking, 1):
            scores[number] = scores.get(number, 0.0) + 1 / (k + rank)
    return best_first(scores)


def best_first(scores: Scores) -> Found:
    """By score, ties by place in the corpus."""
    return tuple(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


NOISE = 1e-8
"""Below this share of the mean, a spread is what adding floats leaves of equal scores: scores are
single precision, so different ones lie further apart."""


def standardised(scores: Scores) -> dict[int, float]:
    """Each score as standard deviations above the mean (z); all equal: all 0."""
    if not scores:
        return {}
    # Plain sums: the exact ones of ``statistics`` take many times as long.
    mean = sum(scores.values()) / len(scores)
    spread = sqrt(sum((score - mean) ** 2 for score in scores.values()) / len(scores))
    if spread <= NOISE * abs(mean):
        return dict.fromkeys(scores, 0.0)
    return {key: (score - mean) / spread for key, score in scores.items()}
