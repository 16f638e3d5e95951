"""Which documents a hop supports best, and what stands in them. Pure.

Measured on the development questions: documents by a fused score, read as the chance that the
document is the right one; all passages of a good document, also those that nothing hit; a
sentence counts more where its neighbours count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import exp
from typing import NamedTuple

from resin_es.index.records import SENTENCE_KIND
from resin_es.model import PassageRef
from resin_es.query.hits import Address, middle_of

TOP = 2
"""How many addresses of a document count together."""

LEXICAL_SHARE = 1.25
"""What a document's own lexical score weighs beside each of the two from its sentences."""

ALONE = (2.0 + LEXICAL_SHARE) / 2.0
"""The same of its sentences, where its words are in another language than the question's and so
have no say: together they weigh what all three do elsewhere."""

CUT_OFF = 100
"""From so many documents on, a lexical list is taken as cut off; a shorter one has all that
share a word with the question, and the others have nothing."""

READ_WHOLE = 4_000
"""Characters up to which a document is read whole. Of a longer one come the passages that were
hit: it is seldom about one thing, and all of it would be much to fetch."""

HIT_PASSAGES = 40
"""Most passages of a long document, best first: more than the largest usual budget holds."""

SHARPNESS = 0.35
"""What one unit of fused score is worth in log odds. Fitted by likelihood; .3 to .4 also comes
out where the questions are made worse (half of their words, noise), so it is a property of the
score and not of the questions."""

SENTENCE = 15
"""Tokens that sentences have at least, on average, by which it is told how many may fill a
budget before any is read."""

NEIGHBOURS = (0.5, 0.25)
"""What the scores of the sentences next to one, and next but one, add to its own: evidence lies
together."""

Worth = Callable[[Address], float]

Hits = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Score of every sentence that was hit, by its id, by document and passage."""


class Helping(NamedTuple):
    """What a hop takes of one document. ``chance``: from 0 to 1, that the document holds what
    the hop asks for. ``passages``: ids, in text order. ``kept``: those of them that count as
    the hop's own, best first. ``scores``: of each sentence that was hit."""

    document_key: str
    chance: float
    passages: tuple[str, ...]
    kept: tuple[str, ...]
    scores: Mapping[str, float]


def document_scores(
    found: Sequence[Address], lexical: Mapping[str, float], *, across: bool = False
) -> dict[str, float]:
    """The fused score of every document that an address or the document search hit: the
    standard scores of its own lexical score, its best sentence and its two best, weighted.

    Where words have a part of their own, a sentence counts by its cosine. What a list that
    was cut off does not hold lies, as far as is known, as high as the last one that it does
    hold: a document without hits is not taken for one without any likeness.

    ``across``: the question is in English, so that a document in another language, told by its
    hits, shares names with it at most. It loses nothing by its words, and its sentences count
    for them.
    """
    own: dict[str, dict[str, float]] = {key: {} for key in lexical}
    worth = _nearness(found) if lexical else _score
    for key, passages in sentence_hits(found, worth).items():
        for scores in passages.values():
            own.setdefault(key, {}).update(scores)
    keys = sorted(own)
    least = min(map(worth, found), default=0.0)
    bottom = min(lexical.values()) if len(lexical) >= CUT_OFF else 0.0
    tops = [sorted((*own[key].values(), *[least] * TOP), reverse=True)[:TOP] for key in keys]
    words = [LEXICAL_SHARE * z for z in standard([lexical.get(key, bottom) for key in keys])]
    best = standard([top[0] for top in tops])
    two = standard([sum(top) for top in tops])
    scores = {key: words[i] + best[i] + two[i] for i, key in enumerate(keys)}
    if across and lexical:
        other = _in_another_language(found)
        for i, key in enumerate(keys):
            if key in other:
                scores[key] = max(0.0, words[i]) + ALONE * (best[i] + two[i])
    return scores


def _in_another_language(found: Sequence[Address]) -> set[str]:
    """Documents most of whose hits a second vector brought."""
    balance: dict[str, int] = {}
    for one in found:
        key = one.document_key
        balance[key] = balance.get(key, 0) + (1 if one.multilingual else -1)
    return {key for key, value in balance.items() if value > 0}


def _nearness(found: Sequence[Address]) -> Worth:
    """A candidate's cosine; of those that words alone brought, the least one. The whole score
    where the server does not tell its parts apart."""
    least = min((c.dense for c in found if c.dense is not None), default=None)
    if least is None:
        return _score
    return lambda candidate: 2.0 * (least if candidate.dense is None else candidate.dense) - 1.0


def _score(candidate: Address) -> float:
    return candidate.score


def standard(values: Sequence[float]) -> list[float]:
    """Centred and scaled to unit spread; all zero where nothing differs."""
    if not values:
        return []
    mean, spread = middle_of(values)
    return [(value - mean) / spread if spread > 1e-12 else 0.0 for value in values]


def chances(scores: Mapping[str, float]) -> dict[str, float]:
    """Each document's chance of being the right one, if one of them is; they sum to 1."""
    if not scores:
        return {}
    top = max(scores.values())
    weights = {key: exp(SHARPNESS * (score - top)) for key, score in scores.items()}
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()}


def ordered(scores: Mapping[str, float]) -> list[str]:
    """Keys by score, best first, ties broken by key."""
    return sorted(scores, key=lambda key: (-scores[key], key))


