"""Filling a token budget with what a row ranked: item by item, the last one cut. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from resin_es.evaluation.values import EvalDocument
from resin_es.model import EvidencePassage, EvidenceSentence
from resin_es.model.base import token_count
from resin_es.model.document import document_key

GAP = " […] "
"""Stands where sentences of a passage were left out; it costs what it is long."""


class Piece(NamedTuple):
    """Something ranked: sentences of ``document`` by position, in the order in which they are
    to be kept as long as there is room (``order``)."""

    id: str
    document: EvalDocument
    order: tuple[int, ...]
    score: float = 0.0


def pack_pieces(pieces: Iterable[Piece], budget: int, source: str) -> tuple[EvidencePassage, ...]:
    """The pieces in rank order, each as far as its sentences fit; the first sentence that no
    longer does ends the evidence, so a long one high up is not skipped for the sake of weaker
    ones. A sentence that an earlier piece brought is not brought again.

    ``budget`` is in tokens of four characters. Titles are shown and cost nothing.
    """
    left = budget
    kept: dict[str, set[int]] = {}
    passages: list[EvidencePassage] = []
    for piece in pieces:
        held = kept.setdefault(piece.document.id, set())
        fresh = [position for position in piece.order if position not in held]
        fitting = _fitting(piece.document, fresh, left)
        if fitting:
            complete = len(fitting) == len(fresh)
            passages.append(_passage(piece, sorted(fitting), complete, source))
            left -= passages[-1].tokens
            held.update(fitting)
        if len(fitting) < len(fresh):
            break
    return tuple(passages)


def _fitting(document: EvalDocument, order: Sequence[int], left: int) -> Sequence[int]:
    """The longest beginning of ``order`` that fits into ``left`` tokens."""
    if token_count(rendered(document, order)) <= left:
        return order
    size = 0
    while token_count(rendered(document, order[: size + 1])) <= left:
        size += 1
    return order[:size]


def rendered(document: EvalDocument, positions: Iterable[int]) -> str:
    """The sentences in text order: verbatim where they adjoin, with a mark between them where
    something was left out."""
    runs: list[list[int]] = []
    for position in sorted(positions):
        if runs and runs[-1][1] == position - 1:
            runs[-1][1] = position
        else:
            runs.append([position, position])
    places = document.sentences
    return GAP.join(
        document.text[places[first].span.start : places[last].span.end] for first, last in runs
    )


def _passage(
    piece: Piece, positions: Sequence[int], complete: bool, source: str
) -> EvidencePassage:
    document = piece.document
    text = rendered(document, positions)
    return EvidencePassage(
        passage_id=piece.id,
        document_key=_key(source, document.id),
        document_id=document.id,
        source=source,
        title=document.title,
        text=text,
        sentences=tuple(_sentence(document, position) for position in positions),
        tokens=token_count(text),
        score=piece.score,
        complete=complete,
    )


_key = lru_cache(maxsize=10_000)(document_key)


def _sentence(document: EvalDocument, position: int) -> EvidenceSentence:
    own = document.sentences[position]
    return EvidenceSentence(
        id=own.id,
        start=own.span.start,
        end=own.span.end,
        text=document.text[own.span.start : own.span.end],
    )
