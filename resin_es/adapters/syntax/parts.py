"""A clause cut into the fields of a claim, before its kind is known."""

from __future__ import annotations

from dataclasses import dataclass

from resin_es.adapters.syntax import qualify
from resin_es.adapters.syntax.clauses import Clause
from resin_es.adapters.syntax.lexicon import words
from resin_es.adapters.syntax.phrases import has_subject, phrase, trim
from resin_es.adapters.syntax.subjects import Entity
from resin_es.adapters.syntax.tails import (
    DANGLING,
    completed,
    list_tail,
    opens_bracket,
    verb_in_hole,
    with_quote,
)
from resin_es.adapters.syntax.tree import Tok, refill, torn
from resin_es.model import Modality, Polarity

MAX_OBJECT = 420


@dataclass(frozen=True)
class Parts:
    """A clause cut into the fields of a claim, before its kind is known."""

    subject: Entity
    predicate: str
    object: str
    scope: str
    modality: Modality
    polarity: Polarity
    confidence: float
    aliases: tuple[str, ...] = ()
    entity_type: str = ""
    object_head: Tok | None = None
    moved: Tok | None = None


def parts_of(clause: Clause, subject: Entity) -> Parts | None:
    """Predicate, object (empty for a verb alone) and scope; None where the parse is torn."""
    tree = clause.tree
    limits, pieces = qualify.split_scope(clause)
    if len(pieces) > 1 and pieces[0][0].dep == "prep" and pieces[1][0].dep == "dobj":
        limits = [pieces[0][1], *limits]
        pieces = pieces[1:]
    group = list(clause.group)
    tokens = [tok for _, part in pieces for tok in part]
    head = pieces[0][0] if pieces else None
    moved = None
    if not tokens:
        group, tokens = _value_from_group(clause)
    elif head is not None and head.dep in ("prep", "agent") and tokens[0] is head:
        if len(tokens) > 1 and _simple_preposition(head):
            group, tokens, moved = [*group, head], tokens[1:], head
    scope = [*qualify.leading_scope(clause), *limits, *qualify.adverb_limits(clause)]
    whole = _whole(clause, tokens, limits)
    if whole is None:
        return None
    text = tree.text(whole)
    predicate = tree.text(group or clause.group)
    if not predicate or len(text) > MAX_OBJECT:
        return None
    confidence = subject.confidence - (0.1 if len(whole) > 30 else 0.0)
    if whole and whole[0].tag == "PRP$" and (clause.shared_subject or clause.kind != "main"):
        confidence -= 0.3  # "…, and assess its performance": whose?
    confidence -= {"relative": 0.15, "contrast": 0.05, "content": 0.0}.get(clause.kind, 0.0)
    return Parts(
        subject, predicate, text, "; ".join(tree.text(part) for part in scope),
        qualify.modality(clause), qualify.polarity(clause), max(confidence, 0.2),
        object_head=head, moved=moved,
    )  # fmt: skip


def _whole(clause: Clause, tokens: list[Tok], limits: list[list[Tok]]) -> list[Tok] | None:
    """The object's tokens without holes and not cut short; None where that fails."""
    if not tokens:
        return []
    tokens = refill(tokens, clause.tree)
    if tokens[0].lower == "that" and verb_in_hole(tokens, clause.tree):
        return None
    further = _continuation(clause, tokens, limits)
    if further is None:
        return None
    tokens = [*tokens, *further]
    taken = {tok.i for part in limits for tok in part} | {tok.i for tok in clause.group}
    tokens = [*tokens, *list_tail(tokens, clause.tree, taken, bare=_no_bare_form(clause))]
    tokens = with_quote(tokens, clause.tree)
    tokens = completed(tokens, clause.tree, taken)
    if tokens[-1].text in DANGLING or opens_bracket(tokens, clause.tree):
        return None
    return None if torn(tokens, clause.tree) else tokens


def _no_bare_form(clause: Clause) -> bool:
    """Whether the predicate is finite and marked for it: "is", "showed", not "provide"."""
    tags = {tok.tag for tok in clause.group}
    return bool(tags & {"VBZ", "VBD"}) and not tags & {"TO", "MD"}


_NOMINAL = ("NOUN", "PROPN", "ADJ", "NUM", "SYM")


def _continuation(clause: Clause, tokens: list[Tok], limits: list[list[Tok]]) -> list[Tok] | None:
    """Words that run on behind the object although the parse hung them elsewhere; None if
    they run on for so long that the object is cut off in an unknown way."""
    taken = {tok.i for part in limits for tok in part} | {tok.i for tok in clause.group}
    index = tokens[-1].i + 1
    further: list[Tok] = []
    for tok in clause.tree.tokens[index:]:
        if tok.i in taken or not (tok.pos in _NOMINAL or tok.tag == "HYPH"):
            break
        further.append(tok)
    after = clause.tree.tokens[index + len(further) : index + len(further) + 1]
    if after and after[0].i not in taken and _runs_on(after[0]):
        below = trim(phrase(after[0], clause.tree))
        reduced = after[0].dep == "advcl" and after[0].tag in ("VBG", "VBN")
        if further or not reduced or has_subject(after[0]) or below[0] is not after[0]:
            return None
        return below  # "patients | diagnosed with …", hung on the verb
    if further and tokens[-1].pos in ("NOUN", "PROPN", "ADJ", "NUM") and len(further) <= 4:
        return further
    return [] if not further else None


def _runs_on(tok: Tok) -> bool:
    """A verb right behind the object, with no mark between: the object was cut short."""
    return (
        tok.pos == "VERB"
        and tok.tag in ("VBD", "VBN", "VBZ", "VBP", "VBG")
        and tok.lower not in ("provided", "given", "providing", "resulting", "leading", "during")
        and tok.lemma not in words("words", "kept_advcl_verbs")
        and tok.dep not in ("relcl", "acl")
    )


def _simple_preposition(head: Tok) -> bool:
    """One-word prepositions with an object of their own ("in the liver")."""
    return head.kid("pobj", "pcomp") is not None and not any(
        child.i < head.i or child.dep in ("prep", "fixed") for child in head.children
    )


def _value_from_group(clause: Clause) -> tuple[list[Tok], list[Tok]]:
    """A predicate without complements, cut in two: "X was | measured", "X remains | debated"."""
    group = clause.group
    if len(clause.chain) > 1 and clause.verb.tag in ("VBN", "JJ"):
        return [tok for tok in group if tok.i < clause.verb.i], [clause.verb]
    helpers = [tok for tok in group if tok.dep in ("aux", "auxpass", "neg")]
    if not clause.passive or not helpers:
        return [], []
    cut = helpers[-1].i
    return [tok for tok in group if tok.i <= cut], [tok for tok in group if tok.i > cut]
