"""Repairs of the mistakes that the small parser makes most on factual prose.

Each is local and needs positive evidence; what stays doubtful is dropped later.
"""

from __future__ import annotations

from resin_es.adapters.syntax.conjuncts import attach, attach_root, mend_conjunct
from resin_es.adapters.syntax.lexicon import words
from resin_es.adapters.syntax.reclause import reclause, rejoin
from resin_es.adapters.syntax.tree import FINITE, Tok

_SUBJECTS = ("nsubj", "nsubjpass")


def mend(tokens: list[Tok]) -> None:
    """Repair one sentence's tokens in place."""
    for tok in [tok for tok in tokens if tok.head is tok]:
        reclause(tok, tokens)
        if tok.head is tok:
            _verbless(tok, tokens)
    for tok in tokens:
        _hour(tok, tokens)
        _tag(tok)
        _proviso(tok, tokens)
        _split_subject(tok, tokens)
        _loose_modifier(tok, tokens)
        _noun_subject(tok)
        rejoin(tok)
        mend_conjunct(tok)


def _hour(tok: Tok, tokens: list[Tok]) -> None:
    """ "9 am": no form of "be"."""
    if tok.lower in ("am", "pm") and tok.i and tokens[tok.i - 1].pos == "NUM":
        tok.pos, tok.tag = "NOUN", "NN"


def _proviso(tok: Tok, tokens: list[Tok]) -> None:
    """ "a refund provided that …": the condition hangs on the verb, not on the noun."""
    following = tokens[tok.i + 1].lower if tok.i + 1 < len(tokens) else ""
    if tok.lower not in ("provided", "providing") or following != "that":
        return
    clause = tok if tok.kid("ccomp", "acl", *_SUBJECTS) else None
    verb = tok.head
    while verb.head is not verb and not verb.is_verb:
        verb = verb.head
    if not verb.is_verb:
        return
    content = next((t for t in tokens[tok.i + 2 :] if t.is_verb and t.kid(*_SUBJECTS)), clause)
    attach(tok, verb, "advcl")
    if content is not None and content is not tok:
        attach(content, tok, "ccomp")


def _noun_subject(noun: Tok) -> None:
    """ "actinomycetes/nsubj isolates": what hangs on a noun as subject is its modifier."""
    if noun.pos not in ("NOUN", "PROPN") or noun.head is noun:
        return
    for child in noun.kids(*_SUBJECTS):
        if child.i < noun.i and child.pos in ("NOUN", "PROPN"):
            child.dep = "compound"


def _verbless(root: Tok, tokens: list[Tok]) -> None:
    """A main clause whose verb was taken for something below its subject."""
    _series(root)
    _verb_for_noun(root, tokens)
    _adjective_subject(root)
    if root.pos in ("NOUN", "PROPN", "NUM", "PRON", "ADJ"):
        _nominal_root(root, tokens)
    elif root.pos == "VERB" and root.tag in ("VBG", "VB") and root.kid("aux") is None:
        _verbal_root(root)


def _verb_for_noun(root: Tok, tokens: list[Tok]) -> None:
    """Two neighbours of which the wrong one became the verb: "Candida albicans/VBZ is …",
    "Congestion increases/nsubj ride/ROOT time"."""
    if not root.is_verb:
        return
    subject = root.kid("nsubj")
    after = root.kid("ccomp", "conj", "advcl", "dep")
    if (
        subject is not None and after is not None and after.tag in ("VBD", "VBZ", "VBP")
        and after.kid(*_SUBJECTS, "mark", "expl") is None and root.kid("aux", "auxpass") is None
        and not any(t.dep in ("cc", "punct") for t in tokens[root.i + 1 : after.i])
        and (after.i == root.i + 1 or (after.i > root.i and after.kid("ccomp") is not None))
    ):  # fmt: skip
        subject.dep, root.pos = "compound", "NOUN"
        _promote(after, root)
        return
    noun = root.kid("dobj")
    left = subject.kid("compound") if subject is not None else None
    if subject is None or noun is None or left is None or root.tag != "VBP":
        return
    if subject.tag in ("VBZ", "NNS") and subject.i + 1 == root.i and left.i + 1 == subject.i and (
        subject.lemma in words("causal", "change_verbs")
    ):  # fmt: skip
        _swap(subject, root, left, noun)


def _swap(verb: Tok, root: Tok, left: Tok, noun: Tok) -> None:
    root.children.remove(verb)
    verb.head, verb.dep, verb.pos, verb.tag = verb, "ROOT", "VERB", "VBZ"
    left.dep = "nsubj"
    for child in list(root.children):
        attach(child, verb, child.dep)
    root.pos = "NOUN"
    attach_root(root, noun, "compound")


def _series(root: Tok) -> None:
    """ "We did A, did B, and did C" read with A below B: the first verb leads."""
    first = root.kid("ccomp")
    if (
        first is None or first.i > root.i or not root.is_verb or first.kid(*_SUBJECTS) is None
        or root.kid(*_SUBJECTS) is not None or first.kid("mark") is not None
    ):  # fmt: skip
        return
    root.children.remove(first)
    first.head, first.dep = first, "ROOT"
    attach_root(root, first, "conj")


