"""Signs that a parse went wrong. A clause that shows one is dropped: precision first."""

from __future__ import annotations

from resin_es.adapters.syntax.clauses import Clause
from resin_es.adapters.syntax.lexicon import load, table
from resin_es.adapters.syntax.tree import FINITE, Tok, torn

_TURNING = ("while", "whereas", "yet", "but", "although", "though", "whilst")
_REDUCED = ("follow", "accompany", "support", "base", "compare", "lead", "associate", "couple")
_LINKING = ("CCONJ", "PUNCT", "ADV", "PART", "SCONJ")


def flaw(clause: Clause) -> str:
    """Why the clause cannot be trusted, in a word; "" if it can."""
    if not clause.group:
        return "no-predicate"
    if not any(tok.tag in FINITE for tok in clause.group):
        return "not-finite"
    if _disagrees(clause):
        return "number"
    if clause.shared_subject:
        return _shared_flaw(clause)
    if clause.kind == "relative":
        return "stray-verb" if _stray_verb(clause) else ""
    return _order_flaw(clause) or ("stray-verb" if _stray_verb(clause) else "")


def _disagrees(clause: Clause) -> bool:
    """A singular subject with a plural verb, or "we" with "is": half of the subject is lost."""
    subject = clause.subject
    finite = next((tok for tok in clause.group if tok.tag in FINITE), clause.verb)
    if finite.tag == "VBZ":
        return subject.lower in ("we", "they", "these", "those", "i")
    named = subject.tag == "NNP" and not subject.text.endswith("s")
    listed = any(tok.tag == "CC" for tok in clause.subject_tokens)
    if (
        finite.lower == "are"
        and named
        and not listed
        and not subject.kid("conj", "cc", "nummod", "appos")
    ):
        return True
    if finite.tag != "VBP" or subject.tag not in ("NN", "NNP") or subject.kid("conj", "prep"):
        return False
    if subject.tag == "NNP" and subject.text.endswith("s"):
        return False  # "HMOs"
    return (
        subject.lower == subject.lemma
        and not subject.kid("nummod", "cc", "appos")
        and (
            not any(
                child.lower in ("all", "both", "these", "many") for child in subject.kids("det")
            )
        )
    )


def _order_flaw(clause: Clause) -> str:
    subject, verb = clause.subject_tokens, clause.verb
    if clause.subject.dep == "expl":
        return ""
    if subject[0].i > verb.i or subject[-1].i > clause.group[0].i:
        return "subject-after-verb"
    if torn(subject, clause.tree):
        return "torn-subject"
    if any(tok.tag in ("WDT", "WP") for tok in subject[-1:]) or any(map(_finite_inside, subject)):
        return "clause-as-subject"
    if any(tok.dep in ("dep", "meta") for tok in (*subject, *clause.group)):
        return "unattached"
    before = clause.tree.tokens[subject[0].i - 1] if subject[0].i else None
    if before is not None and before.tag == "CC" and not _joins_clauses(before, clause):
        return "half-a-subject"
    if before is not None and before.pos in ("NOUN", "PROPN", "ADJ", "NUM") and (
        subject[0].pos not in ("DET", "PRON") and before.head is not subject[0]
        and before.dep != "npadvmod" and not _opening_phrase(before, clause)
    ):  # fmt: skip
        return "half-a-subject"
    if _gap_holds_noun(clause):
        return "noun-before-verb"
    if _second_subject(clause):
        return "second-subject"
    return "noun-as-verb" if _noun_as_verb(clause) else ""


def _second_subject(clause: Clause) -> bool:
    """ "Most farms …, while 10 % practised …": the verb belongs to what stands before it."""
    gap = clause.tree.tokens[clause.subject_tokens[-1].i + 1 : clause.group[0].i]
    turns = any(tok.lower in _TURNING or (tok.lower == "that" and tok.tag == "IN") for tok in gap)
    return turns and (bool(gap) and gap[-1].pos in ("NOUN", "PROPN", "NUM", "PRON"))


