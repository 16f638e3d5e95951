"""Coordination put right: what looks like a second verb may be a list's next item."""

from __future__ import annotations

from resin_es.adapters.syntax.lexicon import words
from resin_es.adapters.syntax.tree import FINITE, Tok

_SUBJECTS = ("nsubj", "nsubjpass")


def attach(tok: Tok, head: Tok, dep: str) -> None:
    """Hang ``tok`` under ``head`` as ``dep``; left as it is where that would make a circle."""
    above = head
    while above.head is not above:
        if above is tok:
            return
        above = above.head
    if above is tok:
        return
    if tok.head is not tok:
        tok.head.children.remove(tok)
    tok.head, tok.dep = head, dep
    head.children.append(tok)
    head.children.sort(key=lambda child: child.i)


def attach_root(root: Tok, head: Tok, dep: str) -> None:
    """Hang a former root under ``head``."""
    root.head = root
    attach(root, head, dep)


def mend_conjunct(tok: Tok) -> None:
    """Repair one coordinated verb in place."""
    if tok.dep != "conj" or not tok.head.is_verb:
        return
    if tok.tag in ("VBD", "VBN"):
        _participle(tok)
    elif tok.tag == "VBG":
        _gerund(tok)
    elif tok.tag == "VB":
        _infinitive(tok)


def _gerund(conjunct: Tok) -> None:
    """ "measure expression, folding, and pairing": a noun among the objects."""
    verb, goal = conjunct.head, conjunct.head.kid("dobj")
    if verb.tag == "VBG" or goal is None or not verb.i < goal.i < conjunct.i:
        return
    if conjunct.kid("aux", *_SUBJECTS) is None:
        attach(conjunct, goal, "conj")
        conjunct.pos = "NOUN"


def _infinitive(conjunct: Tok) -> None:
    """ "offers a way to control A, restore B": the verb goes on with the infinitive."""
    verb = conjunct.head
    if verb.tag not in FINITE or verb.kid("aux") is not None or conjunct.kid("aux", *_SUBJECTS):
        return
    before = [tok for tok in verb.subtree(lambda child: child is conjunct)
              if tok.tag == "VB" and verb.i < tok.i < conjunct.i
              and any(child.lower == "to" for child in tok.kids("aux"))]  # fmt: skip
    if before:
        attach(conjunct, before[-1], "conj")


def _participle(conjunct: Tok) -> None:
    """ "shows a link between A and marked/conj elevations": an adjective, no second verb.

    Told by tense (a participle beside a present-tense verb) or by a parallel ("showed
    increased A and reduced B").
    """
    verb, noun = conjunct.head, conjunct.kid("dobj")
    goal = verb.kid("dobj", "attr") or next(
        (kid for prep in verb.kids("prep")[-1:] for kid in prep.kids("pobj")), None
    )
    if noun is None or goal is None or not verb.is_verb or noun.i < conjunct.i < goal.i:
        return
    if conjunct.kid("aux", "auxpass", *_SUBJECTS) is not None or goal.i > conjunct.i:
        return
    present = verb.tag in ("VBZ", "VBP") and verb.kid("auxpass") is None
    participles = [c for c in goal.subtree() if c.tag in ("VBN", "VBD") and c.dep == "amod"]
    parallel = any(c.lower != conjunct.lower and _change(c) for c in participles)
    if not (present or (parallel and _change(conjunct))):
        return
    for child in list(conjunct.children):
        attach(child, noun, "prep" if child.dep == "prep" else child.dep)
    attach(noun, goal, "conj")
    attach(conjunct, noun, "amod")
    conjunct.pos = "ADJ"
    linker = next((c for c in verb.kids("cc") if goal.i < c.i < conjunct.i), None)
    if linker is not None:
        attach(linker, goal, "cc")


def _change(tok: Tok) -> bool:
    return tok.lemma in words("causal", "change_verbs") or tok.lower in (
        "increased",
        "decreased",
        "reduced",
        "elevated",
    )
