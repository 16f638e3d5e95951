"""From clauses to claims of five kinds: facts, type properties, memberships, relations, edges.

Rules (the sixth kind) and the cues that join two clauses stand in :mod:`.links`.
"""

from __future__ import annotations

from resin_es.adapters.syntax.clauses import Clause
from resin_es.adapters.syntax.lexicon import load, words
from resin_es.adapters.syntax.parts import Parts, parts_of
from resin_es.adapters.syntax.phrases import is_generic, phrase
from resin_es.adapters.syntax.subjects import Entity
from resin_es.adapters.syntax.tree import Tok
from resin_es.model import (
    CausalEdge,
    Claim,
    EntityFact,
    EntityType,
    Relation,
    TypeProperty,
)

PRESENT = frozenset({"VBZ", "VBP", "MD"})


_PRONOUNS = frozenset({"it", "them", "him", "her", "us", "this", "these", "those", "that", "so"})


def claim_of(clause: Clause, subject: Entity) -> Claim | None:
    """The one claim a clause makes by itself."""
    parts = parts_of(clause, subject)
    if parts is None or not parts.object or parts.object.lower() in _PRONOUNS:
        return None
    if clause.verb.lemma == "be" or clause.verb.pos == "AUX" or clause.verb.dep == "acomp":
        return _copula(clause, parts)
    edge = _edge(clause, parts)
    if edge is not None:
        return edge
    if _names_type(clause, parts):
        return EntityType(**_common(parts))
    attributive = clause.verb.lemma in words("words", "attributive_verbs")
    if attributive or not _nominal(parts) or _of_every(clause):
        return _fact(clause, parts)
    return Relation(**_common(parts))


def _of_every(clause: Clause) -> bool:
    """ "Every metro line accepts the card": what members of the type inherit."""
    first = next((tok for tok in clause.group if tok.is_verb), clause.verb)
    return (
        first.tag in PRESENT
        and is_generic(clause.subject)
        and any(
            child.lower in ("every", "each", "all", "any")
            for child in clause.subject.kids("det", "predet")
        )
    )


def _common(parts: Parts) -> dict[str, object]:
    return {
        "subject": parts.subject.text,
        "entity_type": parts.entity_type,
        "surface_predicate": parts.predicate,
        "object": parts.object,
        "aliases": parts.aliases,
        "modality": parts.modality,
        "polarity": parts.polarity,
        "scope": parts.scope,
        "confidence": round(parts.confidence, 2),
    }


def _fact(clause: Clause, parts: Parts) -> Claim:
    """A property of one entity, or of a type where the sentence is generic."""
    finite = clause.borrowed[0] if clause.borrowed else clause.group[0]
    verbs = [tok for tok in clause.group if tok.is_verb]
    first = verbs[0] if verbs else finite
    if parts.subject.generic and first.tag in PRESENT:
        return TypeProperty(**_common(parts))
    return EntityFact(**_common(parts))


def _nominal(parts: Parts) -> bool:
    """Whether the object names something (not just a number, an adverb or a clause)."""
    head = parts.object_head
    if head is None:
        return False
    if head.dep in ("prep", "agent"):
        noun = head.kid("pobj")
        return noun is not None and noun.pos in ("NOUN", "PROPN") and not _measure(noun)
    if head.dep in ("ccomp", "advcl", "acomp", "advmod", "npadvmod"):
        return head.dep in ("ccomp", "advcl")
    return head.pos in ("NOUN", "PROPN", "X", "VERB", "ADJ") and not _measure(head)


def _measure(noun: Tok) -> bool:
    return noun.lower in ("%", "percent") or noun.pos == "NUM"


def _names_type(clause: Clause, parts: Parts) -> bool:
    verb = clause.verb
    if verb.lemma == "belong":
        return parts.moved is not None and parts.moved.lower == "to"
    if verb.lemma in ("classify", "categorize", "categorise") and clause.passive:
        return parts.moved is not None and parts.moved.lower in ("as", "into", "in")
    return (
        verb.lemma in words("words", "type_verbs_as")
        and clause.passive
        and parts.moved is not None
        and parts.moved.lower == "as"
        and _kind_noun(parts.moved.kid("pobj"))
    )


def _kind_noun(noun: Tok | None) -> bool:
    """Whether a predicate noun names a type: "a fish", "plant pathogens"; not "the cause"."""
    if noun is None or noun.pos not in ("NOUN", "PROPN"):
        return False
    if noun.lemma in words("words", "attribute_nouns") or noun.kid("poss", "nummod"):
        return False
    article = noun.kid("det")
    if article is not None:
        one_of = noun.lower == "one"
        return article.lower in ("a", "an") or one_of
    return noun.tag in ("NNS", "NN")


