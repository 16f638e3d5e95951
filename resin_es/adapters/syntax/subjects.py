"""What a clause is about: articles off, "we" and pronouns resolved where that is safe."""

from __future__ import annotations

from dataclasses import dataclass, field

from resin_es.adapters.syntax.clauses import Clause
from resin_es.adapters.syntax.lexicon import words
from resin_es.adapters.syntax.phrases import is_generic, phrase, without_article
from resin_es.adapters.syntax.tree import Tok, Tree, torn
from resin_es.extract.aliases import is_short, long_form

_PLURAL_PRONOUNS = frozenset({"they", "these", "those", "both", "them"})
AUTHORS = "the authors"
_POINTING = ("this ", "these ", "such ", "those ", "our ", "its ", "their ")


@dataclass(frozen=True)
class Entity:
    """A subject as it will be stored. ``own`` says whether its words stand in the sentence."""

    text: str
    generic: bool
    plural: bool
    confidence: float
    own: bool = True


@dataclass
class Memory:
    """What earlier sentences of a passage leave for later ones."""

    science: bool = False
    title: str = ""
    last: Entity | None = None
    nouns: dict[str, str] = field(default_factory=dict)
    full_names: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)


def plural(head: Tok) -> bool:
    return head.tag in ("NNS", "NNPS") or bool(head.kids("conj"))


def is_vague(head: Tok, tokens: list[Tok]) -> bool:
    """Pronouns and bare determiners: nothing to find by. "Most of the trees" is not vague."""
    if head.pos == "PRON" or head.lower in words("words", "vague_nouns"):
        return not any(child.dep in ("prep", "relcl", "acl") for child in head.children) or (
            head.tag in ("PRP", "EX", "WDT", "WP")
        )
    return not any(tok.pos in ("NOUN", "PROPN", "NUM", "ADJ", "VERB", "X", "SYM")
                   for tok in tokens)  # fmt: skip


def resolve(clause: Clause, memory: Memory) -> Entity | None:
    """The clause's subject; None where it cannot be told who is meant."""
    head, tokens = clause.subject, clause.subject_tokens
    if head.lower in ("we", "i", "us") and head.tag == "PRP":
        if memory.science:
            return Entity(AUTHORS, False, True, 0.8)
        name = memory.title.strip()
        if 0 < len(name.split()) <= 5:
            return Entity(name, False, False, 0.55)
        return Entity(AUTHORS, False, True, 0.65) if name else None
    if head.dep == "expl" or head.tag in ("EX",):
        return None
    if is_vague(head, tokens):
        return _antecedent(head, clause, memory)
    tree = clause.tree
    shown = tree.text(without_article(tokens))
    if len(shown) < 2 or len(tokens) > 45:
        return None
    confidence = 0.9 - (0.1 if len(tokens) > 18 else 0.0)
    if any(tok.lower in ("this", "these", "such", "those") for tok in head.kids("det", "amod")):
        confidence -= 0.2
        fuller = memory.nouns.get(head.lower)
        if fuller and len(tokens) == 2 and head.lemma not in words("words", "study_nouns"):
            return Entity(fuller, False, plural(head), 0.7, own=False)
    possessive = head.kid("poss")
    if possessive is not None and possessive.tag == "PRP$":
        confidence -= 0.3
    return Entity(shown, is_generic(head), plural(head), confidence)


def _antecedent(head: Tok, clause: Clause, memory: Memory) -> Entity | None:
    """A pronoun's antecedent: the main subject before it, if number agrees."""
    if head.lower not in ("it", "they", "he", "she"):
        return None
    if head.lower == "it" and any(
        part[0].lower in ("that", "to") and inner.dep in ("ccomp", "xcomp")
        for inner, part in clause.pieces
    ):  # fmt: skip
        return None  # "it appears that …": refers to nothing
    found = _within(clause)
    if found is None:
        found = memory.last
    if found is None or found.text == AUTHORS or found.text.lower().startswith(_POINTING):
        return None
    if (head.lower in _PLURAL_PRONOUNS) != found.plural:
        return None
    return Entity(found.text, found.generic, found.plural, 0.55, own=False)


def _within(clause: Clause) -> Entity | None:
    """The subject of the clause above, for "X grows, and it flowers"."""
    above = clause.chain[0].head
    while above.head is not above:
        subject = above.kid("nsubj", "nsubjpass")
        if subject is not None and subject is not clause.subject and subject.pos in (
            "NOUN", "PROPN"
        ):  # fmt: skip
            return named(subject, clause.tree)
        above = above.head
    subject = above.kid("nsubj", "nsubjpass")
    if subject is None or subject is clause.subject or subject.pos not in ("NOUN", "PROPN"):
        return None
    return named(subject, clause.tree)


def named(head: Tok, tree: Tree) -> Entity:
    tokens = without_article(phrase(head, tree))
    return Entity(tree.text(tokens), is_generic(head), plural(head), 0.9)


def aliases_of(tokens: list[Tok], tree: Tree, text: str, memory: Memory) -> tuple[str, ...]:
    """ "Long Name (LN)" right behind the subject, or what an earlier sentence said."""
    found: list[str] = []
    if tokens:
        end = tokens[-1].end
        for aside in tree.cleaned.asides:
            near = 0 <= aside.at - end <= 1 and is_short(aside.text)
            if near and long_form(text, aside.text) == text:
                found.append(aside.text)
                memory.full_names[aside.text] = text
    known = memory.full_names.get(text)
    if known and known != text:
        found.append(known)
    return tuple(found)


def remember(tree: Tree, memory: Memory) -> None:
    """Note the fuller noun phrases of a sentence, for "this pathway" in the next ones."""
    for tok in tree.tokens:
        if tok.pos != "NOUN" or tok.dep not in ("nsubj", "nsubjpass", "dobj", "attr", "pobj"):
            continue
        if any(child.lower in ("this", "these", "that", "those", "such", "its", "their", "our")
               for child in tok.kids("det", "amod", "poss")):  # fmt: skip
            continue
        if not tok.kid("amod", "compound", "nmod", "prep"):
            continue
        tokens = without_article(phrase(tok, tree))
        if 2 <= len(tokens) <= 12 and not torn(tokens, tree):
            memory.nouns[tok.lower] = tree.text(tokens)
