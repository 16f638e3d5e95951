"""One passage's sentences to unit drafts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from resin_es.adapters.syntax import claims, links
from resin_es.adapters.syntax.clauses import Clause
from resin_es.adapters.syntax.existence import existential
from resin_es.adapters.syntax.lexicon import table, words
from resin_es.adapters.syntax.membership import memberships
from resin_es.adapters.syntax.parts import parts_of
from resin_es.adapters.syntax.soundness import flaw
from resin_es.adapters.syntax.subjects import (
    Entity,
    Memory,
    aliases_of,
    is_vague,
    named,
    remember,
    resolve,
)
from resin_es.adapters.syntax.tree import FINITE, Tok, Tree
from resin_es.adapters.syntax.walk import clauses, reported_modality
from resin_es.model import Claim, EntityFact, Sentence, UnitDraft

MAX_TOKENS = 110
MAX_UNITS = 5
DOUBTFUL = 0.6
_KEYED = re.compile(r"^([A-Z][\w '/&-]{1,40}):\s+(\S.{0,200})$")


def is_junk(text: str) -> bool:
    """Licence lines, links, keyword lists: nothing to claim."""
    lowered = text.lower()
    letters = sum(char.isalpha() for char in text)
    if letters < 8 or letters < len(text) * 0.3:
        return True
    return any(cue in lowered for cue in words("words", "junk"))


def readable(tree: Tree) -> bool:
    """Whether a parse can be trusted enough to build on."""
    if not tree.tokens or len(tree.tokens) > MAX_TOKENS:
        return False
    return len(tree.roots()) <= 4


def drafts(sentence: Sentence, tree: Tree, memory: Memory) -> list[UnitDraft]:
    """The unit drafts of one sentence; ``memory`` is updated for the next one."""
    if is_junk(sentence.text) or not readable(tree):
        memory.last = None
        return []
    found: list[tuple[Claim, list[Tok]]] = []
    spare: list[tuple[Claim, list[Tok]]] = []
    subject_of_first: Entity | None = None
    for clause in clauses(tree):
        there = existential(clause)
        if there is not None and not flaw(clause):
            found.append((there, clause.tokens()))
            continue
        subject = resolve(clause, memory)
        if subject is None or flaw(clause):
            continue
        if clause.kind in ("main", "content") and subject_of_first is None:
            subject_of_first = subject
        made = _clause_claims(clause, subject, memory)
        (spare if _reported_only(clause) else found).extend(made)
    found.extend((linked.claim, linked.tokens) for linked in memberships(tree))
    found = found or spare or keyed(sentence.text, tree)
    found = _better(found)
    memory.last = subject_of_first or _fallback_subject(tree)
    remember(tree, memory)
    return _bind(found, sentence, tree)


def _better(found: list[tuple[Claim, list[Tok]]]) -> list[tuple[Claim, list[Tok]]]:
    """Doubtful claims (pronouns, "its …") only where a sentence has no firm one."""
    firm = any(claim.confidence > DOUBTFUL for claim, _ in found)
    return [pair for pair in found if not firm or pair[0].confidence > DOUBTFUL]


def keyed(text: str, tree: Tree) -> list[tuple[Claim, list[Tok]]]:
    """ "Opening hours: Monday to Friday, 8 am to 6 pm": a property written as key and value."""
    match = _KEYED.match(text)
    if match is None or match.group(1).lower() in table("labels", "roles"):
        return []
    if any(tok.tag in FINITE for tok in tree.tokens):
        return []  # a sentence behind a label, no value
    value = match.group(2).rstrip(" .;")
    if not value or len(value) > 160:
        return []
    claim = EntityFact(
        subject=match.group(1).strip(), surface_predicate="is", object=value, confidence=0.6
    )
    return [(claim, [])]


def _fallback_subject(tree: Tree) -> Entity | None:
    for root in tree.roots():
        subject = root.kid("nsubj", "nsubjpass")
        if subject is not None and not is_vague(subject, [subject]):
            return named(subject, tree)
    return None


def _clause_claims(
    clause: Clause, subject: Entity, memory: Memory
) -> list[tuple[Claim, list[Tok]]]:
    """The claims of one clause: what its cues link, and what it says by itself."""
    parts = parts_of(clause, subject)
    own = claims.claim_of(clause, subject)
    if parts is None:
        return []
    tokens = clause.subject_tokens if subject.own else []
    aliases = aliases_of(tokens, clause.tree, subject.text, memory)
    linked = [*links.rules(clause, subject, parts), *links.causes(clause, subject, parts)]
    found = [(one.claim, one.tokens) for one in linked]
    if own is not None and not any(one.replaces_clause for one in linked):
        found.insert(0, (own, clause.tokens()))
    if aliases:
        found = [(claim.model_copy(update={"aliases": aliases}), toks) for claim, toks in found]
    return found


def _reported_only(clause: Clause) -> bool:
    """Whether the clause only introduces a that-clause, which is claimed by itself."""
    return any(reported_modality(clause.verb, child) != "" for child in clause.verb.kids("ccomp"))


def _bind(
    found: Sequence[tuple[Claim, list[Tok]]], sentence: Sentence, tree: Tree
) -> list[UnitDraft]:
    """Give every claim its verbatim quote; equal claims once."""
    result: list[UnitDraft] = []
    seen: set[str] = set()
    for claim, tokens in found:
        quote = tree.quote(tokens).strip() if tokens else sentence.text
        if len(quote) > 0.8 * len(sentence.text) or not quote:
            quote = sentence.text
        key = claim.model_dump_json(exclude={"confidence"})
        if key in seen or quote not in sentence.text:
            continue
        seen.add(key)
        result.append(UnitDraft(claim=claim, quote=quote, sentence_ids=(sentence.id,)))
    return result[:MAX_UNITS]
