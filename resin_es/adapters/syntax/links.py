"""Cues that join two clauses, or a clause and a phrase: causes and conditions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from resin_es.adapters.syntax.claims import participle
from resin_es.adapters.syntax.clauses import Clause
from resin_es.adapters.syntax.lexicon import load, words
from resin_es.adapters.syntax.parts import Parts
from resin_es.adapters.syntax.phrases import has_subject, phrase, trim
from resin_es.adapters.syntax.qualify import conditional_time
from resin_es.adapters.syntax.subjects import Entity
from resin_es.adapters.syntax.tails import with_following
from resin_es.adapters.syntax.tree import Tok, Tree
from resin_es.model import CausalEdge, Claim, Modality, Rule

_NAMED = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True)
class Linked:
    """A claim made by a cue, and the tokens it stands on."""

    claim: Claim
    tokens: list[Tok]
    replaces_clause: bool = False


def state_of(clause: Clause, subject: Entity, without: set[int] | None = None) -> str:
    """A clause as one state, its subject spelled out."""
    gone = without or set()
    said = [tok for tok in (*clause.group, *clause.rest) if tok.i not in gone]
    text = clause.tree.text(trim(sorted({t.i: t for t in said}.values(), key=lambda t: t.i)))
    own = subject.own and clause.subject_tokens[0].tag != "PRP" and not clause.shared_subject
    opener = clause.tree.text(clause.subject_tokens) if own else subject.text
    return f"{opener} {text}".strip()


def _clause_text(verb: Tok, tree: Tree, subject: Entity | None) -> str:
    """An adverbial clause without its mark; a missing subject is the main clause's."""
    tokens = [tok for tok in verb.subtree() if not (tok.head is verb and tok.dep == "mark")]
    tokens = [tok for tok in tokens if not (tok.head is verb and tok.dep == "advmod"
                                            and tok.tag == "WRB")]  # fmt: skip
    return tree.text(trim(tokens))


# ---------------------------------------------------------------- rules


def rules(clause: Clause, subject: Entity, parts: Parts) -> list[Linked]:
    """ "… if …", "unless …", "provided that …": conditions → conclusion."""
    found = []
    for child in clause.chain[0].kids("advcl", "prep") + (
        clause.verb.kids("advcl", "prep") if len(clause.chain) > 1 else []
    ):
        mark = _condition_mark(child, clause.tree)
        if not mark:
            continue
        text = _condition_text(child, clause, mark)
        if not text:
            continue
        conclusion = state_of(clause, subject, {tok.i for tok in child.subtree()})
        if not conclusion or len(conclusion.split()) < 3:
            continue
        claim = Rule(
            subject=subject.text, conditions=(text,), conclusion=conclusion,
            surface_predicate=mark, modality=parts.modality, polarity=parts.polarity,
            scope=parts.scope, confidence=round(max(parts.confidence - 0.05, 0.2), 2),
            aliases=parts.aliases,
        )  # fmt: skip
        found.append(Linked(claim, [*clause.tokens(), *child.subtree()], True))
    return found[:1]


def _condition_mark(child: Tok, tree: Tree) -> str:
    """The words that open a condition ("if", "only if", "provided that"); "" if none do."""
    below = child.subtree()
    first = below[0]
    before = tree.tokens[first.i - 1].lower if first.i else ""
    opening = [tok.lower for tok in below[:4]]
    for size in (4, 3, 2):
        candidate = " ".join(opening[:size])
        if candidate in words("words", "condition_phrases"):
            return candidate
    if child.dep == "prep" and first.lower == "without" and child.head.kid("neg"):
        return "without"
    marks = words("words", "condition_marks")
    if child.dep != "advcl" or first.lower not in marks:
        return ""
    if first.lower in ("provided", "providing") and child.kid("mark") is None and (
        first is child and not any(tok.lower == "that" for tok in below[1:2])
    ):  # fmt: skip
        return ""
    if any(tok.lemma in words("words", "not_conditions") for tok in below[1:3]):
        return ""
    if first.lower in ("when", "once", "until") and not conditional_time(child):
        return ""
    return f"only {first.lower}" if before == "only" else first.lower


def _condition_text(child: Tok, clause: Clause, mark: str) -> str:
    tree = clause.tree
    below = child.subtree()
    if mark in ("unless", "until", "even if", "without"):
        return tree.text(trim(below))
    drop = len(mark.split()) - (1 if mark.startswith("only") and below[0].lower != "only" else 0)
    tokens = below[drop:]
    text = tree.text(trim(tokens))
    if mark.startswith("only") and text:
        return f"only {mark.split()[1]} {text}"
    return text


# ---------------------------------------------------------------- causes


def causes(clause: Clause, subject: Entity, parts: Parts) -> list[Linked]:
    """ "because …", "due to …", "…, leading to …"."""
    found: list[Linked] = []
    for child in (tok for verb in clause.chain for tok in verb.children):
        if child.dep == "advcl":
            linked = _because(child, clause, subject, parts) or _result(
                child, clause, subject, parts
            )
        elif child.dep in ("prep", "acomp", "advmod"):
            linked = _reason(child, clause, subject, parts)
        else:
            linked = None
        if linked is not None:
            found.append(linked)
    return found[:2]


