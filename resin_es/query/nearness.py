"""When one passage says nothing that another does not say. Pure."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from resin_es.query.words import fold, stem, words

_NEGATIONS = frozenset("no not never none nor neither without cannot except unless".split())


class Shape(NamedTuple):
    """A text as it is compared: stems, pairs of neighbours, figures, negations."""

    stems: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    figures: frozenset[str]
    negations: tuple[str, ...]
    folded: str


def shape(text: str) -> Shape:
    """The shape of ``text``."""
    found = words(text)
    stems = [stem(word) for word in found]
    folded = [fold(word) for word in found]
    return Shape(
        frozenset(stems),
        frozenset(pairwise(stems)),
        frozenset(re.findall(r"\d[\d.,:]*", text)),
        tuple(sorted(w for w in folded if w in _NEGATIONS or w.endswith("n't"))),
        " ".join(folded),
    )


def repeats(new: Shape, kept: Shape, share: float) -> bool:
    """Whether ``new`` gives way to ``kept``: the same words in the same order, or every word,
    figure and negation of it stands in ``kept`` and at least ``share`` of its neighbouring
    pairs do. A single other name, figure or negation makes it a passage of its own: two
    timetables, or a rule and its exception, read almost the same."""
    if new.folded == kept.folded:
        return bool(new.folded)
    if not new.pairs or not new.stems <= kept.stems or not new.figures <= kept.figures:
        return False
    if new.negations != kept.negations:
        return False
    return len(new.pairs & kept.pairs) >= share * len(new.pairs)
