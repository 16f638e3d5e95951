"""How well a source sentence supports a need, by words, names and figures alone. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from resin_es.query.cues import SHOWS, asked_types
from resin_es.query.plan_rules import constraints
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

_SAME: tuple[frozenset[str], ...] = tuple(
    frozenset(stem(word) for word in group.split())
    for group in (
        "cost price fare fee charge pay spend",
        "take ride duration minutes hours last long travel journey",
        "allow permit may let accept valid",
        "forbid ban prohibit",
        "cause reason lead result",
        "build built construct",
        "own belong",
        "employ employer staff people employees",
        "carry capacity hold",
        "run operate",
        "make manufacture produce",
        "live reside residents",
        "stop halt close closure",
        "far range distance kilometres miles",
        "need require",
    )
)
"""Words that ask for, and tell of, the same thing."""

_DENIES = re.compile(r"\b(?:not|no|never|nor|without|except|unless|cannot)\b|n't\b", re.I)


class Told(NamedTuple):
    """A source sentence as it is weighed. ``meaning`` holds its stems and what they stand
    for, ``around`` those of its passage and title, ``document`` those of all that was kept of
    its document; ``rank`` is its passage's place."""

    text: str
    stems: frozenset[str]
    meaning: frozenset[str]
    around: frozenset[str]
    document: frozenset[str]
    rank: int


class Weighed(NamedTuple):
    """A need as sentences are held against it: the types of answer it calls for (``limited``
    those that its limits call for), the weight of each stem it asks with, and which of them
    belong to names."""

    text: str
    types: tuple[str, ...]
    limited: frozenset[str]
    stems: Mapping[str, float]
    named: frozenset[str]
    denies: bool


def told(text: str, around: frozenset[str], document: frozenset[str], rank: int) -> Told:
    """``text`` as it is weighed, with the stems of its passage and of its document."""
    stems = stems_of(text)
    return Told(text, stems, _expanded(stems), _expanded(around), document, rank)


def stems_of(text: str) -> frozenset[str]:
    """Stems of a text's words, stop words left out."""
    return frozenset(stem(word) for word in words(text) if fold(word) not in STOPWORDS)


def _expanded(stems: frozenset[str]) -> frozenset[str]:
    return stems.union(*(group for group in _SAME if group & stems))


def rarity(texts: Sequence[Told]) -> dict[str, float]:
    """Weight of each stem by how few of the sentences hold it."""
    counts = Counter(root for text in texts for root in text.stems)
    return {root: math.log(1 + len(texts) / count) for root, count in counts.items()}


def weigh(need: str, rare: Mapping[str, float], side: frozenset[str] = frozenset()) -> Weighed:
    """Weights of a need's words; ``side`` holds stems that count as names, as the side of a
    comparison does (``the bus``). Rare ones count most, words that questions are merely asked
    with count little, stop words nothing; a word that no sentence holds counts as the rarest."""
    unseen = max(rare.values(), default=1.0)
    limits = constraints(need)
    asked = need
    for limit in limits:
        asked = asked.replace(limit, _without_figures(limit))
    stems: dict[str, float] = {}
    for word in content(asked):
        root = stem(word)
        stems[root] = rare.get(root, unseen) * (
            0.25 if fold(word) in GENERIC or fold(word) in ANAPHORS else 1.0
        )
    named = frozenset(
        stem(word) for name in names(need) for word in words(name) if fold(word) not in STOPWORDS
    )
    types, limited = asked_types(need, limits)
    return Weighed(need, types, limited, stems, named | side, bool(_DENIES.search(need)))


def _without_figures(limit: str) -> str:
    """A limit's figure is not what a sentence must hold: it is what the answer is held to."""
    if not any(SHOWS[name].search(limit) for name in ("money", "duration")):
        return limit
    return ""


def binds(need: Weighed, sentence: Told) -> float:
    """Share of what the need names that the sentence or its surroundings name; 1 if nothing."""
    named = {root: w for root, w in need.stems.items() if root in need.named}
    share = _share(named, sentence.meaning, sentence.document, 1.0)
    return 1.0 if share is None else share


def support(need: Weighed, sentence: Told, kind: str, carried: Collection[str] = ()) -> float:
    """How much of a need the sentence covers, about [0, 1.5]; 0 where it says nothing of what
    is asked.

    What the need names and what it asks of that count apart, about half each: a sentence on
    the right thing that says something else is no support. Its document may bind the name, its
    passage lends a little to the rest. A sentence gains that shows the type of answer, denies
    where the need denies (and loses where it does not), or names what an earlier need found
    (``carried``). Of two equal ones the earlier and shorter is better.
    """
    named = {root: w for root, w in need.stems.items() if root in need.named}
    asked = {root: w for root, w in need.stems.items() if root not in need.named}
    bound = _share(named, sentence.meaning, sentence.document, 0.8)
    said = _share(asked, sentence.meaning, sentence.around, 0.3)
    own = _share(asked or named, sentence.meaning, frozenset(), 0.0) or 0.0
    shows = kind in SHOWS and SHOWS[kind].search(sentence.text) is not None
    if shows and kind in need.limited:
        said, own = max(said or 0.0, 0.6), max(own, 0.5)
    if own < 0.12 and not (shows and (bound or 0.0) > 0.5):
        return 0.0
    if bound is None or said is None:
        covered = (said if bound is None else bound) or 0.0
    else:
        covered = 0.45 * bound + 0.55 * said
    gained = 0.35 * min(1.0, 2 * own) if shows else 0.0
    if _DENIES.search(sentence.text) and kind != "yes-no":
        gained += 0.2 if need.denies else -0.12
    gained += 0.3 if carried and not sentence.stems.isdisjoint(carried) else 0.0
    extra = len(sentence.stems - need.stems.keys())
    return covered + gained - 0.015 * sentence.rank - 0.006 * extra


def _share(
    stems: Mapping[str, float], own: Collection[str], near: Collection[str], lent: float
) -> float | None:
    """Weighted share of the stems held; None where there are none to hold."""
    total = sum(stems.values())
    if not total:
        return None
    held = (w * (1.0 if r in own else lent if r in near else 0.0) for r, w in stems.items())
    return sum(held) / total


def names_held(need: Weighed, sentences: Sequence[Told]) -> bool:
    """Whether the evidence as a whole mentions at least half of what the need names."""
    if not need.named:
        return True
    held = frozenset().union(*(s.stems | s.document for s in sentences))
    return len(need.named & held) * 2 >= len(need.named)