def helpings(
    hits: Hits,
    order: Sequence[tuple[str, float]],
    current: Mapping[str, Sequence[PassageRef]],
    *,
    k: int,
    whole: bool,
) -> list[Helping]:
    """A hop's documents, best first, with ``k`` distinct passages kept among them.

    ``order`` holds documents with their chances; ``current`` the passages that the registry
    lists (a document that is not in it yields nothing). With ``whole``, every document gives its
    best passage before any gives its second, and its best one may be one that only the document
    search found; a short document comes with all of its passages, a long one with those that
    were hit. Without, the passages with the best hits are kept, of however few documents, and
    none besides comes with them.
    """
    lines = {
        key: _line(current[key], hits.get(key, {}), whole=whole)
        for key, _ in order
        if current.get(key)
    }
    kept = _in_turns(lines, k) if whole else _by_hits(lines, hits, k)
    return [
        Helping(
            key,
            chance,
            _taken(current[key], kept[key], lines[key], whole=whole),
            tuple(kept[key]),
            {s: v for scores in hits.get(key, {}).values() for s, v in scores.items()},
        )
        for key, chance in order
        if kept.get(key)
    ]


def room_left(
    kept: Sequence[Sequence[Helping]], current: Mapping[str, Sequence[PassageRef]], budget: int
) -> int:
    """How many more sentences than those of all that the hops keep ``budget`` tokens may take;
    0 or less where these can be expected to fill it."""
    sentences = {ref.id: len(ref.sentence_ids) for refs in current.values() for ref in refs}
    own = {p for line in kept for helping in line for p in helping.passages}
    return budget // SENTENCE - sum(sentences[p] for p in own)


def further(
    kept: Sequence[Sequence[Helping]],
    wider: Sequence[Sequence[Helping]],
    current: Mapping[str, Sequence[PassageRef]],
    room: int,
) -> list[list[Helping]]:
    """What each hop has to offer beyond what it keeps: from its ``wider`` line, by chance,
    until all of it together has ``room`` sentences. None of it counts as the hop's own."""
    sentences = {ref.id: len(ref.sentence_ids) for refs in current.values() for ref in refs}
    own = {p for line in kept for helping in line for p in helping.passages}
    asked = set(own)
    result: list[list[Helping]] = [[] for _ in wider]
    listed = [(line, helping) for line, helpings in enumerate(wider) for helping in helpings]
    for line, helping in sorted(listed, key=lambda item: -item[1].chance):
        if room <= 0:
            break
        new = tuple(p for p in helping.passages if p not in own)
        if new:
            result[line].append(helping._replace(passages=new, kept=()))
            room -= sum(sentences[p] for p in new if p not in asked)
            asked.update(new)
    return result


def sentence_hits(found: Sequence[Address], worth: Worth = _score) -> Hits:
    """What the search says of sentences. A sentence's own address decides; units speak for it
    (the best of them) only where its own was not hit."""
    result: dict[str, dict[str, dict[str, float]]] = {}
    settled: set[str] = set()
    own = [candidate for candidate in found if candidate.kind == SENTENCE_KIND]
    units = [candidate for candidate in found if candidate.kind != SENTENCE_KIND]
    for candidate in chain(own, units):
        passage = result.setdefault(candidate.document_key, {}).setdefault(candidate.passage_id, {})
        value = worth(candidate)
        for sentence_id in candidate.sentence_ids or (candidate.address_id,):
            if candidate.kind == SENTENCE_KIND:
                settled.add(sentence_id)
            elif sentence_id in settled:
                continue
            passage[sentence_id] = max(value, passage.get(sentence_id, value))
    return result


def _in_turns(lines: Mapping[str, Sequence[str]], k: int) -> dict[str, list[str]]:
    kept: dict[str, list[str]] = {key: [] for key in lines}
    left = k
    for turn in range(max((len(line) for line in lines.values()), default=0)):
        for key, line in lines.items():
            if left and turn < len(line):
                kept[key].append(line[turn])
                left -= 1
    return kept


def _by_hits(lines: Mapping[str, Sequence[str]], hits: Hits, k: int) -> dict[str, list[str]]:
    best = {
        (key, passage): max(hits[key][passage].values())
        for key, line in lines.items()
        for passage in line
    }
    kept: dict[str, list[str]] = {key: [] for key in lines}
    for key, passage in sorted(best, key=lambda place: -best[place])[:k]:
        kept[key].append(passage)
    return kept


def _line(
    refs: Sequence[PassageRef], hits: Mapping[str, Mapping[str, float]], *, whole: bool
) -> list[str]:
    """A document's passages, best first; one that nothing hit counts only for want of a hit."""
    listed = [ref.id for ref in refs]
    hit = [passage_id for passage_id in listed if hits.get(passage_id)]
    hit.sort(key=lambda passage_id: -max(hits[passage_id].values()))
    return hit or (listed[:1] if whole else [])


def _taken(
    refs: Sequence[PassageRef], kept: Sequence[str], line: Sequence[str], *, whole: bool
) -> tuple[str, ...]:
    """What comes of a document that has ``kept`` passages, in text order; ``line`` holds those
    that were hit, best first."""
    if whole and refs[-1].start <= READ_WHOLE:
        return tuple(ref.id for ref in refs)
    taken = {*kept, *(line[:HIT_PASSAGES] if whole else ())}
    return tuple(ref.id for ref in refs if ref.id in taken)


def smoothed(order: Sequence[str], scores: Mapping[str, float]) -> dict[str, float]:
    """Each sentence's score with a share of its neighbours'; ``order`` is that of the text."""
    own = [scores.get(sentence_id, 0.0) for sentence_id in order]
    margin = [0.0] * len(NEIGHBOURS)
    around = [*margin, *own, *margin]
    result = {}
    for place, sentence_id in enumerate(order, start=len(NEIGHBOURS)):
        beside = ((around[place - n], around[place + n]) for n in range(1, len(NEIGHBOURS) + 1))
        shares = zip(NEIGHBOURS, beside, strict=True)
        result[sentence_id] = around[place] + sum(w * (a + b) for w, (a, b) in shares)
    return result
