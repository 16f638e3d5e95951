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
    """Fill the budget in turns: every hop's best document before any hop's second.

    In the first round each hop may take no more than its share of what is left, so that none
    goes empty-handed. What does not fit is cut at a sentence, the document's best sentences
    first; after the first round such a cut ends the buffer: no document is skipped for a
    smaller one. A passage that says nothing that a kept one does not say gives way.
    """
    filling = _Filling(hops, sources, budget, near_duplicate)
    for turn in _turns(hops, sources):
        filling.take(turn)
    return filling.buffer()


class _Turn(NamedTuple):
    helping: Helping
    first: bool
    waiting: int
    """Hops that still wait for their first helping, this one counted."""


def _turns(hops: Sequence[HopHelpings], sources: Mapping[str, SourcePassage]) -> Iterator[_Turn]:
    """Helpings in the order of serving. A hop whose turn has come passes over what was served
    to another hop already: it has that support, and takes its next one."""
    lines = [[h for h in hop.helpings if any(p in sources for p in h.passages)] for hop in hops]
    queues = [deque(line) for line in lines if line]
    served: set[str] = set()
    for index, queue in enumerate(queues):
        item = queue.popleft()
        served.update(item.passages)
        yield _Turn(item, True, len(queues) - index)
    while any(queues):
        for queue in queues:
            while queue and served.issuperset(queue[0].passages):
                queue.popleft()
            if queue:
                item = queue.popleft()
                served.update(item.passages)
                yield _Turn(item, False, 1)


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
        helping = turn.helping
        fresh: list[SourcePassage] = []
        for passage_id in helping.passages:
            if passage_id not in self.sources or passage_id in self.kept | self.reasons:
                continue
            self.scores[passage_id] = helping.score
            form = shape(self.sources[passage_id].passage.text)
            if any(repeats(form, other, self.near) for other in self.shapes):
                self.reasons[passage_id] = DUPLICATE
            elif self.full:
                self.reasons[passage_id] = BUDGET
            else:
                fresh.append(self.sources[passage_id])
        if fresh:
            self._keep(fresh, turn)

    def _keep(self, fresh: Sequence[SourcePassage], turn: _Turn) -> None:
        pieces = cut(fresh, turn.helping.scores, self.left // turn.waiting)
        if not pieces and turn.first:
            pieces = cut(fresh, turn.helping.scores, self.left)
        whole = 0
        for source in fresh:
            passage_id = source.passage.id
            if passage_id not in pieces:
                self.reasons[passage_id] = BUDGET
                continue
            passage = passage_of(
                source, pieces[passage_id], self.owners[passage_id], turn.helping.score
            )
            self.kept[passage_id] = passage
            self.shapes.append(shape(passage.text))
            self.left -= passage.tokens
            whole += passage.complete
        self.full = not turn.first and whole < len(fresh)

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
            passages=tuple(self.kept.values()),
            dropped=dropped,
            budget=self.budget,
            tokens=self.budget - self.left,
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
