"""Clauses put right: which of several verbs a sentence's main one is."""

from __future__ import annotations

from resin_es.adapters.syntax.conjuncts import attach, attach_root
from resin_es.adapters.syntax.tree import FINITE, Tok

_SUBJECTS = ("nsubj", "nsubjpass")
_SETTING_OUT = ("aim", "seek", "attempt", "try", "intend", "strive")
_TURNING = ("while", "whereas", "yet", "but", "although", "though")


def no_verb(tok: Tok, nouns: frozenset[str]) -> None:
    """ "X alkaloids/VBZ Y": a present-tense form of a word that is only ever a noun; "Nrf2"."""
    if tok.pos == "VERB" and tok.text[-1:].isdigit():
        tok.pos, tok.tag = "PROPN", "NNP"
    if tok.pos == "VERB" and tok.tag in ("VBZ", "VBP") and tok.lemma in nouns:
        tok.pos, tok.tag = "NOUN", "NNS" if tok.lower.endswith("s") else "NN"


def reclause(root: Tok, tokens: list[Tok]) -> None:
    """Repair a main clause whose subject holds the real main verb, or the other way round."""
    if not root.is_verb:
        _listed_subject(root, tokens)
        return
    root = _set_out(root)
    _fronted(root, tokens)
    _two_clauses(root, tokens)
    _reduced(root, tokens)
    _noun_root(root)


def _set_out(root: Tok) -> Tok:
    """ "This study aimed/acl to …, genetically selected/ROOT …": the study's verb leads."""
    subject = root.kid(*_SUBJECTS)
    verb = subject.kid("acl") if subject is not None else None
    if subject is None or verb is None or verb.lemma not in _SETTING_OUT:
        return root
    if verb.tag not in ("VBN", "VBD") or verb.i != subject.i + 1 or verb.kid("xcomp") is None:
        return root
    _become_root(verb)
    verb.tag = "VBD"
    for child in [child for child in root.children if child.i < subject.i]:
        attach(child, verb, child.dep)
    attach(subject, verb, "nsubj")
    attach_root(root, verb, "dep")
    return verb


def _listed_subject(root: Tok, tokens: list[Tok]) -> None:
    """ "Sales/ROOT of A, B, and C/nsubj rose/conj": C is the list's last member."""
    if root.pos not in ("NOUN", "PROPN") or root.kid(*_SUBJECTS) is not None:
        return
    for verb in root.kids("conj"):
        last = verb.kid(*_SUBJECTS)
        if not verb.is_verb or last is None or last.i < 2 or last.i > verb.i:
            continue
        begin = last.subtree()[0].i
        linker = tokens[begin - 1] if begin else last
        if linker.tag == "CC" and linker.head is root and tokens[begin - 2].text == ",":
            dep = last.dep
            _become_root(verb)
            attach_root(root, verb, dep)
            attach(last, root, "conj")
            return


def _fronted(root: Tok, tokens: list[Tok]) -> None:
    """ "In the patient group, A/conj and B were seen": the list is the subject."""
    if root.kid(*_SUBJECTS, "expl", "csubj", "csubjpass") is not None:
        return
    finite = root.tag in FINITE or any(tok.tag in FINITE for tok in root.kids("aux", "auxpass"))
    first = min([root.i, *(tok.i for tok in root.kids("aux", "auxpass", "neg", "advmod"))])
    for opener in root.kids("prep", "advcl"):
        noun = opener.kid("pobj", "dobj")
        below = opener.subtree()
        if not finite or noun is None or opener.i != below[0].i or below[-1].i + 1 != first:
            continue
        for member in noun.kids("conj", "appos"):
            begin = member.subtree()[0].i
            if tokens[begin - 1].text == "," and member.pos in ("NOUN", "PROPN"):
                attach(member, root, "nsubjpass" if root.kid("auxpass") else "nsubj")
                return


def _become_root(verb: Tok) -> None:
    if verb.head is not verb:
        verb.head.children.remove(verb)
    verb.head, verb.dep, verb.pos = verb, "ROOT", "VERB"


