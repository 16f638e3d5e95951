"""Drafts to units: grounded, canonical, named, told apart, identified [A.5]."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from resin_es.extract import grounding
from resin_es.extract.aliases import aliases_of, without_definition
from resin_es.extract.folding import fold
from resin_es.extract.predicates import canonical_predicate
from resin_es.extract.statement import statement
from resin_es.model import (
    CausalEdge,
    Claim,
    Passage,
    ReaderIdentity,
    Rule,
    Sentence,
    Unit,
    UnitDraft,
    UnitReject,
    unit_id,
)

DUPLICATE = "duplicate"
RESOLVED = 0.8
"""Confidence factor where a pronoun subject was replaced by the passage's main entity."""
UNRESOLVED = 0.5
"""Confidence factor where a pronoun subject stayed."""
_MIN_CONFIDENCE = 0.05

_SINGULAR = frozenset({"it", "this", "that", "this one", "the latter", "the former"})
_PLURAL = frozenset("they these those both all".split())
_PRONOUNS = (
    _SINGULAR
    | _PLURAL
    | frozenset("he she we i you one which who others another each some many most".split())
)
_PEOPLE = re.compile(r"\b(?:person|people|human|individual)\b", re.I)


def normalize(
    drafts: Iterable[UnitDraft],
    passage: Passage,
    sentences: Sequence[Sentence],
    document_key: str,
    document_version: str,
    reader: ReaderIdentity,
    title: str = "",
) -> tuple[tuple[Unit, ...], tuple[UnitReject, ...]]:
    """The units of one passage, and the drafts that were turned down, each with its reason.

    ``sentences`` are the passage's, in order. Reasons are those of ``grounding.check`` and
    ``duplicate``: of equal claims the most confident stays. Deterministic; order is kept.
    ``title`` is not evidence: nothing is taken from it.
    """
    kept: dict[tuple[object, ...], tuple[Claim, UnitDraft]] = {}
    rejects: list[UnitReject] = []
    for draft in drafts:
        reason = grounding.check(draft, sentences, passage.text)
        if reason:
            rejects.append(UnitReject(reason=reason, draft=draft.model_dump(mode="json")))
            continue
        claim = _normal(draft, passage, sentences)
        key = _content(claim)
        held = kept.get(key)
        if held is None or claim.confidence > held[0].confidence:
            kept[key] = (claim, draft)
        if held is not None:
            loser = draft if kept[key][0] is held[0] else held[1]
            rejects.append(UnitReject(reason=DUPLICATE, draft=loser.model_dump(mode="json")))
    units = tuple(
        _unit(claim, draft, passage, sentences, document_key, document_version, reader)
        for claim, draft in kept.values()
    )
    return units, tuple(rejects)


def _unit(
    claim: Claim,
    draft: UnitDraft,
    passage: Passage,
    sentences: Sequence[Sentence],
    document_key: str,
    document_version: str,
    reader: ReaderIdentity,
) -> Unit:
    named = set(draft.sentence_ids)
    cited = tuple(sentence.id for sentence in sentences if sentence.id in named)
    return Unit(
        id=unit_id(document_key, passage.id, cited, claim),
        claim=claim,
        statement=statement(claim, passage),
        quote=grounding.verbatim(draft, sentences, passage.text),
        sentence_ids=cited,
        passage_id=passage.id,
        document_key=document_key,
        document_version=document_version,
        reader=reader,
    )


def _normal(draft: UnitDraft, passage: Passage, sentences: Sequence[Sentence]) -> Claim:
    """The claim with its canonical predicate, aliases, subject and confidence."""
    claim = draft.claim
    subject = _tidy(without_definition(claim.subject, passage.text)) or claim.subject
    obj = _tidy(without_definition(claim.object, passage.text))
    declared = (*aliases_of(subject, passage.text), *aliases_of(obj, passage.text))
    confidence, entity_type = claim.confidence, _tidy(claim.entity_type)
    if fold(subject) in _PRONOUNS:
        if _resolvable(fold(subject), draft, passage, sentences):
            subject, entity_type = passage.main_entity, entity_type or passage.entity_type
            declared = (*aliases_of(subject, passage.text), *declared)
            confidence *= RESOLVED
        else:
            confidence *= UNRESOLVED
    elif passage.main_entity and fold(subject) == fold(passage.main_entity):
        entity_type = entity_type or passage.entity_type
    own = (alias for alias in claim.aliases if fold(alias) in fold(passage.text))
    names = {fold(subject), fold(obj), ""}
    aliases = {fold(alias): _tidy(alias) for alias in (*own, *declared)}
    return claim.model_copy(
        update={
            "subject": subject,
            "object": obj,
            "entity_type": entity_type,
            "predicate": canonical_predicate(claim.surface_predicate, claim.kind),
            "surface_predicate": _tidy(claim.surface_predicate),
            "aliases": tuple(text for key, text in aliases.items() if key not in names),
            "confidence": round(max(_MIN_CONFIDENCE, min(1.0, confidence)), 4),
            **_tidied(claim),
        }
    )


def _tidied(claim: Claim) -> dict[str, object]:
    """The kind's own fields with their white space put right."""
    fields: dict[str, object] = {
        "conditions": tuple(_tidy(condition) for condition in claim.conditions),
        "scope": _tidy(claim.scope),
    }
    if isinstance(claim, CausalEdge):
        fields["source_state"] = _tidy(claim.source_state)
        fields["target_state"] = _tidy(claim.target_state)
    if isinstance(claim, Rule):
        fields["conclusion"] = _tidy(claim.conclusion)
    return fields


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _content(claim: Claim) -> tuple[object, ...]:
    """What makes two claims of a passage the same: all but confidence, aliases and wording."""
    states: tuple[str, ...] = ()
    if isinstance(claim, CausalEdge):
        states = (fold(claim.source_state), fold(claim.target_state))
    if isinstance(claim, Rule):
        states = (fold(claim.conclusion),)
    return (
        claim.kind,
        fold(claim.subject),
        claim.predicate,
        fold(claim.object),
        states,
        tuple(map(fold, claim.conditions)),
        claim.polarity,
        claim.modality,
        fold(claim.scope),
    )


def _resolvable(
    pronoun: str, draft: UnitDraft, passage: Passage, sentences: Sequence[Sentence]
) -> bool:
    """Whether the main entity may stand for ``pronoun``: a thing that agrees in number and
    was named in the passage before the sentence with the pronoun."""
    name = fold(passage.main_entity)
    if not name or name in _PRONOUNS or _PEOPLE.search(passage.entity_type):
        return False
    if pronoun not in (_PLURAL if _is_plural(name) else _SINGULAR):
        return False
    cited = set(draft.sentence_ids)
    before: list[str] = []
    for sentence in sentences:
        if sentence.id in cited:
            break
        before.append(sentence.text)
    return name in fold(" ".join(before))


def _is_plural(name: str) -> bool:
    last = name.split()[-1]
    return " and " in name or (
        last.endswith("s") and len(last) > 3 and not last.endswith(("ss", "us", "is", "ics"))
    )
