"""Documents as they are served: every sentence with what it may be worth. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from resin_es.query.fence import SourcePassage
from resin_es.query.ranking import Helping, smoothed

YIELD = 0.92
"""What a sentence of a document is worth beside the next better one: evidence is seldom one
sentence, so the worth falls slowly."""


class HopHelpings(NamedTuple):
    """A hop's documents, best first. ``owed``: the hop is to have its best support before any
    hop has its second; one that merely may help is served by its chances alone. ``further``:
    what is next, should all that the hops keep leave room."""

    hop: str
    helpings: Sequence[Helping]
    owed: bool = True
    further: Sequence[Helping] = ()

    @property
    def offered(self) -> list[Helping]:
        """All that may come from this hop."""
        return [*self.helpings, *self.further]


class Lot(NamedTuple):
    """A document as the hops see it together: the best ``chance`` that any gives it, that
    hop's ``scores`` of its sentences, its passages in text order."""

    document_key: str
    chance: float
    passages: tuple[SourcePassage, ...]
    scores: Mapping[str, float]


class Offer(NamedTuple):
    """A sentence (position in its passage) on offer, and what it is expected to bring."""

    gain: float
    document_key: str
    source: SourcePassage
    position: int


def lots(lines: Iterable[Sequence[Helping]], sources: Mapping[str, SourcePassage]) -> list[Lot]:
    """Every document with a passage in ``sources``, by chance; among equals, the hops (whose
    ``lines`` these are) in turns."""
    best: dict[str, Helping] = {}
    wanted: dict[str, set[str]] = {}
    for turn in zip_longest(*lines):
        for item in turn:
            ids = () if item is None else [p for p in item.passages if p in sources]
            if item is None or not ids:
                continue
            held = best.setdefault(item.document_key, item)
            if item.chance > held.chance:
                best[item.document_key] = item
            wanted.setdefault(item.document_key, set()).update(ids)
    found = [
        Lot(
            key,
            best[key].chance,
            tuple(sorted((sources[p] for p in ids), key=lambda source: source.start)),
            best[key].scores,
        )
        for key, ids in wanted.items()
    ]
    return sorted(found, key=lambda lot: -lot.chance)


def offers(served: Sequence[Lot]) -> list[Offer]:
    """All sentences, by what they are expected to bring: the chance that the document is the
    right one, falling with the sentence's rank inside it. Where one document is nearly
    certain it comes whole; where two are equally likely, the best of both comes first."""
    found = [
        Offer(lot.chance * YIELD**rank, lot.document_key, source, position)
        for lot in served
        for rank, (source, position) in enumerate(_ranked(lot))
    ]
    return sorted(found, key=lambda offer: -offer.gain)


def _ranked(lot: Lot) -> Iterator[tuple[SourcePassage, int]]:
    inside = [(p, i, s.id) for p in lot.passages for i, s in enumerate(p.sentences)]
    scores = smoothed([sentence_id for _, _, sentence_id in inside], lot.scores)
    for source, position, _ in sorted(inside, key=lambda item: -scores[item[2]]):
        yield source, position