def _copula(clause: Clause, parts: Parts) -> Claim | None:
    head = parts.object_head
    if head is not None and head.dep == "attr":
        edge = _cause_noun(clause, parts, head)
        if edge is not None:
            return edge
        if head.lower == "one" and head.kid("prep") is not None:
            return EntityType(**_common(parts))
        if _kind_noun(head) and head.lemma not in words("words", "light_nouns"):
            if not _abstract_subject(clause.subject):
                return EntityType(**_common(parts))
    return _fact(clause, parts)


def _abstract_subject(subject: Tok) -> bool:
    """ "The aim of X is a …": a property, no membership."""
    return subject.lemma in ("aim", "goal", "objective", "purpose", "result", "focus") or (
        subject.lemma in words("words", "attribute_nouns") or subject.dep == "csubj"
    )


def _cause_noun(clause: Clause, parts: Parts, head: Tok) -> Claim | None:
    """ "Smoking is the main cause of cancer"; "the delay is a result of fog"."""
    below = head.kid("prep")
    if below is None or below.lower not in ("of", "for"):
        return None
    noun = below.kid("pobj")
    if noun is None:
        return None
    other = clause.tree.text(phrase(noun, clause.tree))
    if head.lemma in words("causal", "cause_nouns") and other:
        return _causal(parts, parts.subject.text, other)
    if head.lemma in words("causal", "result_nouns") and other:
        return _causal(parts, other, parts.subject.text)
    return None


def _causal(parts: Parts, source: str, target: str) -> CausalEdge:
    return CausalEdge(**{**_common(parts), "source_state": source, "target_state": target})


def _edge(clause: Clause, parts: Parts) -> Claim | None:
    """A causal verb between two states."""
    verb = clause.verb
    lexicon = load("causal")
    if not _can_cause(clause):
        return None
    moved = parts.moved.lower if parts.moved is not None else ""
    source, target = parts.subject.text, parts.object
    if clause.passive:
        noun = parts.moved.kid("pobj") if parts.moved is not None else None
        if noun is not None and noun.lemma in words("causal", "means"):
            return None
        if moved == "by" and verb.lemma in lexicon["passive_by"]:
            return _causal(parts, target, source)
        if moved == "by" and verb.lemma in lexicon["change_verbs"]:
            low = lowered(source, clause.subject_tokens)
            return _causal(parts, target, f"{participle(verb)} {_bare(low)}")
        return None
    if moved:
        if moved in lexicon["effect_verbs_prep"].get(verb.lemma, ()):
            return _causal(parts, source, target)
        if moved in lexicon["reverse_verbs_prep"].get(verb.lemma, ()):
            return _causal(parts, target, source)
        return None
    if parts.object_head is None or parts.object_head.dep not in ("dobj", "ccomp"):
        return None
    if verb.lemma in lexicon["effect_verbs"]:
        return _causal(parts, source, target)
    if verb.lemma in lexicon["change_verbs"] and parts.object_head.dep == "dobj":
        return _causal(parts, source, f"{participle(verb)} {_bare(target)}")
    return None


def lowered(text: str, tokens: list[Tok]) -> str:
    """``text`` with the sentence's capital taken off, unless a name or short form opens it."""
    first = tokens[0] if tokens else None
    if first is None or first.pos == "PROPN" or not text[1:2].islower():
        return text
    return text[0].lower() + text[1:]


def _can_cause(clause: Clause) -> bool:
    """People and papers are no causes; neither is what is only aimed at."""
    if clause.subject.lemma in words("causal", "agents_not_causes") or (
        clause.subject.lower in ("we", "i", "they", "he", "she")
        and clause.subject.tag == "PRP" and clause.subject.lower in ("we", "i")
    ):  # fmt: skip
        return False
    through = words("modality", "transparent")
    return all(verb.lemma in through for verb in clause.chain[:-1])


def _bare(text: str) -> str:
    """A target without its article: "increased the risk" → "increased risk"."""
    for article in ("the ", "a ", "an "):
        if text.lower().startswith(article):
            return text[len(article) :]
    return text


def participle(verb: Tok) -> str:
    """The past participle of a change verb, from its lemma (all of them are regular)."""
    lemma = verb.lemma
    if verb.tag in ("VBN", "VBD"):
        return verb.lower
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return lemma[:-1] + "ied"
    return lemma + "ed"
