"""Where else the words of a gold sentence stand. Pure.

Corpora hold the same text more than once: documents entered twice, abstracts with a changed
title, paragraphs quoted in others. Whoever retrieves the copy has found the evidence, so a gold
sentence counts at every place where its words stand.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from resin_es.evaluation.values import EvalDocument, EvalQuestion, GoldSentence, Span
from resin_es.extract.folding import fold

MIN_RUN = 8
"""Fewest words of a sentence that is looked for inside other sentences. Shorter ones count only
where they are a whole sentence: a few words stand in many texts by chance."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_END = frozenset(".!?;,:")

Word = tuple[str, int, int]
"""A word or a mark, folded, with its offsets in the text."""


def words_of(text: str) -> list[Word]:
    """Words and marks of ``text``, folded (case, dashes, quotation marks, compatibility forms),
    white space left out, with their offsets."""
    if text.isascii():
        folded = text.lower().replace("`", "'")  # all that folding does to plain letters
        return [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(folded)]
    found = ((_folded(m.group()), m.start(), m.end()) for m in _TOKEN.finditer(text))
    return [word for word in found if word[0]]


@lru_cache(maxsize=65_536)
def _folded(token: str) -> str:
    """Folding a token costs more than finding it, and few are new."""
    return fold(token)


def with_all_places(
    documents: Sequence[EvalDocument], questions: Iterable[EvalQuestion]
) -> tuple[EvalQuestion, ...]:
    """``questions`` with every place of their gold sentences, its own first.

    A gold sentence with one place is looked for by its words: as a sentence of any document,
    and, from MIN_RUN words on, as a run of words in any text. One with several places (any of
    which will do) is left as it is.
    """
    asked = tuple(questions)
    texts = {document.id: document.text for document in documents}
    wanted = {
        place: _wanted(texts[place.document_id][place.start : place.end])
        for question in asked
        for gold in question.gold
        for place in gold.places
        if len(gold.places) == 1 and place.document_id in texts
    }
    places = _places(documents, set(wanted.values()))
    return tuple(
        question.model_copy(
            update={"gold": tuple(_everywhere(gold, wanted, places) for gold in question.gold)}
        )
        for question in asked
    )


def _wanted(text: str) -> tuple[str, ...]:
    return _trimmed([word for word, _, _ in words_of(text)])


def _trimmed(words: list[str]) -> tuple[str, ...]:
    """Closing marks do not make another sentence."""
    while words and words[-1] in _END:
        words.pop()
    return tuple(words)


def _everywhere(
    gold: GoldSentence,
    wanted: Mapping[Span, tuple[str, ...]],
    places: Mapping[tuple[str, ...], Sequence[Span]],
) -> GoldSentence:
    own = gold.places[0]
    if len(gold.places) > 1 or not wanted.get(own):
        return gold
    others = (place for place in places.get(wanted[own], ()) if not _overlap(place, own))
    return GoldSentence(id=gold.id, places=(own, *others))


def _overlap(a: Span, b: Span) -> bool:
    return a.document_id == b.document_id and a.start < b.end and b.start < a.end


def _places(
    documents: Sequence[EvalDocument], wanted: set[tuple[str, ...]]
) -> dict[tuple[str, ...], list[Span]]:
    """For each wanted run of words its places, documents in their order; of overlapping places
    the whole sentence stands for both."""
    anchors: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for run in wanted:
        if len(run) >= MIN_RUN:
            anchors.setdefault(run[:MIN_RUN], []).append(run)
    places: dict[tuple[str, ...], list[Span]] = {}
    for document in documents:
        words = words_of(document.text)
        found = (*_sentences(document, words, wanted), *_runs(document.id, words, anchors))
        for run, span in found:
            known = places.setdefault(run, [])
            if not any(_overlap(span, other) for other in known):
                known.append(span)
    return places


def _sentences(
    document: EvalDocument, words: Sequence[Word], wanted: set[tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], Span]]:
    starts = [start for _, start, _ in words]
    for sentence in document.sentences:
        first = bisect_left(starts, sentence.span.start)
        last = bisect_left(starts, sentence.span.end)
        run = _trimmed([word for word, _, _ in words[first:last]])
        if run in wanted:
            yield run, sentence.span


def _runs(
    document_id: str,
    words: Sequence[Word],
    anchors: Mapping[tuple[str, ...], Sequence[tuple[str, ...]]],
) -> Iterator[tuple[tuple[str, ...], Span]]:
    if not anchors:
        return
    folded = [word for word, _, _ in words]
    for first in range(len(folded) - MIN_RUN + 1):
        for run in anchors.get(tuple(folded[first : first + MIN_RUN]), ()):
            last = first + len(run)
            if tuple(folded[first:last]) == run:
                start, end = words[first][1], words[last - 1][2]
                yield run, Span(document_id=document_id, start=start, end=end)
