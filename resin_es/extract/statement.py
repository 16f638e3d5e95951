"""x_u of equation 1: the one sentence by which a unit is searched.

It says the claim in the source's own words and spells out what the words around it supplied:
the entity, its type, conditions, scope. Words the sentence has already are not repeated, so
that neither BM25 nor the vector is weighted by form.
"""

from __future__ import annotations

import re

from resin_es.extract.aliases import is_short, long_form
from resin_es.extract.folding import fold
from resin_es.extract.predicates import lemma
from resin_es.model import CausalEdge, Claim, EntityType, Modality, Passage, Polarity, Rule

STATEMENT_VERSION = "2"
"""Part of the index's identity: raise it whenever the same claim would read differently."""

_WORDS = re.compile(r"[^\W_]+")
_NEGATED = frozenset(
    """not no never cannot without neither nor none nobody nothing fail fails failed failing
    unable lack lacks lacked hardly""".split()
)
_HELPERS = frozenset("is are was were has have had can may must will would should could".split())
_CONDITIONAL = frozenset(
    """if when whenever unless while where provided once after before during until without in
    under with at on for only except""".split()
)
_FROM_EFFECT = frozenset("due because owing from attributed attributable thanks".split())
_CONJUNCTIONS = frozenset("because due owing as since so thereby thus via after".split())
_POINTERS = frozenset(
    """it its they them their this these that those such he him his she her both each one we our
    us""".split()
)
_EMPTY = frozenset(
    """a an the study studies result results finding findings analysis analyses method methods
    approach effect effects data work paper research group groups treatment model system""".split()
)
_ARTICLES = frozenset(("a", "an", "the"))
_MODALS: dict[Modality, tuple[str, frozenset[str]]] = {
    Modality.POSSIBLE: (
        "may",
        frozenset(
            """may might can could possibly perhaps likely potential potentially appear appears
            seem seems suggest suggests suggested probably possible""".split()
        ),
    ),
    Modality.REQUIRED: (
        "must",
        frozenset(
            """must shall required requires require need needs have has obligatory mandatory
            necessary only""".split()
        ),
    ),
    Modality.RECOMMENDED: (
        "should",
        frozenset("should recommended recommend recommends advised ought suggested".split()),
    ),
    Modality.PLANNED: (
        "will",
        frozenset(
            """will shall planned plan plans scheduled going intended intend intends due aim aims
            aimed seek seeks sought propose proposes proposed""".split()
        ),
    ),
}


def statement(claim: Claim, passage: Passage) -> str:
    """The searchable sentence of ``claim``, which was read in ``passage``.

    Deterministic; one line; ends with a full stop. Uses nothing but the claim's fields and,
    where the subject does not stand alone, the passage's main entity.
    """
    body = _body(claim)
    if claim.entity_type and not _says(body, claim.entity_type):
        body = _after_first(body, _named(claim), f" ({_flat(claim.entity_type)})")
    if not isinstance(claim, Rule):
        for condition in claim.conditions:
            if not _says(body, condition):
                body = f"{body}, {_conditional(condition)}"
    if claim.scope and not _says(body, claim.scope):
        body = f"{body}, {_flat(claim.scope)}"
    if _leans(claim.subject) and not _says(body, passage.main_entity):
        body = f"{_flat(passage.main_entity)}: {body}"
    return body.rstrip(" .;,") + "."


def _body(claim: Claim) -> str:
    if isinstance(claim, CausalEdge):
        return _causal(claim)
    if isinstance(claim, Rule):
        return _rule(claim)
    predicate = _flat(claim.surface_predicate) or "is"
    if isinstance(claim, EntityType) and predicate == "is a" and claim.object[:1] in "aeiouAEIOU":
        predicate = "is an"
    return _joined(_named(claim), _qualified(predicate, claim), _flat(claim.object))