def _two_clauses(root: Tok, tokens: list[Tok]) -> None:
    """ "Most farms operated/acl …, while 10 % practised/ROOT …": two clauses, not one."""
    subjects = [child for child in root.kids(*_SUBJECTS) if child.i < root.i]
    if len(subjects) < 2:
        return
    first, second = subjects[0], subjects[-1]
    marker = tokens[second.subtree()[0].i - 1]
    if marker.lower not in _TURNING or marker.i < first.i:
        return
    verb = first.kid("acl")
    if verb is not None and verb.tag in ("VBN", "VBD") and verb.i > first.i:
        _become_root(verb)
        verb.tag = "VBD"
        attach(first, verb, "nsubj")
    elif first.tag == "NNS" and first.kid("compound") and first.kid("appos"):
        verb = first
        _become_root(verb)
        verb.tag = "VBZ"
        left = [child for child in verb.children if child.i < verb.i]
        subject = next(child for child in reversed(left) if child.dep == "compound")
        for child in left:
            if child is not subject:
                attach(child, subject, child.dep)
        subject.dep, subject.pos = "nsubj", "NOUN"
        for child in verb.kids("appos"):
            child.dep = "dobj"
    else:
        return
    for child in [child for child in root.children if child.i < first.i]:
        attach(child, verb, child.dep)
    attach(root, verb, "conj")
    attach(marker, verb, "cc")


def _reduced(root: Tok, tokens: list[Tok]) -> None:
    """ "SCC determined/ROOT in milk | was found …": the first is a participle."""
    subject = root.kid(*_SUBJECTS)
    if root.tag not in ("VBD", "VBN") or subject is None or root.kid("aux", "auxpass"):
        return
    if any(child.tag == "WRB" for child in root.children):
        return  # "how they came here is unknown"
    for verb in root.kids("ccomp", "conj", "dep", "advcl"):
        helpers = verb.kids("aux", "auxpass")
        finite = verb.tag in ("VBZ", "VBP", "VBD") or any(tok.tag in FINITE for tok in helpers)
        opened = verb.kid(*_SUBJECTS, "mark", "expl", "csubj") is not None
        first = min(tok.i for tok in (verb, *helpers))
        goal = root.kid("dobj")
        if goal is not None and goal.i < first:
            continue
        linked = any(tok.dep in ("cc", "punct") for tok in tokens[root.i + 1 : first])
        if not finite or opened or linked or verb.i < root.i or root.i + 1 >= first:
            continue
        _become_root(verb)
        for child in [child for child in root.children if child.i > first or child.i < subject.i]:
            attach(child, verb, child.dep)
        attach(subject, verb, "nsubjpass" if verb.kid("auxpass") else "nsubj")
        root.tag = "VBN"
        attach(root, subject, "acl")
        return


def _noun_root(root: Tok) -> None:
    """ "Longitudinal/nsubj decreases/ROOT in …": an adjective before it makes it a noun."""
    subject = root.kid("nsubj")
    if (
        root.tag == "VBZ" and subject is not None and subject.pos == "ADJ"
        and subject.i + 1 == root.i and not subject.children
        and root.kid("prep") is not None and root.kid("dobj", "aux", "ccomp") is None
    ):  # fmt: skip
        root.pos, root.tag, subject.dep = "NOUN", "NNS", "amod"


def _past_after_infinitive(conjunct: Tok) -> bool:
    """ "employed A to screen B and designed/VBD C": the past goes on with "employed"."""
    verb = conjunct.head
    goal = conjunct.kid("dobj")
    if conjunct.dep != "conj" or verb.tag != "VB" or goal is None:
        return False
    bare = conjunct.kid("aux", "auxpass", *_SUBJECTS) is None
    if conjunct.tag not in ("VBD", "VBN") or goal.i < conjunct.i or not bare:
        return False
    first = verb.kid("dobj")
    if first is not None and any(tok.tag == "VBN" for tok in first.kids("amod")):
        return False  # "to show impaired A and reduced B": a parallel
    above = verb
    while above.head is not above:
        above = above.head
        if above.is_verb and above.tag == "VBD" and above.dep != "relcl":
            attach(conjunct, above, "conj")
            conjunct.tag, conjunct.pos = "VBD", "VERB"
            for linker in [c for c in verb.kids("cc") if c.i < conjunct.i]:
                attach(linker, above, "cc")
            return True
    return False


def rejoin(conjunct: Tok) -> None:
    """ "provide a way of reading X and inform/VB Y": a bare verb goes on with the finite one."""
    gerund = conjunct.head
    if _past_after_infinitive(conjunct):
        return
    if conjunct.dep != "conj" or gerund.tag != "VBG" or conjunct.tag not in ("VB", "VBP"):
        return
    if conjunct.kid("aux", "auxpass", *_SUBJECTS) is not None:
        return
    above = gerund
    while above.head is not above:
        above = above.head
        if above.tag == "VBP" or any(tok.tag == "MD" for tok in above.kids("aux")):
            linker = next((tok for tok in gerund.kids("cc") if tok.i < conjunct.i), None)
            attach(conjunct, above, "conj")
            if linker is not None:
                attach(linker, above, "cc")
            conjunct.tag, conjunct.pos = above.tag, "VERB"
            return
        if above.is_verb and above.tag in FINITE:
            return
