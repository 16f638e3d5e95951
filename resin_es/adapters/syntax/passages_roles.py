"""What a passage's evidence is good for: cue scores, summed over all its sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from resin_es.adapters.syntax.lexicon import words
from resin_es.adapters.syntax.links import conditional
from resin_es.adapters.syntax.passages_look import Look, has_cue, padded
from resin_es.adapters.syntax.tree import Tok
from resin_es.model import EvidenceRole

OPENING = 3
"""So many first sentences of a report may be its background."""
_MOVES = ("method", "result", "background")
_SURE = 2.0
_YEAR = re.compile(r"(?:1[89]|20)\d\d$")
_ORDER = ("method", "result", "cause", "condition", "event", "background", "membership",
          "attribute", "relation")  # fmt: skip
"""Which of two equal scores wins."""


def scored(looks: Sequence[Look], opens_document: bool) -> list[Look]:
    """The sentences of a window with their scores and moves.

    Present-tense openings are background only in a report or review: in other prose they
    are its claims.
    """
    first = [_scores(look) for look in looks]
    report = any(one[move] >= _SURE for one in first for move in _MOVES)
    report = report or any(look.shifts for look in looks)
    done: list[Look] = []
    opening = opens_document and report
    method_before = False
    for index, (look, scores) in enumerate(zip(looks, first, strict=True)):
        own = scores["method"] >= _SURE or scores["result"] >= _SURE
        opening = opening and index < OPENING and not own and not look.shifts
        if opening and _present(look):
            scores["background"] += 3
        if method_before and not own and _past(look):
            scores["result"] += 2
        method_before = method_before or scores["method"] >= _SURE
        done.append(replace(look, scores=dict(scores), move=_move(scores)))
    return done


def role(looks: Sequence[Look]) -> EvidenceRole:
    """By section label first, else the highest sum of cues; relation only if none shows."""
    section = looks[0].section
    if section in {one.value for one in EvidenceRole}:
        return EvidenceRole(section)
    total: Counter[str] = Counter()
    for look in looks:
        for name, score in look.scores.items():
            total[name] += score  # type: ignore[assignment]
    best = max((total[name] for name in _ORDER), default=0)
    if best <= 0:
        related = any(look.clauses for look in looks)
        return EvidenceRole.RELATION if related else EvidenceRole.OTHER
    return EvidenceRole(next(name for name in _ORDER if total[name] == best))


def _move(scores: Counter[str]) -> str:
    best = max(_MOVES, key=lambda name: scores[name])
    return best if scores[best] >= _SURE else ""


def _scores(look: Look) -> Counter[str]:
    text = padded(look.tree.cleaned.parsed)
    scores: Counter[str] = Counter()
    _report(look, text, scores)
    _claims(look, text, scores)
    return scores


# ---------------------------------------------------------------- steps of a report


def _report(look: Look, text: str, scores: Counter[str]) -> None:
    lowered = {tok.lower for tok in look.tree.tokens}
    for verb in _main_verbs(look):
        if _procedure(verb):
            scores["method"] += 2
        elif _finding(verb):
            scores["result"] += 2
    if scores["method"] and lowered & words("passages", "outcome_words"):
        if not _authors(look):  # "the highest yield was recorded in T0"
            scores["result"] += scores.pop("method")
    if scores["method"]:
        scores["method"] = 2 + ("using" in lowered) + (" used to " in text or " used for " in text)
    elif "using" in lowered and not scores["result"]:
        passive = any(_auxiliary(verb) in ("was", "were") for verb in _main_verbs(look))
        scores["method"] += 2 if passive else 1
    if not scores["method"]:
        found = len(lowered & words("passages", "result_words")) + has_cue(text, "result_texts")
        scores["result"] += min(found, 2)
    scores["background"] += 2 * min(has_cue(text, "background_texts"), 1)


def _main_verbs(look: Look) -> list[Tok]:
    """The main verb and those that it coordinates (at most the first two)."""
    roots = [tok for tok in look.tree.roots() if tok.is_verb]
    return [one for root in roots for one in (root, *root.kids("conj")) if one.is_verb][:2]


def _subject(verb: Tok) -> Tok | None:
    return verb.kid("nsubj", "nsubjpass") or (
        verb.head.kid("nsubj", "nsubjpass") if verb.dep == "conj" else None
    )


def _auxiliary(verb: Tok) -> str:
    """The first auxiliary of a verb, or of the verb it is joined to."""
    own = verb.kid("auxpass", "aux")
    if own is None and verb.dep == "conj" and verb.tag in ("VBN", "VBD"):
        own = verb.head.kid("auxpass", "aux")
    return own.lower if own else ""


def _authors(look: Look) -> bool:
    """Whether a main clause is about the work itself: "we", "this study"."""
    subjects = [_subject(verb) for verb in _main_verbs(look)]
    return any(
        one is not None and (one.lower == "we" or one.lemma in words("passages", "work_nouns"))
        for one in subjects
    )


def _past(look: Look) -> bool:
    """What happened, told after the method: an active past tense that is not the authors'."""
    verbs = _main_verbs(look)[:1]
    past = any(verb.tag == "VBD" or _auxiliary(verb) == "did" for verb in verbs)
    return past and not _authors(look)


