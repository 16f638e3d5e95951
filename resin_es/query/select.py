"""The evidence buffer: source passages of all hops within a token budget [3.6]. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from resin_es.model import Dropped, EvidenceBuffer, EvidencePassage, token_count
from resin_es.query.fence import SourcePassage
from resin_es.query.nearness import Shape, repeats, shape
from resin_es.query.pieces import passage_of, rendered
from resin_es.query.ranking import Helping, smoothed

BUDGET, DUPLICATE, RANK, STALE = "budget", "duplicate", "rank", "stale"


class HopHelpings(NamedTuple):
    """A hop's documents, best first."""

    hop: str
    helpings: Sequence[Helping]


def select(
    hops: Sequence[HopHelpings],
    sources: Mapping[str, SourcePassage],
    *,
    budget: int,
    near_duplicate: float,
) -> EvidenceBuffer:
    """Fill the budget in turns. First every hop's best passage, each within its share of what
    is left, so that none goes empty-handed; then document after document, the hops in turns.

    What does not fit is cut at a sentence, the document's best sentences first; such a cut
    after the first round ends the buffer: no document is skipped for a smaller one. A passage
    that says nothing that a kept one does not say gives way.
    """
    filling = _Filling(hops, sources, budget, near_duplicate)
    for turn in _turns(hops, sources):
        filling.take(turn)
    return filling.buffer()


class _Turn(NamedTuple):
    helping: Helping
    passages: tuple[str, ...]
    waiting: int
    """Hops that still wait for their best passage, this one counted; 0 after that round."""


def _turns(hops: Sequence[HopHelpings], sources: Mapping[str, SourcePassage]) -> Iterator[_Turn]:
    """Helpings in the order of serving. A hop whose turn has come passes over what was served
    to another hop already: it has that support, and takes its next one."""
    queues = [
        deque(h for h in hop.helpings if any(p in sources for p in h.passages)) for hop in hops
    ]
    queues = [queue for queue in queues if queue]
    best = {_best(queue[0], sources): queue[0] for queue in queues}
    for index, (passage_id, helping) in enumerate(best.items()):
        yield _Turn(helping, (passage_id,), len(best) - index)
    served: set[str] = set()
    while any(queues):
        for queue in queues:
            while queue and served.issuperset(queue[0].passages):
                queue.popleft()
            if queue:
                item = queue.popleft()
                served.update(item.passages)
                yield _Turn(item, item.passages, 0)


def _best(helping: Helping, sources: Mapping[str, SourcePassage]) -> str:
    return next(p for p in (*helping.kept, *helping.passages) if p in sources)


class _Filling:
    """The buffer while it is filled."""

    def __init__(
        self,
        hops: Sequence[HopHelpings],
        sources: Mapping[str, SourcePassage],
        budget: int,
        near_duplicate: float,
    ) -> None:
        self.sources, self.budget, self.near = sources, budget, near_duplicate
        self.owners = _owners(hops)
        self.kept: dict[str, EvidencePassage] = {}
        self.reasons: dict[str, str] = {}
        self.scores: dict[str, float] = {}
        self.shapes: list[Shape] = []
        self.left, self.full = budget, False

    def take(self, turn: _Turn) -> None:
        """Keep the helping, whole or cut, and note what was left out and why."""
        fresh: list[SourcePassage] = []
        for passage_id in turn.passages:
            source = self.sources.get(passage_id)
            if source is None or passage_id in self.reasons:
                continue
            self.scores.setdefault(passage_id, turn.helping.score)
            if passage_id in self.kept:
                self._complete(source)
                continue
            form = shape(source.passage.text)
            if any(repeats(form, other, self.near) for other in self.shapes):
                self.reasons[passage_id] = DUPLICATE
            elif self.full:
                self.reasons[passage_id] = BUDGET
            else:
                fresh.append(source)
        if fresh:
            self._keep(fresh, turn)

    def _complete(self, source: SourcePassage) -> None:
        """Give a passage that the first round had to cut the rest of its sentences, if it
        fits by now."""
        held = self.kept[source.passage.id]
        missing = token_count(source.passage.text) - held.tokens
        if held.complete or self.full or missing > self.left:
            return
        everything = range(len(source.sentences))
        self.kept[source.passage.id] = passage_of(source, everything, held.hops, held.score)
        self.left -= missing

    def _keep(self, fresh: Sequence[SourcePassage], turn: _Turn) -> None:
        pieces = cut(fresh, turn.helping.scores, self.left // max(turn.waiting, 1))
        if not pieces and turn.waiting:
            pieces = cut(fresh, turn.helping.scores, self.left)
        whole = True
        for source in fresh:
            passage_id = source.passage.id
            if passage_id not in pieces:
                self.reasons[passage_id] = BUDGET
                whole = False
                continue
            passage = passage_of(
                source, pieces[passage_id], self.owners[passage_id], self.scores[passage_id]
            )
            self.kept[passage_id] = passage
            self.shapes.append(shape(source.passage.text))
            self.left -= passage.tokens
            whole = whole and passage.complete
        self.full = not turn.waiting and not whole

    def buffer(self) -> EvidenceBuffer:
        dropped = tuple(
            Dropped(
                passage_id=passage_id,
                document_id=self.sources[passage_id].entry.external_id,
                reason=reason,
                hops=self.owners[passage_id],
                score=self.scores[passage_id],
            )
            for passage_id, reason in self.reasons.items()
        )
        return EvidenceBuffer(
            passages=self._in_order(),
            dropped=dropped,
            budget=self.budget,
            tokens=self.budget - self.left,
        )

    def _in_order(self) -> tuple[EvidencePassage, ...]:
        """Documents in the order they came in, their passages in that of the text."""
        places: dict[str, int] = {}
        for passage in self.kept.values():
            places.setdefault(passage.document_key, len(places))
        return tuple(
            sorted(
                self.kept.values(),
                key=lambda p: (places[p.document_key], p.sentences[0].start),
            )
        )


def _owners(hops: Sequence[HopHelpings]) -> dict[str, tuple[str, ...]]:
    """Which hops a passage serves, by id."""
    found: dict[str, list[str]] = {}
    for hop in hops:
        for item in hop.helpings:
            for passage_id in item.passages:
                names = found.setdefault(passage_id, [])
                if hop.hop not in names:
                    names.append(hop.hop)
    return {passage_id: tuple(names) for passage_id, names in found.items()}


def cut(
    passages: Sequence[SourcePassage], scores: Mapping[str, float], allowed: int
) -> dict[str, frozenset[int]]:
    """Which sentences (positions, by passage id) of one document's passages fit into
    ``allowed`` tokens: all of them, or the best ones, by their own score and their
    neighbours'. Within the document a shorter sentence may still fill what a longer leaves."""
    chosen = {p.passage.id: frozenset(range(len(p.sentences))) for p in passages}
    if sum(token_count(p.passage.text) for p in passages) <= allowed:
        return chosen
    inside = [(p, i, s.id) for p in passages for i, s in enumerate(p.sentences)]
    order = smoothed([sentence_id for _, _, sentence_id in inside], scores)
    ranked = sorted(inside, key=lambda item: -order[item[2]])
    picked: dict[str, frozenset[int]] = {}
    costs: dict[str, int] = {}
    for source, position, _ in ranked:
        key = source.passage.id
        trial = picked.get(key, frozenset()) | {position}
        cost = token_count(rendered(source, trial))
        if sum(costs.values()) - costs.get(key, 0) + cost <= allowed:
            picked[key], costs[key] = trial, cost
    return picked
