"""How well a source sentence supports a need, by words, names and figures alone. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from resin_es.query.cues import answer_type
from resin_es.query.words import (
    ANAPHORS,
    GENERIC,
    STOPWORDS,
    content,
    fold,
    names,
    stem,
    words,
)

_SHOWS: Mapping[str, str] = {
    "money": r"[$€£¥]|\b(crowns?|dollars?|euros?|cents?|pounds?|fares?|costs?|prices?|fees?|free|"
    r"discount|pays?|half)\b",
    "duration": r"\b(\d[\d.,]*|one|two|three|half an) (seconds?|minutes?|hours?|days?|"
    r"weeks?|months?|years?)\b",
    "number": r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million)\b",
    "time": r"\b(1[0-9]|20)\d\d\b|\b\d{1,2}:\d\d\b|\b(january|february|march|april|may|june|july|"
    r"august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|"
    r"sunday|midnight|noon|century)\b",
    "place": r"\b(in|at|near|on|from|to|between) (the )?[^\W\d_a-z]",
    "person": r"[^\W\d_a-z]\w+ [^\W\d_a-z]\w+|\b(he|she|who)\b",
    "reason": r"\b(because|caus(e|es|ed|ing)|due to|led to|leads to|result(s|ed)? (in|from)|"
    r"therefore|since|reduced|raised|failed|failure|fault|after|owing|so that)\b",
    "procedure": r"\b(first|then|must|by \w+ing|step|using|need to)\b",
    "definition": r"\b(is|are|means|refers to|was) (an?|the)\b",
    "yes-no": r"\b(not|no|never|only|must|may|can|cannot|allow\w*|is|are|was|were|both)\b",
}

_SAME: tuple[frozenset[str], ...] = tuple(
    frozenset(stem(word) for word in group.split())
    for group in (
        "cost price fare fee charge pay",
        "take ride duration minutes hours last long travel journey",
        "allow permit may let accept valid",
        "forbid ban prohibit",
        "cause reason lead result",
        "build built construct",
        "own belong",
        "employ employer staff people employees work",
        "carry capacity passengers hold",
        "run operate",
        "make manufacture produce",
        "live reside residents",
        "stop halt close closure",
        "far range distance kilometres miles",
    )
)
"""Words that ask for, and tell of, the same thing."""


class Weighed(NamedTuple):
    """A need as sentences are held against it."""

    text: str
    kind: str
    stems: Mapping[str, float]
    """Weight of each stem that the need asks with."""
    named: frozenset[str]
    """Stems of the need's names: without one of them, a sentence is about something else."""


def rarity(texts: Sequence[str]) -> dict[str, float]:
    """Weight of each stem by how few of the texts hold it."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({stem(word) for word in words(text)})
    return {word: math.log(1 + len(texts) / count) for word, count in counts.items()}


def weigh(need: str, rare: Mapping[str, float], unseen: float) -> Weighed:
    """Weights of a need's words: rare ones count most, words that questions are merely asked
    with count little, stop words nothing. ``unseen`` is the weight of a word no text holds."""
    stems: dict[str, float] = {}
    for word in content(need):
        root = stem(word)
        weight = rare.get(root, unseen)
        stems[root] = weight * (0.25 if fold(word) in GENERIC | ANAPHORS else 1.0)
    named = {
        stem(word) for name in names(need) for word in words(name) if fold(word) not in STOPWORDS
    }
    return Weighed(need, answer_type(need), stems, frozenset(named))


def support(need: Weighed, sentence: str, around: str) -> float:
    """How much of a need the sentence covers, in [0, 1.35].

    What the need names and what it asks of that count apart, about half each: a sentence on
    the right thing that says something else is not support. ``around`` (title, neighbours)
    may bind the name, and lends a little to the rest. A sentence that shows the type of answer
    asked for gains up to .35.
    """
    own = _expanded({stem(word) for word in words(sentence)})
    near = _expanded({stem(word) for word in words(around)})
    named = {root: w for root, w in need.stems.items() if root in need.named}
    asked = {root: w for root, w in need.stems.items() if root not in need.named}
    bound, said = _share(named, own, near, 0.8), _share(asked, own, near, 0.3)
    if bound is None or said is None:
        covered = (said if bound is None else bound) or 0.0
    else:
        covered = 0.45 * bound + 0.55 * said
    pattern = _SHOWS.get(need.kind)
    seen = sentence if need.kind in _CASED else sentence.casefold()
    if pattern is None or re.search(pattern, seen) is None:
        return covered
    return covered + 0.35 * min(1.0, 2 * (said if said is not None else covered))


def _share(stems: Mapping[str, float], own: set[str], near: set[str], lent: float) -> float | None:
    """Weighted share of the stems held; None where there are none to hold."""
    total = sum(stems.values())
    if not total:
        return None
    held = (w * (1.0 if r in own else lent if r in near else 0.0) for r, w in stems.items())
    return sum(held) / total


_CASED = frozenset({"place", "person"})


def _expanded(stems: set[str]) -> set[str]:
    found = set(stems)
    for group in _SAME:
        if group & stems:
            found |= group
    return found


def names_held(need: Weighed, texts: Sequence[str]) -> bool:
    """Whether the evidence as a whole mentions what the need names, if it names anything."""
    if not need.named:
        return True
    held = {stem(word) for text in texts for word in words(text)}
    return len(need.named & held) * 2 >= len(need.named)
