"""What a passage is about: the phrase that recurs, and what is said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from resin_es.adapters.syntax.clauses import Clause
from resin_es.adapters.syntax.lexicon import words
from resin_es.adapters.syntax.passages_look import Look, names
from resin_es.adapters.syntax.phrases import phrase, trim, without_article
from resin_es.adapters.syntax.tree import Tok, Tree, torn

_LONGEST_NAME = 6
_LONGEST_FOCUS = 16
_JOINS = frozenset("-–—/‐‑")
_SUBJECTS = ("nsubj", "nsubjpass")
_NEAR = ("amod", "advmod", "compound", "nmod", "nummod", "punct", "poss")


def main_entity(looks: Sequence[Look], title: str) -> tuple[str, str]:
    """The most central noun phrase and its head: by sentences, subjects and the title.

    Words of quantity and sampling are no topic. Equal scores go to the one named first.
    """
    scores: Counter[str] = Counter()
    found: dict[str, Counter[str]] = {}
    for look in looks:
        scores.update(dict.fromkeys(look.heads, 2))
        scores.update(dict.fromkeys(_parts(look) - look.heads, 1))
        scores.update(dict.fromkeys(_subjects(look), 2))
        for tok in look.tree.tokens:
            name = _name(tok, look.tree) if names(tok) and not _piece(tok, look.tree) else ""
            if name:
                found.setdefault(tok.lemma, Counter())[name] += 1
    order = {lemma: at for at, lemma in enumerate(found)}
    titled = set(title.lower().replace("-", " ").replace("‐", " ").split())
    for lemma in scores:
        if lemma in titled or f"{lemma}s" in titled:
            scores[lemma] += 3
        if lemma in words("passages", "no_topics"):
            scores[lemma] -= 100
    for lemma, score in sorted(scores.items(), key=lambda item: (-item[1], order.get(item[0], 0))):
        if lemma in found and score > 0:
            return _best_name(found[lemma], title), lemma
    return "", ""


def _best_name(found: Counter[str], title: str) -> str:
    """The name used most, then one that the title has, then the longer one."""
    lowered = title.lower()
    return min(
        found,
        key=lambda name: (
            _bald(name) - found[name], name.lower() not in lowered, -min(len(name), 30), name,
        ),
    )  # fmt: skip


def _bald(name: str) -> float:
    """A common noun by itself ("extracts") counts less than one that says which."""
    return 1.5 if " " not in name and name.islower() else 0.0


def _subjects(look: Look) -> set[str]:
    """Heads of the sentence's subjects, and of what "the role of X", "X of Y" is about."""
    heads: set[str] = set()
    for tok in look.tree.tokens:
        if tok.dep not in _SUBJECTS or _reports(tok):
            continue
        if tok.lemma in words("passages", "no_topics"):
            inner = [one for prep in tok.kids("prep") for one in prep.kids("pobj")]
            heads.update(one.lemma for one in inner if names(one))
        elif names(tok):
            heads.add(tok.lemma)
    return heads


def _reports(tok: Tok) -> bool:
    """Whether a subject only brings the news: "the assay revealed …"."""
    verb = tok.head
    return tok.dep == "nsubj" and (
        verb.lemma in words("passages", "reporters")
        or (verb.kid("ccomp") is not None and verb.lemma in words("passages", "findings"))
    )


def _parts(look: Look) -> set[str]:
    """Proper names inside other names: "DHHC7 knockout" speaks of DHHC7, too."""
    return {tok.lemma for tok in look.tree.tokens if tok.dep == "compound" and tok.pos == "PROPN"}


def _piece(tok: Tok, tree: Tree) -> bool:
    """Whether a token is a piece of a longer written name: "LKB1" in "SIRT1–LKB1–AMPK"."""
    shown = tree.cleaned.parsed
    left, right = shown[max(0, tok.start - 1) : tok.start], shown[tok.end : tok.end + 1]
    if right in _JOINS and right:
        return True
    if left in _JOINS and left:
        return not any(child.i < tok.i and child.dep in _NEAR for child in tok.children)
    following = tree.tokens[tok.i + 1 : tok.i + 2]
    return bool(following) and tok.dep in _SUBJECTS and _misread(following[0])


