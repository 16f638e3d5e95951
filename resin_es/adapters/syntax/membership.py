"""Explicit memberships: "fish such as trout", "Ann Lee, a driver, …", "known as …"."""

from __future__ import annotations

import re
from itertools import pairwise

from resin_es.adapters.syntax.claims import lowered
from resin_es.adapters.syntax.lexicon import words
from resin_es.adapters.syntax.links import Linked
from resin_es.adapters.syntax.phrases import closed_apposition, phrase, trim, without_article
from resin_es.adapters.syntax.tree import Tok, Tree, torn
from resin_es.model import EntityType

MAX_MEMBERS = 4
MAX_WORDS = 6
_NAME = re.compile(r"[^\W\d_]{2,}")


def memberships(tree: Tree) -> list[Linked]:
    """All explicit memberships of one sentence."""
    found: list[Linked] = []
    for tok in tree.tokens:
        if tok.lower == "as" and tok.dep == "prep" and _such(tok):
            found.extend(_such_as(tok, tree))
        elif tok.dep == "appos":
            linked = _apposition(tok, tree)
            if linked is not None:
                found.append(linked)
    return found


def _such(tok: Tok) -> bool:
    return any(child.lower == "such" and child.i == tok.i - 1 for child in tok.children)


def _such_as(prep: Tok, tree: Tree) -> list[Linked]:
    """ "T such as A, B and C": A, B and C are T."""
    kind = prep.head
    first = prep.kid("pobj")
    if first is None or kind.pos != "NOUN" or kind.i > prep.i or kind.tag != "NNS":
        return []
    type_tokens = _type_tokens(kind, prep, tree)
    members = _members(first)
    if not type_tokens or not members:
        return []
    found = []
    for member in members[:MAX_MEMBERS]:
        tokens = _member_tokens(member, members, tree)
        name = tree.text(without_article(tokens))
        if not _NAME.search(name) or len(tokens) > MAX_WORDS:
            continue
        claim = EntityType(
            subject=name, object=_singular(type_tokens, kind, tree), confidence=0.8,
            surface_predicate="is a",
        )  # fmt: skip
        found.append(Linked(claim, [*type_tokens, *tokens]))
    return found


def _members(first: Tok) -> list[Tok]:
    """The coordinated members, flattened; empty where the list looks misread."""
    members = [first]
    for member in members:
        members.extend(member.kids("conj"))
        if member.pos not in ("NOUN", "PROPN"):
            return []
    members.sort(key=lambda tok: tok.i)
    if any(right.i == left.i + 1 for left, right in pairwise(members)):
        return []  # two neighbours as two members: one name, misread
    return _without_half_names(members)


def _without_half_names(members: list[Tok]) -> list[Tok]:
    """ "lipid and cholesterol metabolism": "lipid" is half a name, not a member."""
    if len(members) < 2:
        return members
    half, last = members[-2:]
    linked = any(child.dep == "cc" and child.i == half.i + 1 for child in half.children)
    bare = half.tag in ("NN", "JJ") and half.kid("compound", "amod", "nmod") is None
    if linked and bare and last.kid("compound", "nmod") and half.pos == "NOUN":
        return [*members[:-2], last]
    return members


def _member_tokens(member: Tok, members: list[Tok], tree: Tree) -> list[Tok]:
    others = {tok.i for tok in members if tok is not member}

    def skip(child: Tok) -> bool:
        return child.i in others or child.dep in ("cc", "punct", "relcl", "appos", "advcl", "acl")

    return member.subtree(skip)


def _type_tokens(kind: Tok, prep: Tok, tree: Tree) -> list[Tok]:
    """The type's name: its head with the modifiers right before it."""
    tokens = [tok for tok in kind.subtree(lambda c: c.dep in (
        "relcl", "prep", "appos", "acl", "det", "predet", "poss", "nummod"
    )) if tok.i <= kind.i]  # fmt: skip
    openers = words("words", "member_type_openers") | words("words", "discourse_adverbs") | {","}
    commas = [index for index, tok in enumerate(tokens) if tok.text == ","]
    if commas:
        tokens = tokens[commas[-1] + 1 :]
    while len(tokens) > 1 and tokens[0].lower in openers:
        tokens = tokens[1:]
    if prep.i - kind.i > 3 or tokens[0].lower in openers or torn(tokens, tree):
        return []
    if any(tok.tag in ("IN", "WDT", "VBZ", "VBP", "VBD") for tok in tokens):
        return []
    if len(tokens) == 1 and kind.lemma in words("words", "vague_types"):
        return []
    return tokens


def _singular(tokens: list[Tok], kind: Tok, tree: Tree) -> str:
    text = lowered(tree.text(tokens), tokens)
    if kind.tag == "NNS" and kind.lemma != kind.lower and text.lower().endswith(kind.lower):
        return text[: len(text) - len(kind.text)] + kind.lemma
    return text


def _apposition(tok: Tok, tree: Tree) -> Linked | None:
    """ "Ann Lee, a driver at the depot, …": Ann Lee is a driver at the depot."""
    head = tok.head
    article = tok.kid("det")
    if head.pos not in ("PROPN", "NOUN") or article is None or article.lower not in ("a", "an"):
        return None
    if not closed_apposition(tok, tree) or tok.pos != "NOUN" or head.dep == "conj":
        return None
    if tok.lemma in words("words", "amount_nouns"):
        return None
    name_tokens = [t for t in phrase(head, tree) if t.i < tok.subtree()[0].i]
    name = tree.text(without_article(name_tokens))
    if name_tokens and trim(name_tokens)[-1] is not head:
        return None
    if not _NAME.search(name) or len(name_tokens) > 10 or head.i > tok.i:
        return None
    claim = EntityType(
        subject=name, object=tree.text(phrase(tok, tree)), surface_predicate="is", confidence=0.75
    )
    return Linked(claim, [*name_tokens, *phrase(tok, tree)])
