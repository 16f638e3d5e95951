"""What the passage rules see of one sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from resin_es.adapters.syntax.clauses import Clause
from resin_es.adapters.syntax.lexicon import load, table, words
from resin_es.adapters.syntax.tree import Tok, Tree
from resin_es.adapters.syntax.walk import clauses

_NOMINAL = ("NOUN", "PROPN")
_INSIDE_WORDS = 12
_TURN_WORDS = 6


@dataclass(frozen=True)
class Look:
    """``scores`` are the sentence's cues by role, ``move`` the step of a report it takes."""

    tree: Tree
    size: int
    section: str
    leans: bool
    shifts: bool
    heads: frozenset[str]
    clauses: tuple[Clause, ...]
    scores: dict[str, float] = field(default_factory=dict)
    move: str = ""

    @property
    def known_section(self) -> bool:
        """Whether the sentence opens a section whose role is known ("Results:")."""
        return self.section not in ("", "label")


def look(tree: Tree, size: int) -> Look:
    """A sentence as the rules see it, its role not yet scored."""
    lowered = tree.cleaned.parsed.lower().lstrip()
    label = tree.cleaned.label.lower()
    return Look(
        tree=tree,
        size=size,
        section=table("labels", "roles").get(label, "") or ("label" if label else ""),
        leans=_leans(lowered),
        shifts=_shifts(lowered),
        heads=frozenset(tok.lemma for tok in tree.tokens if names(tok)),
        clauses=tuple(clauses(tree)),
    )


def names(tok: Tok) -> bool:
    """Whether a token heads a phrase that may be an entity."""
    return (
        tok.pos in _NOMINAL
        and tok.dep != "compound"
        and tok.lemma not in words("words", "study_nouns")
        and tok.lemma not in words("words", "vague_types")
        and len(tok.lemma) > 1
        and any(char.isalpha() for char in tok.lemma)
    )


def has_cue(padded: str, key: str) -> int:
    """How many phrases of the list ``key`` a text (lower case, a space at each end) has."""
    return sum(f" {cue}" in padded for cue in cues(key))


@cache
def cues(key: str) -> tuple[str, ...]:
    """Phrases of the passage lexicon, each made to end at the end of a word."""
    return tuple(f"{cue} " if cue[-1].isalpha() else cue for cue in load("passages")[key])


def padded(text: str) -> str:
    """Lower case with a space for each comma and stop, so that cues end at a word's end."""
    lowered = text.lower()
    for mark in ",;:.()":
        lowered = lowered.replace(mark, " ")
    return f" {' '.join(lowered.split())} "


def _opens(lowered: str, key: str) -> bool:
    return any(
        lowered.startswith(cue) and not lowered[len(cue) : len(cue) + 1].isalnum()
        for cue in load("passages")[key]
    )


def _shifts(lowered: str) -> bool:
    """A turn at the start, or "in the present study" behind a connective: "Hence, in …"."""
    start = padded(" ".join(lowered.split()[:_TURN_WORDS]))
    return _opens(lowered, "shifts") or has_cue(start, "shifts_inside") > 0


def _leans(lowered: str) -> bool:
    """A connective, a pronoun or a pointer at the start, or a connective soon after it."""
    if _shifts(lowered):
        return False
    if _opens(lowered, "leans"):
        return True
    start = padded(" ".join(lowered.split()[:_INSIDE_WORDS]))
    return has_cue(start, "leans_inside") > 0
