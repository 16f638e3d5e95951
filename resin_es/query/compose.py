"""The composer that needs no model: it quotes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from resin_es.model import (
    Answer,
    Citation,
    EvidenceBuffer,
    EvidencePassage,
    EvidenceSentence,
    ReaderIdentity,
    Statement,
)
from resin_es.query import support
from resin_es.query.planner import RulePlanner
from resin_es.query.support import Weighed

NOT_HELD = "The evidence does not say."
ENOUGH = 0.34
"""Least support of a quote. Below a third of the need's words, a sentence shares its topic at
most."""
CLOSE = 0.6
"""A further quote for a need must support it at least this share as well as the best one."""


class _Place(NamedTuple):
    passage: EvidencePassage
    position: int
    sentence: EvidenceSentence
    around: str


class ExtractiveComposer:
    """Implements ``ports.Composer``. For each need of the question (by the planner's rules,
    from the question alone) it quotes the sentences that support it best; a need without
    support is named as missing. Evidence is data: nothing in it is obeyed or rephrased."""

    identity = ReaderIdentity(model="extractive", prompt_version="1")

    def __init__(self, quotes_per_need: int = 2, max_needs: int = 4) -> None:
        self._quotes = quotes_per_need
        self._max_needs = max_needs

    def compose(self, question: str, evidence: EvidenceBuffer) -> Answer:
        """An answer of quotes; ``found`` is false where no need has any support."""
        places = _places(evidence)
        plan = RulePlanner().plan(question, self._max_needs)
        needs = [hop.subquestion for hop in plan.hops]
        texts = [f"{p.passage.title} {p.sentence.text}" for p in places]
        rare = support.rarity(texts)
        unseen = max(rare.values(), default=1.0)
        book = _Citations()
        statements: list[Statement] = []
        missing: list[str] = []
        used: set[str] = set()
        for need in needs:
            weighed = support.weigh(need, rare, unseen)
            chosen = self._chosen(weighed, places, texts)
            fresh = [place for place in chosen if place.sentence.id not in used]
            used.update(place.sentence.id for place in fresh)
            if not chosen:
                missing.append(need)
            statements.extend(book.quote(place) for place in _in_order(fresh))
        return _answer(question, statements, book, missing, self.identity.model)

    def _chosen(
        self, need: Weighed, places: Sequence[_Place], texts: Sequence[str]
    ) -> list[_Place]:
        if not support.names_held(need, texts):
            return []
        scored = [
            (
                support.support(need, place.sentence.text, place.around) - 0.002 * place.position,
                place,
            )
            for place in places
        ]
        scored.sort(key=lambda item: -item[0])
        if not scored or scored[0][0] < ENOUGH:
            return []
        least = max(ENOUGH, CLOSE * scored[0][0])
        return [place for score, place in scored[: self._quotes] if score >= least]


def _places(evidence: EvidenceBuffer) -> list[_Place]:
    return [
        _Place(passage, position, sentence, f"{passage.title} {passage.text}")
        for position, passage in enumerate(evidence.passages)
        for sentence in passage.sentences
    ]


def _in_order(places: Sequence[_Place]) -> list[_Place]:
    """Sentences of one passage in their own order, passages in the order of their best one."""
    first = {place.passage.passage_id: i for i, place in reversed(list(enumerate(places)))}
    return sorted(places, key=lambda p: (first[p.passage.passage_id], p.sentence.start))


class _Citations:
    """Numbers for quotes: one for each sentence, in the order of the answer."""

    def __init__(self) -> None:
        self.items: list[Citation] = []

    def quote(self, place: _Place) -> Statement:
        number = len(self.items) + 1
        passage, sentence = place.passage, place.sentence
        self.items.append(
            Citation(
                number=number,
                passage_id=passage.passage_id,
                document_key=passage.document_key,
                document_id=passage.document_id,
                source=passage.source,
                title=passage.title,
                url=passage.url,
                sentence_ids=(sentence.id,),
                quote=sentence.text,
            )
        )
        return Statement(text=f"“{sentence.text}” [{number}]", citations=(number,))


def _answer(
    question: str,
    statements: Sequence[Statement],
    book: _Citations,
    missing: Sequence[str],
    composer: str,
) -> Answer:
    lines = [statement.text for statement in statements]
    if not statements:
        lines = [NOT_HELD]
    elif missing:
        lines.append("Not in the evidence: " + " ".join(missing))
    return Answer(
        question=question,
        text="\n".join(lines),
        found=bool(statements),
        statements=tuple(statements),
        citations=tuple(book.items),
        missing=tuple(missing),
        composer=composer,
    )