def _nominal_root(root: Tok, tokens: list[Tok]) -> None:
    alone = any(child.lower in ("this", "a", "an", "each", "every") for child in root.kids("det"))
    further = any(child.tag == "VBZ" for child in root.kids("conj"))
    verbal = root.kid("dobj") is not None or (further and root.kid("prep") is not None)
    if root.tag == "NNS" and (verbal or alone) and root.kid("compound") is not None:
        _plural_verb(root)
        return
    below = root.subtree(lambda child: child.dep == "relcl")
    if any(tok.tag in FINITE and tok.head.dep != "advcl" and tok.dep != "acl" for tok in below
           if not _under_that(tok)):  # fmt: skip
        return
    verb = next(
        (t for t in below if t.dep == "acl" and t.i > root.i and t.tag in ("VBN", "VBD")), None
    ) or _contact_clause(root)
    if verb is not None:
        _promote(verb, root)


def _under_that(tok: Tok) -> bool:
    """Whether a finite verb stands in a clause with a mark or pronoun of its own."""
    return any(child.dep == "mark" for child in tok.children) or tok.dep in ("advcl", "relcl")


def _contact_clause(root: Tok) -> Tok | None:
    """ "The netrin-1 | secretome presents …" read as a relative clause without pronoun."""
    for child in root.kids("relcl", "ccomp"):
        subject = child.kid(*_SUBJECTS)
        if subject is not None and subject.pos in ("NOUN", "PROPN") and child.tag in FINITE:
            if subject.subtree()[0].i == root.i + 1:
                return child
    return None


def _promote(verb: Tok, root: Tok) -> None:
    """Make ``verb`` the root and the old root (or its last noun) the subject."""
    inner = verb.kid(*_SUBJECTS)
    above = verb.head
    if verb.tag == "VBN":
        verb.tag = "VBD"
    verb.pos = "VERB"
    above.children.remove(verb)
    verb.head, verb.dep = verb, "ROOT"
    outer = [c for c in root.children if c.i > verb.i or _opens(c, root)]
    for child in outer:
        attach(child, verb, "advcl" if child.dep == "acl" else child.dep)
    if inner is not None:
        attach_root(root, inner, "compound")
    else:
        attach_root(root, verb, "nsubj")


def _adjective_subject(verb: Tok) -> None:
    """ "Discriminant/advcl analyses/dobj | revealed …": the opening phrase is the subject."""
    if verb.tag not in ("VBD", "VBZ", "VBP") or verb.kid(*_SUBJECTS, "expl") is not None:
        return
    for child in verb.kids("advcl", "npadvmod", "dep"):
        end = child.subtree()[-1].i
        if child.pos in ("ADJ", "NOUN", "PROPN") and child.i < verb.i and end + 1 == verb.i:
            child.dep, child.pos = "nsubj", "NOUN"
            return


def _plural_verb(root: Tok) -> None:
    """ "noise exposure alters properties": the plural noun with an object is a verb."""
    subject = root.kids("compound")[-1]
    if subject.i > root.i:
        return
    root.tag, root.pos = "VBZ", "VERB"
    for child in root.kids("appos"):
        child.dep = "dobj"
    for child in [c for c in root.children if c.i < subject.i and not _opens(c, root)]:
        attach(child, subject, child.dep)
    subject.dep = "nsubj"


def _verbal_root(root: Tok) -> None:
    """ "Live trapping captured …": a gerund or noun took the root from the finite verb."""
    if root.kid(*_SUBJECTS) is not None:
        return
    for verb in root.kids("dep", "advcl", "ccomp", "parataxis", "conj"):
        bare = verb.kid(*_SUBJECTS, "mark", "expl") is None
        if verb.i > root.i and verb.tag in ("VBD", "VBZ", "VBP") and bare:
            root.pos = "NOUN"
            _promote(verb, root)
            return


def _opens(child: Tok, root: Tok) -> bool:
    """Sentence adverbs and what a comma sets off before the subject."""
    if child.i > root.i:
        return False
    return child.dep in ("punct", "cc", "prep", "advcl", "npadvmod") or (
        child.dep == "advmod" and child.tag == "RB" and child.i == 0
    )


def _tag(tok: Tok) -> None:
    """A verb with a subject and no auxiliary is finite; a predicate with "is" is a verb."""
    helpers = tok.kids("aux")
    for helper in tok.kids("aux", "auxpass"):
        for subject in helper.kids(*_SUBJECTS):
            attach(subject, tok, subject.dep)
    if tok.pos == "ADJ" and any(c.lemma == "be" for c in tok.kids("aux", "auxpass")):
        tok.pos = "VERB"
    if tok.kid(*_SUBJECTS) is None or tok.kid("auxpass") is not None:
        return
    if tok.tag == "VB" and not helpers:
        tok.tag = "VBP"
    elif tok.tag == "VBN" and not helpers and tok.kid("nsubj") is not None:
        tok.tag = "VBD"


def _split_subject(verb: Tok, tokens: list[Tok]) -> None:
    """Pieces of one subject that all hang on the verb become one phrase."""
    for dep in _SUBJECTS:
        parts = verb.kids(dep)
        if not parts:
            continue
        head = parts[-1]
        for part in parts[:-1]:
            between = tokens[part.subtree()[-1].i + 1 : head.i]
            if all(tok.dep in (dep, "punct", "det", "amod", "compound") for tok in between):
                attach(part, head, "compound")
        first = head.subtree()[0].i
        for child in verb.kids("det", "dep"):
            if child.i == first - 1:
                attach(child, head, "det" if child.dep == "det" else "compound")


def _loose_modifier(verb: Tok, tokens: list[Tok]) -> None:
    """A phrase right behind the subject and before the verb belongs to the subject."""
    subject = verb.kid(*_SUBJECTS)
    if subject is None or not verb.is_verb or subject.i > verb.i:
        return
    for child in verb.kids("prep"):
        end = subject.subtree()[-1].i
        if subject.i < child.i < verb.i and child.i == end + 1:
            attach(child, subject, "prep")