def _causal(claim: CausalEdge) -> str:
    link = _flat(claim.surface_predicate) or "causes"
    if _words(link)[:1] and _words(link)[0] not in _CONJUNCTIONS:
        link = _qualified(link, claim)
    source, target = _flat(claim.source_state), _flat(claim.target_state)
    if claim.object and not _says(f"{source} {target}", claim.object):
        target = f"{_flat(claim.object)}: {target}"
    body = _joined(target, link, source) if _backward(link) else _joined(source, link, target)
    return body if _says(body, claim.subject) else f"{_named(claim)}: {body}"


def _backward(link: str) -> bool:
    """Whether the link is worded from the effect to its cause: "was delayed by", "due to"."""
    words = _words(link)
    return bool(words) and (words[-1] == "by" or not _FROM_EFFECT.isdisjoint(words))


def _leans(subject: str) -> bool:
    """Whether a subject says nothing without the words around it: "it", "this increase"."""
    words = _words(subject)
    return not words or words[0] in _POINTERS or set(words) <= _EMPTY


def _rule(claim: Rule) -> str:
    first, *others = claim.conditions
    conditions = [_conditional(first), *(_flat(other) for other in others)]
    head = " and ".join(conditions)
    conclusion = _flat(claim.conclusion)
    if claim.polarity is Polarity.NEGATIVE and not _negated(conclusion):
        conclusion = f"not {conclusion}"
    body = f"{head[:1].upper()}{head[1:]}, {conclusion}"
    return body if _says(body, claim.subject) else f"{_named(claim)}: {body}"


def _named(claim: Claim) -> str:
    """The subject, its long name beside it where it is only an abbreviation."""
    subject = _flat(claim.subject)
    if is_short(subject):
        for alias in claim.aliases:
            if long_form(alias, subject) == alias:
                return f"{_flat(alias)} ({subject})"
    return subject


def _qualified(predicate: str, claim: Claim) -> str:
    """The predicate with the claim's negation and modality, unless its words have them."""
    said = f"{predicate} {claim.object}"
    modal, wordings = _MODALS.get(claim.modality, ("", frozenset()))
    if wordings.intersection(_words(said)):
        modal = ""
    negated = claim.polarity is Polarity.NEGATIVE and not _negated(f"{claim.subject} {said}")
    if not modal and not negated:
        return predicate
    first, _, rest = predicate.partition(" ")
    if modal:
        helper, first = modal, lemma(first.lower())
    elif first.lower() in _HELPERS:
        helper, first = first, ""
    else:
        helper, first = "does", lemma(first.lower())
    return " ".join(filter(None, (helper, "not" if negated else "", first, rest)))


def _conditional(condition: str) -> str:
    words = _words(condition)
    flat = _flat(condition)
    return flat if words and words[0] in _CONDITIONAL else f"if {flat}"


def _joined(*parts: str) -> str:
    """The parts in a row. A word that ends one and begins the next stands once, in whatever
    inflection: "enhances" and "enhanced skills" make "enhances skills"."""
    kept: list[str] = []
    for part in filter(None, parts):
        words = part.split()
        if kept and len(words) > 1 and lemma(fold(kept[-1])) == lemma(fold(words[0])):
            words = words[1:]
        kept.extend(words)
    return " ".join(kept)


def _after_first(body: str, name: str, addition: str) -> str:
    at = body.find(name)
    end = at + len(name)
    return f"{body[:end]}{addition}{body[end:]}" if at >= 0 else f"{body}{addition}"


def _says(body: str, phrase: str) -> bool:
    """Whether every word of ``phrase`` is in ``body`` already."""
    return set(_words(phrase)) - _ARTICLES <= set(_words(body))


def _negated(text: str) -> bool:
    words = text.casefold().replace("n't", " not").replace("n’t", " not")
    return bool(_NEGATED.intersection(_WORDS.findall(words)))


def _words(text: str) -> list[str]:
    return _WORDS.findall(fold(text))


def _flat(text: str) -> str:
    return " ".join(text.split()).rstrip(" .;,")
