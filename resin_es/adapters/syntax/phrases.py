"""Noun phrases and clause texts: which tokens below a head belong to what is said of it."""

from __future__ import annotations

from resin_es.adapters.syntax.lexicon import words
from resin_es.adapters.syntax.tree import FINITE, Tok, Tree

_NOMINAL = ("NOUN", "PROPN", "PRON", "NUM", "SYM", "ADJ", "X", "DET")


def comma_before(tok: Tok, tree: Tree) -> bool:
    """Whether the token left of ``tok``'s subtree is a comma, dash or semicolon."""
    left = tok.subtree()[0].i
    return left > 0 and tree.tokens[left - 1].text in (",", ";", "—", "–", "-", ":")


def is_finite(verb: Tok) -> bool:
    """Whether a verb heads a finite clause (its own tag or an auxiliary's)."""
    return verb.tag in FINITE or any(child.tag in FINITE for child in verb.kids("aux", "auxpass"))


def has_subject(verb: Tok) -> bool:
    return verb.kid("nsubj", "nsubjpass", "csubj", "csubjpass", "expl") is not None


def _aside(child: Tok, tree: Tree) -> bool:
    """Children of a noun that say something else about it, to be claimed on their own."""
    if child.dep == "relcl":
        return comma_before(child, tree)
    if child.dep in ("prep", "advmod") and child.i < child.head.i and child.tag in ("IN", "TO"):
        return child.dep == "prep"
    if child.dep in ("advcl", "parataxis", "meta", "intj"):
        return True
    if child.dep == "acl":
        return comma_before(child, tree) and child.tag == "VBG"
    if child.dep == "conj":
        return child.is_verb and (is_finite(child) or has_subject(child))
    if child.dep == "appos":
        return closed_apposition(child, tree)
    return child.dep == "nsubj"


def closed_apposition(child: Tok, tree: Tree) -> bool:
    """An apposition between commas that is no list item in disguise."""
    if not comma_before(child, tree) or child.head.kid("conj") or child.kid("conj"):
        return False
    below = child.subtree()
    after = below[-1].i + 1
    closed = after >= len(tree.tokens) or tree.tokens[after].pos == "PUNCT"
    return (closed and below[0].tag in ("DT", "PRP$", "JJ", "JJS", "RBS")) or (
        closed and child.tag == "NNP"
    )


def _loose(tok: Tok, tree: Tree) -> list[Tok]:
    """The subtree of ``tok`` without asides, and without the marks that led to them."""

    def skip(child: Tok) -> bool:
        head = child.head
        if head.pos in _NOMINAL and _aside(child, tree):
            return True
        if child.dep == "cc" and head.pos in _NOMINAL:
            following = [c for c in head.kids("conj") if c.i > child.i]
            return bool(following) and _aside(following[0], tree)
        return False

    return tok.subtree(skip)


def phrase(tok: Tok, tree: Tree) -> list[Tok]:
    """A full noun phrase: modifiers and restrictive clauses stay, asides go."""
    tokens = _loose(tok, tree)
    return trim(tokens)


def trim(tokens: list[Tok]) -> list[Tok]:
    """Drop punctuation, conjunctions and sentence adverbs at the edges."""
    start, end = 0, len(tokens)
    while start < end and (tokens[start].pos == "PUNCT" or tokens[start].dep in ("cc", "punct")):
        if tokens[start].text in "([\"'“‘":
            break
        start += 1
    while end > start and (
        tokens[end - 1].dep in ("cc", "punct", "mark")
        or tokens[end - 1].pos == "PUNCT"
        or tokens[end - 1].lower in ("hence", "thus", "therefore", "and", "or")
    ):
        if tokens[end - 1].text in ")]\"'”’%":
            break
        end -= 1
    return tokens[start:end]


def without_article(tokens: list[Tok]) -> list[Tok]:
    """A subject's tokens without the leading article, so that one entity has one name."""
    if len(tokens) < 2 or tokens[0].end == tokens[1].start:  # "A-type": no article
        return tokens
    if tokens[0].lower in ("the", "a", "an") and tokens[0].dep == "det":
        return tokens[1:]
    return tokens


def is_generic(head: Tok) -> bool:
    """Whether a noun phrase names a class: bare plural or mass noun, "a X", "every X"."""
    if head.pos != "NOUN" or head.kid("poss", "nummod"):
        return False
    determiners = [child.lower for child in head.kids("det", "predet")]
    quantifiers = words("words", "generic_quantifiers") | {"a", "an"}
    if head.kid("prep", "acl", "relcl") and any(word in ("a", "an") for word in determiners):
        return False  # "a role for the gene": one thing, no class
    if determiners:
        return all(word in quantifiers for word in determiners)
    named = [child for child in head.kids("compound", "nmod") if child.pos == "PROPN" and child.i]
    return not named


def head_names(head: Tok) -> str:
    """Lemma of a noun phrase's head."""
    return head.lemma
