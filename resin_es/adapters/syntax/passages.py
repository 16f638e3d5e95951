"""Passages without a model, by one stated rule (see docs/reader.md).

A passage goes on while sentences keep to its entities or lean on what was said; it ends at a
section label, at a turn of discourse, where nothing is shared, or when it is full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from resin_es.adapters.syntax.clauses import Clause
from resin_es.adapters.syntax.lexicon import load, table, words
from resin_es.adapters.syntax.links import conditional
from resin_es.adapters.syntax.phrases import phrase, trim, without_article
from resin_es.adapters.syntax.tree import Tok, Tree, torn
from resin_es.adapters.syntax.walk import clauses
from resin_es.model import EvidenceRole, PassageDraft
from resin_es.ports import ReadingWindow

MAX_SENTENCES = 5
MIN_SENTENCES = 2
MAX_CHARS = 1_200
_NOMINAL = ("NOUN", "PROPN")


@dataclass(frozen=True)
class _Look:
    """What the rule sees of one sentence."""

    tree: Tree
    size: int
    section: str
    opener: str
    heads: frozenset[str]
    clauses: tuple[Clause, ...]


def construct(window: ReadingWindow, trees: Sequence[Tree]) -> list[PassageDraft]:
    """Drafts that partition ``window.sentences`` in order."""
    looks = [
        _look(tree, len(sentence.text))
        for sentence, tree in zip(window.sentences, trees, strict=True)
    ]
    drafts: list[PassageDraft] = []
    first = 0
    for index in range(1, len(looks) + 1):
        if index == len(looks) or _breaks(looks[first:index], looks[index]):
            drafts.append(_draft(looks[first:index], first, index - 1, window.title))
            first = index
    return drafts


def _look(tree: Tree, size: int) -> _Look:
    lowered = tree.cleaned.parsed.lower()
    cues = load("discourse")
    opener = ""
    for kind in ("shifts", "carries_on"):
        if any(lowered.startswith(cue) and not lowered[len(cue) : len(cue) + 1].isalpha()
               for cue in cues[kind]):  # fmt: skip
            opener = kind
            break
    heads = frozenset(tok.lemma for tok in tree.tokens if _names(tok))
    label = tree.cleaned.label.lower()
    section = table("labels", "roles").get(label, "") or ("label" if label else "")
    return _Look(tree, size, section, opener, heads, tuple(clauses(tree)))


def _names(tok: Tok) -> bool:
    """Whether a token heads a phrase that may be an entity."""
    return (
        tok.pos in _NOMINAL
        and tok.dep != "compound"
        and tok.lemma not in words("words", "study_nouns")
        and tok.lemma not in words("words", "vague_types")
        and len(tok.lemma) > 1
        and any(char.isalpha() for char in tok.lemma)
    )


def _breaks(passage: Sequence[_Look], following: _Look) -> bool:
    """Whether ``following`` starts a new passage."""
    if len(passage) >= MAX_SENTENCES:
        return True
    if sum(look.size for look in passage) + following.size > MAX_CHARS:
        return True
    if following.section:
        return True
    if following.opener == "carries_on" or len(passage) < MIN_SENTENCES:
        return False
    if following.opener == "shifts":
        return True
    return not following.heads & frozenset().union(*(look.heads for look in passage[-2:]))


def _draft(looks: Sequence[_Look], first: int, last: int, title: str) -> PassageDraft:
    entity, lemma = _main_entity(looks, title)
    return PassageDraft(
        first=first,
        last=last,
        main_entity=entity,
        entity_type=_entity_type(looks, lemma),
        focus=_focus(looks, lemma),
        role=_role(looks),
    )


# ---------------------------------------------------------------- what it is about


def _main_entity(looks: Sequence[_Look], title: str) -> tuple[str, str]:
    """The most central noun phrase and its head: by sentences, subjects, title."""
    scores: Counter[str] = Counter()
    names: dict[str, Counter[str]] = {}
    lowered = title.lower()
    for look in looks:
        for lemma in look.heads:
            scores[lemma] += 2
        for tok in look.tree.tokens:
            if not _names(tok):
                continue
            scores[tok.lemma] += 3 if tok.dep in ("nsubj", "nsubjpass") else 0
            name = _name(tok, look.tree)
            if name:
                names.setdefault(tok.lemma, Counter())[name] += 1
    for lemma in scores:
        scores[lemma] += 1 if lemma in lowered else 0
    for lemma, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
        if lemma in names:
            found = names[lemma]
            best = min(found, key=lambda name: (-found[name], -min(len(name), 30), name))
            return best, lemma
    return "", ""


_POINTERS = frozenset("these this those that such no its their our his her several some".split())


def _name(tok: Tok, tree: Tree) -> str:
    """A short name for a phrase: pointers and articles off; "" where none is short enough."""
    tokens = _named(phrase(tok, tree))
    if len(tokens) > 8:
        near = ("amod", "compound", "nmod", "nummod", "punct")
        tokens = _named(tok.subtree(lambda child: child.dep not in near))
    if not tokens or len(tokens) > 8 or torn(tokens, tree):
        return ""
    name = tree.text(tokens)
    return name if len(name) > 2 else ""


def _named(tokens: list[Tok]) -> list[Tok]:
    tokens = trim(without_article(tokens))
    while tokens and tokens[0].lower in _POINTERS:
        tokens = tokens[1:]
    while tokens and tokens[-1].dep == "case":
        tokens = tokens[:-1]
    return tokens


def _entity_type(looks: Sequence[_Look], lemma: str) -> str:
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


def _focus(looks: Sequence[_Look], lemma: str) -> str:
    """What is said first of the main entity, in a few words."""
    every = [(look, clause) for look in looks for clause in look.clauses]
    about = [pair for pair in every if pair[1].subject.lemma == lemma] or every
    for look, clause in about:
        for _, tokens in clause.pieces:
            said = [*clause.group, *tokens][:10]
            return look.tree.text(sorted(said, key=lambda tok: tok.i))
    return ""


# ---------------------------------------------------------------- what it is good for


def _role(looks: Sequence[_Look]) -> EvidenceRole:
    """By section label first, else by the cues that most sentences show."""
    section = looks[0].section
    if section in {role.value for role in EvidenceRole}:
        return EvidenceRole(section)
    votes: Counter[str] = Counter()
    for look in looks:
        votes.update(_cues(look))
    if not votes:
        return EvidenceRole.OTHER
    order = ("condition", "cause", "method", "result", "event", "membership", "attribute",
             "relation", "background")  # fmt: skip
    best = max(votes.values())
    return EvidenceRole(next(role for role in order if votes[role] == best))


def _cues(look: _Look) -> set[str]:
    found: set[str] = set()
    lowered = {tok.lower for tok in look.tree.tokens}
    for role in ("method", "result", "background", "event"):
        if lowered & words("discourse", role):
            found.add(role)
    for clause in look.clauses:
        if conditional(clause) or (clause.chain[0].kid("aux") and lowered & {"must", "shall"}):
            found.add("condition")
        lemma = clause.verb.lemma
        if lemma in words("causal", "effect_verbs") or lemma in words("causal", "change_verbs"):
            found.add("cause")
        elif lemma == "be":
            found.add("membership" if clause.verb.kid("attr") else "attribute")
        elif lemma in words("words", "attributive_verbs"):
            found.add("attribute")
        else:
            found.add("relation")
    return found
