"""The composer that needs no model: it quotes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from resin_es.extract.language import detect_language, in_another_language
from resin_es.model import (
    Answer,
    Citation,
    EvidenceBuffer,
    EvidencePassage,
    EvidenceSentence,
    Hop,
    Plan,
    ReaderIdentity,
    ReasoningMode,
    Statement,
)
from resin_es.query import support
from resin_es.query.picking import pick
from resin_es.query.plan_rules import FURTHER
from resin_es.query.planner import RulePlanner
from resin_es.query.support import Told
from resin_es.query.words import content, names, stem, words

NOT_HELD = "The evidence does not say."
UNREAD = (
    "Some of the evidence is in another language than the question. Quotes are chosen by the words "
    "that both share, so look at it yourself, or have a language model answer."
)
LOOKED_AT = 5
"""Passages whose language is told, best first."""


class _Place(NamedTuple):
    passage: EvidencePassage
    sentence: EvidenceSentence


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
        places, sentences = _told(evidence)
        plan = RulePlanner().plan(question, self._max_needs)
        rare = support.rarity(sentences)
        book = _Citations()
        statements: list[Statement] = []
        missing: list[str] = []
        used: set[int] = set()
        found: dict[str, list[int]] = {}
        for hop in plan.hops:
            if hop.need == FURTHER:
                continue
            carried = self._carried(hop, found, sentences, question)
            side, rivals = sides_of(hop, plan)
            need = support.weigh(hop.subquestion, rare, side)
            beside = own_side(side, rivals, sentences)
            told = [sentences[i] for i in beside]
            chosen = [beside[i] for i in pick(need, told, quotes=self._quotes, carried=carried)]
            found[hop.id] = chosen
            if not chosen:
                missing.append(hop.subquestion)
            statements.extend(book.quote(places[i]) for i in chosen if i not in used)
            used.update(chosen)
        notes = (UNREAD,) if missing and in_two_languages(question, evidence) else ()
        return _answer(question, statements, book, missing, self.identity.model, notes)

    @staticmethod
    def _carried(
        hop: Hop, found: Mapping[str, Sequence[int]], sentences: Sequence[Told], question: str
    ) -> frozenset[str]:
        """Stems of the names that the needs before this one brought up."""
        texts = [sentences[i].text for name in hop.depends_on for i in found.get(name, ())]
        brought = {stem(word) for text in texts for name in names(text) for word in words(name)}
        return frozenset(brought - {stem(word) for word in words(question)})


def in_two_languages(question: str, evidence: EvidenceBuffer) -> bool:
    """Whether the question is English and some of the best passages are not, or the other way
    round; False where its own language is in doubt."""
    foreign = in_another_language(question)
    if not foreign and detect_language(question) != "en":
        return False
    texts = [passage.text for passage in evidence.passages[:LOOKED_AT]]
    return any(in_another_language(text) is not foreign for text in texts)


def sides_of(hop: Hop, plan: Plan) -> tuple[frozenset[str], frozenset[str]]:
    """Stems that only this side of a comparison has, and those that only others have."""
    if plan.mode is not ReasoningMode.COMPARISON:
        return frozenset(), frozenset()
    own = frozenset(stem(word) for word in content(hop.subquestion))
    others = frozenset(
        stem(word) for h in plan.hops if h.id != hop.id for word in content(h.subquestion)
    )
    return own - others, others - own


def own_side(side: frozenset[str], rivals: frozenset[str], sentences: Sequence[Told]) -> list[int]:
    """Positions of the sentences that may serve a side of a comparison: those that name it, or
    whose document does while they name no other side. All, where there are no sides."""
    return [
        i
        for i, sentence in enumerate(sentences)
        if not side
        or side & sentence.stems
        or (side <= sentence.document and not rivals & sentence.stems)
    ]


def _told(evidence: EvidenceBuffer) -> tuple[list[_Place], list[Told]]:
    places: list[_Place] = []
    sentences: list[Told] = []
    texts: dict[str, list[str]] = {}
    for passage in evidence.passages:
        texts.setdefault(passage.document_key, [passage.title]).append(passage.text)
    whole = {key: support.stems_of(" ".join(parts)) for key, parts in texts.items()}
    ranks = {key: rank for rank, key in enumerate(texts)}
    for passage in evidence.passages:
        key = passage.document_key
        around = support.stems_of(f"{passage.title} {passage.text}")
        for sentence in passage.sentences:
            places.append(_Place(passage, sentence))
            sentences.append(support.told(sentence.text, around, whole[key], ranks[key]))
    return places, sentences


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
    notes: tuple[str, ...],
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
        notes=notes,
    )