def _procedure(verb: Tok) -> bool:
    """ "were collected", "we used", "this study aimed", "parameters recorded included"."""
    if verb.lemma not in words("passages", "procedures"):
        return False
    if verb.tag in ("VBN", "VBD") and _auxiliary(verb) in ("was", "were"):
        return verb.kid("ccomp") is None
    subject = _subject(verb)
    if subject is None:
        return False
    who = subject.lower in ("we", "i") or subject.lemma in words("passages", "work_nouns")
    return who and verb.kid("ccomp") is None


def _finding(verb: Tok) -> bool:
    """ "we found that", "analysis revealed", "was detected", "T0 achieved"."""
    subject = _subject(verb)
    if subject is None:
        return False
    own = subject.lower in ("we", "i") or subject.lemma in words("passages", "finding_nouns")
    past = verb.tag == "VBD" or _auxiliary(verb) in ("was", "were")
    if verb.lemma in words("passages", "findings"):
        return own or past
    return own and verb.kid("ccomp") is not None


def _present(look: Look) -> bool:
    """Whether a sentence states something in general: no past tense, nobody's own work."""
    verbs = _main_verbs(look)
    if not verbs:
        tags = {tok.tag for tok in look.tree.tokens}
        return "VBD" not in tags and bool(tags & {"VBZ", "VBP"})
    subject = _subject(verbs[0])
    if subject is not None and subject.lower in ("we", "i"):
        return False
    return verbs[0].tag in ("VBZ", "VBP") or _auxiliary(verbs[0]) in (
        "is", "are", "has", "have", "can", "may", "could", "might", "do", "does",
    )  # fmt: skip


# ---------------------------------------------------------------- kinds of claim


def _claims(look: Look, text: str, scores: Counter[str]) -> None:
    lowered = {tok.lower for tok in look.tree.tokens}
    asked = has_cue(text, "condition_texts")
    if any(conditional(clause) for clause in look.clauses) or asked:
        scores["condition"] += 2
    for clause in look.clauses:
        _claim(clause.verb, scores)
    causal = has_cue(text, "causal_texts")
    scores["cause"] = min(scores["cause"], 3) + min(causal, 2)
    if has_cue(text, "membership_texts"):
        scores["membership"] += 1
    for name in ("membership", "attribute"):
        scores[name] = min(scores[name], 2)
    if _dated(look, lowered) or lowered & words("passages", "event_words"):
        scores["event"] += 2


def _claim(verb: Tok, scores: Counter[str]) -> None:
    """One clause's vote: cause, membership or attribute."""
    lemma = verb.lemma
    causal = words("passages", "causal_verbs") | words("causal", "change_verbs")
    if lemma in causal and (verb.kid("dobj", "obj", "nsubjpass", "agent") is not None):
        scores["cause"] += 2
    elif lemma == "be" and verb.kid("attr") is not None:
        noun = verb.kid("attr")
        kind = noun is not None and any(one.lower in ("a", "an", "one") for one in noun.children)
        scores["membership" if kind else "attribute"] += 1.5  # type: ignore[assignment]
    elif lemma == "be" or verb.pos == "ADJ" or lemma in words("passages", "attribute_verbs"):
        scores["attribute"] += 1.5  # type: ignore[assignment]


def _dated(look: Look, lowered: set[str]) -> bool:
    """A happening with its date: past tense, an event verb, a month, weekday or year."""
    happened = any(
        verb.lemma in words("passages", "event_verbs")
        and (verb.tag == "VBD" or _auxiliary(verb) in ("was", "were"))
        for verb in _main_verbs(look)
    )
    if not happened:
        return False
    return bool(lowered & words("passages", "dates")) or any(map(_YEAR.match, lowered))
