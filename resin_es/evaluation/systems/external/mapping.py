"""From the text that a package returned back to sentences of the documents. Pure.

Packages change white space, quotes and control characters on the way; letters and digits stay.
So texts are compared by these alone, and positions are carried along.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from resin_es.evaluation.packing import Piece
from resin_es.evaluation.systems.external.jobs import Chunk, given_text
from resin_es.evaluation.values import EvalDocument, Span
from resin_es.model.base import CHARS_PER_TOKEN


class _Folded(NamedTuple):
    """``letters`` of a text and where each of them stands in it."""

    letters: str
    places: tuple[int, ...]


@lru_cache(maxsize=16_384)
def _folded(text: str) -> _Folded:
    places = tuple(place for place, letter in enumerate(text) if letter.isalnum())
    return _Folded("".join(text[place] for place in places), places)


class ChunkMap:
    """Finds chunks in ``documents``, which were given to the package by ``given_text``."""

    def __init__(self, documents: Iterable[EvalDocument]) -> None:
        self._documents = {document.id: document for document in documents}
        self._by_letters = {
            _folded(given_text(document)).letters: document
            for document in reversed(list(self._documents.values()))
        }

    def pieces(self, chunks: Sequence[Chunk]) -> tuple[list[Piece], int]:
        """The chunks in their order as pieces of documents, and how many were found nowhere.
        A chunk that holds no whole sentence of its document (a title alone) gives none."""
        pieces: list[Piece] = []
        lost = 0
        for rank, chunk in enumerate(chunks):
            found = self._find(chunk)
            if found is None:
                lost += 1
                continue
            document, order = found
            if order:
                score = chunk.score or 1 / (rank + 1)
                pieces.append(Piece(f"{document.id}#{order[0]}", document, order, score))
        return pieces, lost

    def _find(self, chunk: Chunk) -> tuple[EvalDocument, tuple[int, ...]] | None:
        letters = _folded(chunk.text).letters
        if not letters:
            return None
        named = self._documents.get(chunk.document) or self._by_letters.get(letters)
        for document in [named] if named is not None else self._documents.values():
            place = _place(document, letters)
            if place is not None:
                return document, _within(document, *place)
        if named is not None:
            return named, _word_for_word(named, letters)
        return None


def spans_of(piece: Piece) -> tuple[Span, ...]:
    """The text from a piece's first sentence to its last."""
    sentences = piece.document.sentences
    return (
        Span(
            document_id=piece.document.id,
            start=sentences[min(piece.order)].span.start,
            end=sentences[max(piece.order)].span.end,
        ),
    )


def _place(document: EvalDocument, letters: str) -> tuple[int, int] | None:
    """Where the letters stand in the document's own text; negative within its title."""
    given = given_text(document)
    folded = _folded(given)
    at = folded.letters.find(letters)
    if at < 0:
        return None
    shift = len(given) - len(document.text)
    return folded.places[at] - shift, folded.places[at + len(letters) - 1] + 1 - shift


def _within(document: EvalDocument, start: int, end: int) -> tuple[int, ...]:
    """Sentences that lie in the span by at least half."""
    return tuple(
        position
        for position, sentence in enumerate(document.sentences)
        if 2 * (min(end, sentence.span.end) - max(start, sentence.span.start))
        >= max(1, sentence.span.end - sentence.span.start)
    )


def _word_for_word(document: EvalDocument, letters: str) -> tuple[int, ...]:
    """Sentences that stand in the chunk as they are, where the chunk as a whole was changed."""
    return tuple(
        position
        for position, sentence in enumerate(document.sentences)
        if (own := _folded(sentence.text).letters) and own in letters
    )


def cut_text(text: str, budget: int) -> str:
    """The beginning of ``text`` that fits into ``budget`` tokens of four characters, cut where a
    word ends."""
    room = budget * CHARS_PER_TOKEN
    if len(text) <= room:
        return text
    cut = text[:room]
    if not text[room].isspace() and (space := max(cut.rfind(" "), cut.rfind("\n"))) > 0:
        cut = cut[:space]
    return cut.rstrip()
