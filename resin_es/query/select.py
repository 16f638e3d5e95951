"""The evidence buffer: source passages of all hops within a token budget [3.6]. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from resin_es.model import Dropped, EvidenceBuffer, EvidencePassage, token_count
from resin_es.query.fence import SourcePassage
from resin_es.query.lots import HopHelpings, Offer, lots, offers
from resin_es.query.nearness import Shape, repeats, shape
from resin_es.query.pieces import passage_of, rendered

BUDGET, DUPLICATE, RANK, STALE = "budget", "duplicate", "rank", "stale"


def select(
    hops: Sequence[HopHelpings],
    sources: Mapping[str, SourcePassage],
    *,
    budget: int,
    near_duplicate: float,
) -> EvidenceBuffer:
    """Fill the budget by expected gain. Where several hops are owed their best passage, each
    has it first, within its share of what is left, so that none goes empty-handed. Then
    sentences come by the chance of their document and their rank inside it, those of further
    documents last.

    The first sentence that does not fit ends the buffer: nothing is skipped for something
    smaller, save that shorter sentences of that same document may fill the rest. A passage
    that says nothing that an earlier one does not say gives way.
    """
    filling = _Filling(hops, sources, budget, near_duplicate)
    filling.owed(hops)
    filling.rest()
    return filling.buffer()


class _Filling:
    """The buffer while it is filled: kept positions and their cost, by passage id."""

    def __init__(
        self,
        hops: Sequence[HopHelpings],
        sources: Mapping[str, SourcePassage],
        budget: int,
        near_duplicate: float,
    ) -> None:
        self.sources, self.budget, self.near = sources, budget, near_duplicate
        self.owners = _owners(hops)
        self.lots = lots((hop.helpings for hop in hops), sources)
        self.further = lots((hop.further for hop in hops), sources)
        self.offers = [*offers(self.lots), *offers(self.further)]
        self.kept: dict[str, frozenset[int]] = {}
        self.costs: dict[str, int] = {}
        self.places: dict[str, int] = {}
        self.shapes: dict[str, Shape] = {}
        self.twins: dict[str, str] = {}

    @property
    def left(self) -> int:
        return self.budget - sum(self.costs.values())

    def owed(self, hops: Sequence[HopHelpings]) -> None:
        """Every owed hop's best passage; where one passage is the best of all, no turn is
        needed: it comes by its gain."""
        best = list(dict.fromkeys(filter(None, (self._best(hop) for hop in hops if hop.owed))))
        if len(best) < 2:
            return
        for index, passage_id in enumerate(best):
            inside = [o for o in self.offers if o.source.passage.id == passage_id]
            if not self._fill(inside, self.left // (len(best) - index)):
                self._fill(inside, self.left)

    def _best(self, hop: HopHelpings) -> str | None:
        """The passage, or the one that it gives way to."""
        listed = (p for helping in hop.helpings for p in (*helping.kept, *helping.passages))
        first = next((p for p in listed if p in self.sources), None)
        return None if first is None else self._twin(self.sources[first]) or first

    def _twin(self, source: SourcePassage) -> str | None:
        """The earlier passage that says all that this one does; judged when it first comes up,
        since most of what was found never does."""
        key = source.passage.id
        if key not in self.shapes and key not in self.twins:
            form = shape(source.passage.text)
            earlier = self.shapes.items()
            twin = next((p for p, held in earlier if repeats(form, held, self.near)), None)
            if twin is None:
                self.shapes[key] = form
            else:
                self.twins[key] = twin
        return self.twins.get(key)

    def _fill(self, line: Iterable[Offer], allowed: int) -> bool:
        """As many sentences of ``line`` as fit into ``allowed`` tokens; whether any did."""
        floor = self.left - allowed
        taken = [self._add(offer, floor) for offer in line]
        return any(taken)

    def rest(self) -> None:
        """Sentence by sentence, until one does not fit. One longer than the whole budget could
        never stand in it and ends nothing."""
        cut: str | None = None
        for offer in self.offers:
            if cut not in (None, offer.document_key) or self._twin(offer.source):
                continue
            if self._add(offer):
                continue
            sentence = offer.source.sentences[offer.position]
            if sentence.end - sentence.start <= 4 * self.budget:
                cut = offer.document_key

    def _add(self, offer: Offer, floor: int = 0) -> bool:
        """Keep the sentence, if at least ``floor`` tokens remain then."""
        key = offer.source.passage.id
        trial = self.kept.get(key, frozenset()) | {offer.position}
        cost = token_count(rendered(offer.source, trial))
        if self.left + self.costs.get(key, 0) - cost < floor:
            return False
        self.kept[key], self.costs[key] = trial, cost
        self.places.setdefault(offer.document_key, len(self.places))
        return True

    def buffer(self) -> EvidenceBuffer:
        """Documents in the order they came in, their passages in that of the text."""
        kept = [
            (self.places[lot.document_key], source.start, source, lot.chance)
            for lot in (*self.lots, *self.further)
            for source in lot.passages
            if source.passage.id in self.kept
        ]
        passages = [self._passage(*found[2:]) for found in sorted(kept, key=lambda one: one[:2])]
        return EvidenceBuffer(
            passages=tuple(passages),
            dropped=tuple(self._dropped()),
            budget=self.budget,
            tokens=self.budget - self.left,
        )

    def _passage(self, source: SourcePassage, chance: float) -> EvidencePassage:
        key = source.passage.id
        return passage_of(source, self.kept[key], self.owners[key], chance)

    def _dropped(self) -> Iterable[Dropped]:
        """What a hop kept and the buffer does not hold. Of further documents only what gives
        way: the others were merely next."""
        own = [(lot.chance, source, True) for lot in self.lots for source in lot.passages]
        more = [(lot.chance, source, False) for lot in self.further for source in lot.passages]
        for chance, source, kept in own + more:
            key = source.passage.id
            if key not in self.kept and (kept or key in self.twins):
                yield Dropped(
                    passage_id=key,
                    document_id=source.entry.external_id,
                    reason=DUPLICATE if key in self.twins else BUDGET,
                    hops=self.owners[key],
                    score=chance,
                )


def _owners(hops: Sequence[HopHelpings]) -> dict[str, tuple[str, ...]]:
    """Which hops a passage serves, by id."""
    found: dict[str, list[str]] = {}
    for hop in hops:
        for item in hop.offered:
            for passage_id in item.passages:
                names = found.setdefault(passage_id, [])
                if hop.hop not in names:
                    names.append(hop.hop)
    return {passage_id: tuple(names) for passage_id, names in found.items()}