def _edge(
    parts: Parts, subject: Entity, source: str, target: str, cue: str, modality: Modality
) -> CausalEdge:
    return CausalEdge(
        subject=subject.text, surface_predicate=cue, source_state=source, target_state=target,
        modality=modality, polarity="positive", scope=parts.scope,
        confidence=round(max(parts.confidence - 0.05, 0.2), 2), aliases=parts.aliases,
    )  # fmt: skip


def _because(child: Tok, clause: Clause, subject: Entity, parts: Parts) -> Linked | None:
    mark = child.kid("mark")
    if mark is None or mark.lower not in words("causal", "because_marks"):
        return None
    if not has_subject(child) or _pronoun_subject(child):
        return None
    source = _clause_text(child, clause.tree, subject)
    target = state_of(clause, subject, {tok.i for tok in child.subtree()})
    if not source or len(target.split()) < 2:
        return None
    claim = _edge(parts, subject, source, target, mark.lower, parts.modality)
    return Linked(claim, [*clause.tokens(), *child.subtree()], True)


def _pronoun_subject(verb: Tok) -> bool:
    subject = verb.kid("nsubj", "nsubjpass")
    return subject is not None and subject.pos == "PRON" and subject.tag == "PRP"


def _reason(child: Tok, clause: Clause, subject: Entity, parts: Parts) -> Linked | None:
    """ "because of fog", "due to fog" on the verb."""
    below = child.subtree()
    opening = " ".join(tok.lower for tok in below[:5])
    cue = next(
        (c for c in load("causal")["reason_preps"] if opening == c or opening.startswith(c + " ")),
        "",
    )
    if not cue:
        return None
    tokens = below[len(cue.split()) :]
    source = clause.tree.text(trim(tokens))
    without = {tok.i for tok in below}
    target = state_of(clause, subject, without)
    copula = clause.verb.lemma == "be" and not any(
        tok.pos in ("NOUN", "PROPN", "ADJ", "VERB", "NUM")
        for tok in clause.rest
        if tok.i not in without
    )
    if copula:
        target = subject.text
    if len(source) < 3 or (len(target.split()) < 2 and not copula):
        return None
    if clause.passive and clause.verb.lemma in load("causal")["passive_by"]:
        return None  # "caused by A due to B": B is behind A, not behind the clause
    claim = _edge(parts, subject, source, target, cue, parts.modality)
    return Linked(claim, [*clause.tokens(), *below], True)


def _result(child: Tok, clause: Clause, subject: Entity, parts: Parts) -> Linked | None:
    """ "…, leading to X", "…, thereby reducing X": the clause is the source state."""
    if child.tag != "VBG" or child.i < clause.verb.i or has_subject(child) or child.kid("mark"):
        return None
    lexicon = load("causal")
    adverb = next(
        (tok.lower for tok in child.kids("advmod") if tok.lower in lexicon["adverbs_of_result"]), ""
    )
    tree = clause.tree
    prep = child.kid("prep")
    allowed = lexicon["effect_verbs_prep"].get(child.lemma, ())
    obj = child.kid("dobj")
    if prep is not None and prep.lower in allowed and prep.kid("pobj", "pcomp") is not None:
        target = tree.text(with_following(trim(prep.subtree()[1:]), tree))
    elif obj is not None and child.lemma in lexicon["effect_verbs"]:
        target = tree.text(with_following(phrase(obj, tree), tree, child.subtree()))
    elif obj is not None and child.lemma in lexicon["change_verbs"] and (
        adverb or tree.tokens[child.subtree()[0].i - 1].text == ","
    ):  # fmt: skip
        changed = with_following(phrase(obj, tree), tree, child.subtree())
        target = f"{participle(child)} {tree.text(changed)}"
    else:
        return None
    source = _source_state(clause, subject, child)
    if len(source.split()) < 2 or not _NAMED.search(target):
        return None
    linker = prep.i if prep is not None and prep.lower in allowed else child.i
    cue = tree.text([tok for tok in child.subtree() if tok.i <= linker])
    claim = _edge(parts, subject, source, target, cue, parts.modality)
    return Linked(claim, [*clause.tokens(), *child.subtree()])


def _source_state(clause: Clause, subject: Entity, child: Tok) -> str:
    """The clause's state; of "the assay revealed an insertion" only what was revealed."""
    shown = next((tokens for head, tokens in clause.pieces if head.dep == "dobj"), None)
    if clause.verb.lemma in ("reveal", "show", "identify", "find", "observe") and shown:
        if not clause.passive:
            return clause.tree.text(shown)
    return state_of(clause, subject, {tok.i for tok in child.subtree()})


def conditional(clause: Clause) -> bool:
    """Whether a clause carries a condition."""
    return any(_condition_mark(child, clause.tree) for child in clause.chain[0].kids("advcl"))
