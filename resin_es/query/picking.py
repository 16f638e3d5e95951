"""Which sentences answer a need: the best one, what completes it, and what stands behind it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from resin_es.query.cues import SHOWS
from resin_es.query.support import Told, Weighed, binds, names_held, support
from resin_es.query.words import content, names, stem, words

ENOUGH = 0.3
"""Least support of a quote. Below that, a sentence shares the need's topic at most."""
CLOSE = 0.75
"""A further quote must support the need at least this share as well as the best one."""
CAUSES = 3
"""How many steps a chain of causes is followed."""


def pick(
    need: Weighed, sentences: Sequence[Told], *, quotes: int, carried: Collection[str] = ()
) -> list[int]:
    """Positions of the sentences that support a need, best first; none if none does.

    For each type of answer that is asked for, the best sentences. What they leave open is
    looked for in a sentence that shares something else with the best one: a rule for a type
    beside the membership in it. Where a reason is asked for, causes of the cause follow.
    """
    if not names_held(need, sentences):
        return []
    picked: list[int] = []
    for kind in need.types:
        picked += [i for i in _best(need, sentences, kind, quotes, carried) if i not in picked]
    if not picked:
        return []
    completing = _complement(need, sentences, picked)
    if completing is not None:
        picked = [picked[0], completing, *(i for i in picked[1:] if len(need.types) > 1)]
    if "reason" in need.types:
        picked += _causes(sentences, picked)
    return picked


def _best(
    need: Weighed, sentences: Sequence[Told], kind: str, quotes: int, carried: Collection[str]
) -> list[int]:
    scores = [support(need, sentence, kind, carried) for sentence in sentences]
    order = sorted(range(len(sentences)), key=lambda i: -scores[i])
    if not order or scores[order[0]] < ENOUGH:
        return []
    least = max(ENOUGH, CLOSE * scores[order[0]])
    bound = min(0.5, binds(need, sentences[order[0]]))
    close = [
        i
        for i in order
        if scores[i] >= least
        and (binds(need, sentences[i]) >= bound or not _foreign(sentences[i], need.named))
    ]
    return close[:quotes]


def _foreign(sentence: Told, known: Collection[str]) -> bool:
    """Whether a sentence is about something else that has a name: it names, and nothing of
    what is ``known``. A rule or a type names nothing, and may serve any name."""
    text = sentence.text[:1].lower() + sentence.text[1:]  # a first capital names nothing yet
    named = {stem(word) for name in names(text) for word in words(name)}
    return bool(named) and named.isdisjoint(known)


def _complement(need: Weighed, sentences: Sequence[Told], picked: Sequence[int]) -> int | None:
    """The sentence that covers most of what the picked ones leave open and shares a word with
    the best one that the need does not have: the link between the two."""
    held = frozenset().union(*(sentences[i].meaning for i in picked))
    open_ = {root: weight for root, weight in need.stems.items() if root not in held}
    wanted = sum(open_.values())
    nameless = need.named.isdisjoint(open_)
    if not open_ or (nameless and wanted < 0.2 * sum(need.stems.values())):
        return None
    best = sentences[picked[0]]
    link, bound = best.stems - need.stems.keys(), bool(need.named) and need.named <= best.stems
    scores: dict[int, float] = {}
    for i, sentence in enumerate(sentences):
        links = len(link & sentence.stems) + (bound and need.named <= sentence.stems)
        if not links or _foreign(sentence, need.named | best.stems):
            continue
        covered = sum(weight for root, weight in open_.items() if root in sentence.meaning)
        if i not in picked and covered >= 0.35 * wanted:
            scores[i] = covered * (1 + links) - 0.01 * sentence.rank
    return max(scores, key=lambda i: scores[i], default=None)


def _causes(sentences: Sequence[Told], picked: Sequence[int]) -> list[int]:
    """Sentences whose effect is the cause that the one before them tells of, step by step."""
    chain = [picked[0]]
    for _ in range(CAUSES):
        cause, _ = _sides(sentences[chain[-1]].text)
        if not cause:
            break
        shares = {
            i: len(cause & _sides(sentence.text)[1]) / len(cause)
            for i, sentence in enumerate(sentences)
            if i not in chain and SHOWS["reason"].search(sentence.text)
        }
        best = max(shares, key=lambda i: (shares[i], -sentences[i].rank), default=None)
        if best is None or shares[best] < 0.5:
            break
        chain.append(best)
    return [i for i in chain[1:] if i not in picked]


_BACKWARD = re.compile(r"\b(?:because|due to|owing|since|result\w* from)\b", re.I)


def _sides(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Stems on the cause's side of a sentence and on the effect's: for ``X caused Y`` what
    stands before and after the cue, for ``Y because of X`` the other way round. Without a cue
    the subject, as far as its first verb can be guessed, is taken for the cause."""
    cue = SHOWS["reason"].search(text)
    if cue is None:
        return _content_stems(" ".join(text.split()[:4])), frozenset()
    before, after = _content_stems(text[: cue.start()]), _content_stems(text[cue.end() :])
    return (after, before) if _BACKWARD.match(cue.group(0)) else (before, after)


def _content_stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in content(text))