def _noun_as_verb(clause: Clause) -> bool:
    """ "personalized, combination approaches/VBZ to …", "Longitudinal decreases/VBZ in …"."""
    verb, subject = clause.verb, clause.subject_tokens
    if len(clause.group) > 1 or verb.tag not in ("VBZ", "VBP"):
        return False
    first = clause.pieces[0][0] if clause.pieces else None
    if first is None or first.dep != "prep":
        return False
    if verb.lemma in load("words")["nouns_like_verbs"].get(first.lower, ()):
        return True
    return len(subject) == 1 and subject[0].pos == "ADJ"


def _joins_clauses(word: Tok, clause: Clause) -> bool:
    """Whether an "and" before the subject joins whole clauses."""
    return word.head.is_verb or word.head is word or word.head in clause.chain


def _finite_inside(tok: Tok) -> bool:
    """A finite verb in a subject that no relative or that-clause holds."""
    if tok.tag not in ("VBD", "VBZ", "VBP", "MD") or tok.pos not in ("VERB", "AUX"):
        return False
    verb = tok.head if tok.dep in ("aux", "auxpass") else tok
    while verb.dep == "conj":
        verb = verb.head
    if verb.dep in ("acl", "ccomp", "csubj", "pcomp", "advcl"):
        return not any(child.dep in ("mark", "nsubj", "nsubjpass") for child in verb.children)
    return verb.dep != "relcl"


def _opening_phrase(before: Tok, clause: Clause) -> bool:
    """Whether a noun right before the subject ends a phrase of its own: "In 2010 fares rose"."""
    above = before
    while above.head is not above and above.head not in clause.chain:
        above = above.head
    return above.head in clause.chain and above.dep in ("prep", "advcl", "npadvmod")


def _gap_holds_noun(clause: Clause) -> bool:
    """A noun between subject and predicate that belongs to neither: a misread subject."""
    start, end = clause.subject_tokens[-1].i + 1, clause.group[0].i
    between = clause.tree.tokens[start:end]
    if not between or between[0].pos == "PUNCT":
        return False
    inside = {tok.i for tok in clause.subject.subtree()}
    return any(tok.pos in ("NOUN", "PROPN") and tok.i not in inside for tok in between)


def _shared_flaw(clause: Clause) -> str:
    """Between two coordinated verbs' phrases only linking words may stand."""
    own = [tok for tok in clause.group if tok not in clause.borrowed]
    if not own:
        return "no-predicate"
    first = own[0].i
    before = clause.tree.tokens[first - 1] if first else None
    if before is None or before.pos not in _LINKING:
        return "noun-before-verb"
    if before.pos == "PUNCT" and own[0].tag == "VBN" and own[0].lemma in _REDUCED:
        return "reduced"  # "was confirmed by A, followed by B"
    return "stray-verb" if _stray_verb(clause) else ""


def _stray_verb(clause: Clause) -> bool:
    """A finite verb without a subject inside the complements."""
    skip = {tok.i for tok in clause.group}
    return any(_stray(tok) for tok in clause.rest if tok.i not in skip) or any(
        _stray(tok) for tok in (clause.subject_tokens if not clause.shared_subject else [])
    )


def _stray(tok: Tok) -> bool:
    if tok.pos not in ("VERB", "AUX") or tok.tag not in ("VBD", "VBZ", "VBP"):
        return False
    if tok.dep == "ccomp":
        return _bare_clause(tok)
    if tok.dep == "conj" and tok.head.tag in ("VBG", "VB"):
        return True
    if tok.dep in ("aux", "auxpass"):
        verb = tok.head
        held = verb.dep in ("conj", "relcl", "ccomp", "csubj") or verb.tag == "VBG"
        return not held and not any(
            c.dep in ("nsubj", "nsubjpass", "expl", "mark", "csubj") for c in verb.children
        )
    if tok.dep in ("conj", "relcl", "acl", "csubj"):
        return tok.dep in ("acl",) and tok.tag in ("VBZ", "VBP")
    return not any(c.dep in ("nsubj", "nsubjpass", "expl", "mark") for c in tok.children)


def _bare_clause(verb: Tok) -> bool:
    """A clause as object without "that" or a question word, of a verb that reports nothing."""
    opener = verb.subtree()[0]
    marked = verb.kid("mark") is not None or opener.tag in ("WRB", "WDT", "WP", "IN")
    return not marked and verb.head.lemma not in table("reporting", "verbs")
