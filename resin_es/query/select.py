"""The evidence buffer: source passages of all hops within a token budget [3.6]. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from resin_es.model import (
    Dropped,
    EvidenceBuffer,
    EvidencePassage,
    EvidenceSentence,
    token_count,
)
from resin_es.query.fence import SourcePassage
from resin_es.query.nearness import Shape, repeats, shape
from resin_es.query.ranking import Helping

BUDGET, DUPLICATE, RANK, STALE = "budget", "duplicate", "rank", "stale"


class HopHelpings(NamedTuple):
    """A hop's passages, best first."""

    hop: str
    helpings: Sequence[Helping]


def select(
    hops: Sequence[HopHelpings],
    sources: Mapping[str, SourcePassage],
    *,
    budget: int,
    near_duplicate: float,
) -> EvidenceBuffer:
    """Fill the budget in turns: every hop's best passage before any hop's second.

    In the first round each hop may take no more than its share of what is left, so that none
    goes empty-handed; a passage that does not fit is cut at a sentence. After that round the
    first passage that does not fit is cut and ends the buffer: nothing is skipped for a
    smaller one. A passage that says nothing that a kept one does not say gives way.
    """
    filling = _Filling(hops, sources, budget, near_duplicate)
    for turn in _turns(hops, sources):
        filling.take(turn)
    return filling.buffer()


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
        """Keep the helping, whole or cut, or note why not."""
        item = turn.helping
        if item.passage_id in self.kept or item.passage_id in self.reasons:
            return
        self.scores[item.passage_id] = item.score if item.score is not None else 0.0
        reason = BUDGET if self.full else self._keep(turn)
        if reason:
            self.reasons[item.passage_id] = reason

    def _keep(self, turn: _Turn) -> str:
        item, source = turn.helping, self.sources[turn.helping.passage_id]
        form = shape(source.passage.text)
        if any(repeats(form, other, self.near) for other in self.shapes):
            return DUPLICATE
        share = self.left // turn.waiting
        piece = cut(source, item, share) or (cut(source, item, self.left) if turn.first else None)
        if piece is None:
            self.full = not turn.first
            return BUDGET
        passage = _passage(
            source, piece, self.owners[item.passage_id], self.scores[item.passage_id]
        )
        self.kept[item.passage_id] = passage
        self.shapes.append(form)
        self.left -= passage.tokens
        self.full = not passage.complete and not turn.first
        return ""

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


class _Turn(NamedTuple):
    helping: Helping
    first: bool
    waiting: int
    """Hops that still wait for their first helping, this one counted."""


def _turns(hops: Sequence[HopHelpings], sources: Mapping[str, SourcePassage]) -> Iterator[_Turn]:
    """Helpings in the order of serving. A hop whose turn has come passes over what another
    hop was already served: it has that support, and takes its next one."""
    lines = [[h for h in hop.helpings if h.passage_id in sources] for hop in hops]
    queues = [deque(line) for line in lines if line]
    served: set[str] = set()
    for index, queue in enumerate(queues):
        item = queue.popleft()
        served.add(item.passage_id)
        yield _Turn(item, True, len(queues) - index)
    while any(queues):
        for queue in queues:
            while queue and queue[0].passage_id in served:
                queue.popleft()
            if queue:
                item = queue.popleft()
                served.add(item.passage_id)
                yield _Turn(item, False, 1)


def _owners(hops: Sequence[HopHelpings]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for hop in hops:
        for item in hop.helpings:
            names = found.setdefault(item.passage_id, [])
            if hop.hop not in names:
                names.append(hop.hop)
    return {passage_id: tuple(names) for passage_id, names in found.items()}


def cut(
    source: SourcePassage, helping: Helping, allowed: int
) -> tuple[EvidenceSentence, ...] | None:
    """The passage's sentences that fit into ``allowed`` tokens: all, or the contiguous run
    that grows from the best one towards its better neighbour. None if not one fits."""
    sentences = source.sentences
    if _cost(source, 0, len(sentences) - 1) <= allowed:
        return sentences
    rank = [helping.sentences.get(s.id, float("-inf")) for s in sentences]
    first = last = max(range(len(sentences)), key=lambda i: (rank[i], -i))
    if _cost(source, first, last) > allowed:
        return None
    while True:
        steps = [(first - 1, last), (first, last + 1)]
        fitting = [
            (a, b)
            for a, b in steps
            if a >= 0 and b < len(sentences) and _cost(source, a, b) <= allowed
        ]
        if not fitting:
            return sentences[first : last + 1]
        first, last = max(fitting, key=lambda step: rank[step[0] if step[0] < first else step[1]])


def _cost(source: SourcePassage, first: int, last: int) -> int:
    return token_count(_text(source, source.sentences[first], source.sentences[last]))


def _text(source: SourcePassage, first: EvidenceSentence, last: EvidenceSentence) -> str:
    return source.passage.text[first.start - source.start : last.end - source.start]


def _passage(
    source: SourcePassage,
    piece: tuple[EvidenceSentence, ...],
    hops: tuple[str, ...],
    score: float,
) -> EvidencePassage:
    text = _text(source, piece[0], piece[-1])
    entry = source.entry
    return EvidencePassage(
        passage_id=source.passage.id,
        document_key=entry.key,
        document_id=entry.external_id,
        source=entry.source,
        title=entry.title,
        url=entry.url,
        text=text,
        sentences=piece,
        tokens=token_count(text),
        hops=hops,
        score=score,
        complete=len(piece) == len(source.sentences),
    )
