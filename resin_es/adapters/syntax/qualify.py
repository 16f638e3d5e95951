"""Qualifiers of a clause: modality, polarity, scope."""

from __future__ import annotations

from resin_es.adapters.syntax.clauses import Clause
from resin_es.adapters.syntax.lexicon import table, words
from resin_es.adapters.syntax.phrases import phrase, trim
from resin_es.adapters.syntax.tree import Tok
from resin_es.model import Modality, Polarity

_AIMS = ("aim", "goal", "objective", "purpose")
_STRENGTH = ("hypothetical", "possible", "planned", "recommended", "required", "reported")


def modality(clause: Clause) -> Modality:
    """The weakest reading that auxiliaries, chain verbs, adverbs or a reporter give."""
    seen = {clause.modality}
    auxiliaries = table("modality", "auxiliaries")
    denied = any(tok.lower in ("not", "n't", "cannot") for tok in clause.group)
    chain = table("modality", "chain")
    for tok in clause.group:
        if tok.dep == "aux":
            if tok.lower != "can" or not denied:  # "cannot" denies, it does not allow for
                seen.add(auxiliaries.get(tok.lower, "asserted"))
        elif tok.dep == "advmod":
            seen.add(table("modality", "adverbs").get(tok.lower, "asserted"))
    for verb in clause.chain[:-1]:
        seen.add(_chained(verb, chain))
    if not clause.chain[:-1] and clause.verb.lemma in ("aim", "plan", "intend", "seek"):
        seen.add("planned")
    aimed = len(clause.chain) > 1 or any(part[0].tag == "TO" for _, part in clause.pieces)
    if clause.subject.lemma in _AIMS and clause.chain[0].lemma == "be" and aimed:
        seen.add("planned")
    for child in clause.chain[0].kids("advmod"):
        seen.add(table("modality", "adverbs").get(child.lower, "asserted"))
    last = clause.verb.kid("acomp")
    if last is not None and last.lemma in ("necessary", "mandatory", "compulsory", "obligatory"):
        seen.add("required")
    if clause.verb.lemma in ("recommend", "require", "advise") and clause.passive:
        seen.add("recommended" if clause.verb.lemma != "require" else "required")
    if clause.modality == "reported":
        seen.discard("hypothetical")
    for name in _STRENGTH:
        if name in seen:
            return Modality(name)
    return Modality.ASSERTED


def _chained(verb: Tok, chain: dict[str, str]) -> str:
    """What a verb above the content verb makes of it."""
    if verb.lemma == "have" and verb.tag in ("VBP", "VBZ", "VBD", "VB"):
        return "required"
    if verb.lemma in ("go", "have"):
        return "planned" if verb.lemma == "go" and verb.tag == "VBG" else "asserted"
    return chain.get(verb.lemma, "asserted")


def polarity(clause: Clause) -> Polarity:
    """Negative where the clause, its subject or its object is denied."""
    denied = [tok for tok in clause.group if tok.lower in ("not", "n't", "never", "cannot")]
    if any(not _only(tok, clause) for tok in denied):
        return Polarity.NEGATIVE
    if any(verb.lemma == "fail" for verb in clause.chain[:-1]):
        return Polarity.NEGATIVE
    if _no(clause.subject) or any(
        _no(head) for head, _ in clause.pieces if head.dep in ("dobj", "attr")
    ):
        return Polarity.NEGATIVE
    return Polarity.POSITIVE


def _only(tok: Tok, clause: Clause) -> bool:
    """ "not only", "not just": no denial."""
    for after in clause.tree.tokens[tok.i + 1 : tok.i + 3]:
        if after.lower in ("only", "just", "merely", "simply", "solely", "necessarily"):
            return True
        if after.pos != "AUX":  # "may not be only …"
            return False
    return False


def _no(head: Tok) -> bool:
    """ "no difference", "none of the buses", "neither drug"."""
    if head.lower in ("none", "nobody", "nothing", "neither"):
        return True
    return any(
        tok.lower in ("no", "neither") for tok in head.kids("det", "preconj", "neg", "cc")
        if tok.i < head.i
    )  # fmt: skip


def split_scope(clause: Clause) -> tuple[list[list[Tok]], list[tuple[Tok, list[Tok]]]]:
    """Trailing limits (when, where, for whom) and the complements that remain.

    At least one complement always remains; a limit is only cut off the end.
    """
    pieces = list(clause.pieces)
    limits: list[list[Tok]] = []
    while len(pieces) > 1 and limits_scope(pieces[-1][0]):
        if _belongs(pieces[-2][0], pieces[-1][0]):
            break
        limits.insert(0, pieces.pop()[1])
    return limits, pieces


def _belongs(before: Tok, prep: Tok) -> bool:
    """Whether a phrase completes a light noun: "plays a role | in growth"."""
    light = words("words", "light_nouns")
    return before.dep in ("dobj", "attr", "acomp") and (
        before.lemma in light and prep.lower in ("in", "on", "for", "between", "to", "of")
    )


def limits_scope(head: Tok) -> bool:
    """Whether a complement says when, where or for whom."""
    if head.dep == "npadvmod":
        return head.lemma in words("words", "scope_nouns")
    if head.dep != "prep":
        return False
    if head.lower in words("words", "scope_preps_always"):
        return True
    if head.lower not in words("words", "scope_preps"):
        return False
    noun = head.kid("pobj", "pcomp")
    if noun is None:
        return False
    if head.lower in ("from", "for", "over", "between", "through", "per", "without"):
        return noun.lemma in words("words", "scope_nouns")
    return noun.pos == "PROPN" or noun.lemma in words("words", "scope_nouns") or noun.pos == "NUM"


def leading_scope(clause: Clause) -> list[list[Tok]]:
    """Limits in front of the subject: "In Thailand, …", "During winter, …"."""
    if clause.shared_subject or clause.kind == "relative":
        return []
    openers = words("words", "discourse_openers")
    found: list[list[Tok]] = []
    for child in clause.chain[0].kids("prep", "npadvmod", "advcl", "pcomp"):
        if child.i > clause.subject_tokens[0].i:
            continue
        noun = child.kid("pobj", "pcomp")
        if child.dep == "advcl" and (child.lemma != "compare" and child.lower != "following"):
            continue
        if child.dep == "prep":
            if noun is None or noun.lemma in openers or noun.pos == "DET":
                continue
            if _reason(child) or child.lower in ("as", "like", "by", "of", "with", "because",
                                                 "due", "owing", "thanks", "despite"):  # fmt: skip
                continue
        found.append(trim(phrase(child, clause.tree)))
    return [tokens for tokens in found if tokens]


def _reason(prep: Tok) -> bool:
    return any(tok.lower in ("of", "to") and tok.dep == "pcomp" for tok in prep.children)


def conditional_time(child: Tok) -> bool:
    """ "when" in the past tells a story; in the present it states a condition."""
    verbs = [child, *child.kids("aux", "auxpass")]
    return not any(tok.tag == "VBD" for tok in verbs)


def adverb_limits(clause: Clause) -> list[list[Tok]]:
    """Adverbial clauses of time that limit the claim: "before boarding", "after mating"."""
    found = []
    for child in clause.verb.kids("advcl"):
        mark = child.kid("mark")
        when = child.kid("advmod")
        told = when is not None and when.lower in ("when", "where") and not conditional_time(child)
        if told or (mark is not None and mark.lower in ("after", "before", "since", "until")):
            if child.i > clause.verb.i:
                found.append(trim(child.subtree()))
    return found