def _misread(tok: Tok) -> bool:
    """A bare verb form right before a noun: "ankyrin repeat transferases", a name cut short."""
    return tok.tag in ("VBP", "VB") and bool(tok.children) and any(
        child.dep in ("dobj", "obj") and child.i == tok.i + len(child.subtree())
        and not child.kid("det") for child in tok.children
    )  # fmt: skip


def _name(tok: Tok, tree: Tree) -> str:
    """A short name for a phrase, without pointers and quantities; "" where there is none."""
    tokens = _bare(phrase(tok, tree))
    if len(tokens) > _LONGEST_NAME:
        tokens = _bare(tok.subtree(lambda child: child.dep not in _NEAR))
    if not tokens or len(tokens) > _LONGEST_NAME or torn(tokens, tree):
        return ""
    tokens = _joined(tokens, tree)
    name = tree.text(tokens)
    listed = "," in name and tok is not tokens[-1]
    broken = any(word[-1] in _JOINS for word in name.split())
    return "" if len(name) < 2 or listed or broken or tok not in tokens else name


def _joined(tokens: list[Tok], tree: Tree) -> list[Tok]:
    """The rest of a hyphenated first word: "pre-" before "harvest sprouting"."""
    first = tokens[0].i
    while (
        first
        and tree.tokens[first - 1].end == tree.tokens[first].start
        and (tree.tokens[first].text in _JOINS or tree.tokens[first - 1].text in _JOINS)
    ):
        first -= 1
    return [*tree.tokens[first : tokens[0].i], *tokens]


def _bare(tokens: list[Tok]) -> list[Tok]:
    tokens = trim(without_article(tokens))
    while tokens and _quantity(tokens[0]):
        tokens = trim(tokens[1:])
    while tokens and tokens[-1].dep == "case":
        tokens = tokens[:-1]
    return tokens


def _quantity(tok: Tok) -> bool:
    return tok.tag == "CD" or tok.text in "()%" or tok.lower in words("passages", "quantity_words")


# ---------------------------------------------------------------- what is said of it


def entity_type(looks: Sequence[Look], lemma: str) -> str:
    """The type that a copula in the passage gives the main entity."""
    for look in looks:
        for clause in look.clauses:
            noun = clause.verb.kid("attr") if clause.verb.lemma == "be" else None
            if noun is None or clause.subject.lemma != lemma or noun.pos != "NOUN":
                continue
            if any(child.lower in ("a", "an") for child in noun.kids("det")):
                near = noun.subtree(lambda child: child.dep not in ("amod", "compound", "nmod"))
                return look.tree.text(near)
    return ""


def focus(looks: Sequence[Look], lemma: str) -> str:
    """What is said first of the main entity, in a few words.

    Main clauses before conceded ones; where the entity is no subject, a whole clause that
    names it.
    """
    every = [(look, clause) for look in looks for clause in look.clauses if clause.pieces]
    about = [pair for pair in every if pair[1].subject.lemma == lemma]
    about.sort(key=lambda pair: pair[1].kind in ("contrast", "relative"))
    for look, clause in about:
        return look.tree.text(_said(clause, clause.group))
    naming = [pair for pair in every if any(tok.lemma == lemma for tok in pair[1].tokens())]
    for look, clause in naming or every:
        return look.tree.text(_said(clause, [*clause.subject_tokens, *clause.group]))
    return ""


def _said(clause: Clause, lead: list[Tok]) -> list[Tok]:
    """Predicate and whole complements, as many as fit; the first is cut where it is long."""
    said = list(lead)
    for index, (_, tokens) in enumerate(clause.pieces):
        if index and len(said) + len(tokens) > _LONGEST_FOCUS:
            break
        said += tokens
    return sorted(said, key=lambda tok: tok.i)[: _LONGEST_FOCUS + 4]
