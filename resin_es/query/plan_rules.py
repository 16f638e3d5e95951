"""How a question is taken apart without a model: sides, clauses and chains. Pure.

Each function returns the needs it sees, or nothing where its shape does not fit. Needs carry
what the whole question names: searched alone, a clause loses the document that the rest of
the question points at (measured on the development questions).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from resin_es.query.words import (
    ANAPHORS,
    GENERIC,
    STOPWORDS,
    content,
    fold,
    names,
    specific,
    unique,
    words,
)


class Need(NamedTuple):
    """One need before it becomes a hop. ``after`` names the index of the need it waits for;
    ``bridge`` the word for what that one finds."""

    text: str
    need: str = ""
    context: tuple[str, ...] = ()
    bridge: tuple[str, ...] = ()
    after: int | None = None


_WH = r"(?:what|how|why|who|whom|whose|when|where|which|to what extent|in what|by what)"
_AUX = r"(?:is|are|was|were|do|does|did|can|could|should|will|would|may|must|has|have)"
_CLAUSE = re.compile(rf"\s*[,;]?\s+(?:and|but|or)\s+(?:also\s+|then\s+)?(?={_WH}\b)", re.I)
_AUX_CLAUSE = re.compile(rf"\s*[,;]?\s+(?:and|but)\s+(?:also\s+)?(?={_AUX}\b\s+\w+\s+\w+)", re.I)
_SENTENCES = re.compile(r"(?<=[?!。?!])\s*(?=\S)|(?<=[.])\s+(?=[^\W\d_a-z])")
MIN_ASKING = re.compile(rf"^\W*(?:(?:and|but|also|then)\s+)?(?:{_WH}|{_AUX})\b", re.I)


def clauses(question: str) -> list[Need]:
    """Coordinated needs: ``What is X and how does Y …``, or several questions in a row.

    A clause with nothing specific of its own (``what are the implications``) stays with the
    one before it, so that it gets no equal voice.
    """
    parts = [p for s in _SENTENCES.split(question) for p in _split_sentence(s) if words(p)]
    asking = [part for part in parts if MIN_ASKING.match(part)]
    if len(asking) < 2:
        return []
    told = [part for part in parts if part not in asking]
    groups = _grouped(asking)
    if len(groups) < 2:
        return []
    needs = []
    for index, text in enumerate(groups):
        rest = " ".join([*told, *groups[:index], *groups[index + 1 :]])
        needs.append(Need(ended(text), text, tuple(_missing(text, specific(rest)))))
    return needs


def _split_sentence(sentence: str) -> list[str]:
    parts = _CLAUSE.split(sentence.strip())
    if re.match(rf"\W*{_AUX}\b", sentence, re.I):
        parts = [piece for part in parts for piece in _AUX_CLAUSE.split(part)]
    return [part.strip() for part in parts if part.strip()]


def _grouped(parts: list[str]) -> list[str]:
    """Clauses with a need of their own; vague ones joined to their neighbour."""
    groups: list[str] = []
    for part in parts:
        if groups and (vague(part, groups[-1]) or vague(groups[-1], part)):
            groups[-1] = f"{groups[-1].rstrip(' ?')}, and {part}"
        else:
            groups.append(part)
    return groups


def vague(clause: str, beside: str) -> bool:
    """Whether a clause names nothing specific that ``beside`` does not name already.

    A clause that asks for a measure of what the other names (``when does it close``) is not
    vague: its verb or property counts.
    """
    others = {fold(word) for word in content(beside)}
    own = [w for w in specific(clause) if fold(w) not in others and fold(w) not in ANAPHORS]
    return not own


def _missing(text: str, terms: list[str]) -> list[str]:
    have = {fold(word) for word in words(text)}
    return unique(term for term in terms if fold(term) not in have)


def ended(text: str) -> str:
    text = text.strip(" ,;")
    if not text.endswith(("?", ".", "!", "?", "。")):
        text += "?"
    return text[:1].upper() + text[1:]


_RELATIVE = re.compile(
    r"\b(?P<np>(?:the|that)\s+(?:(?!of\b|the\b|from\b|for\b|in\b|to\b|and\b)[\w'-]+\s+){0,3}?"
    r"(?P<head>[\w'-]+))\s*,?\s+"
    r"(?P<rel>that|who|which|where|whose)\s+(?P<clause>[^;?]{6,})",
    re.I,
)
_OF_CHAIN = re.compile(
    r"\bthe\s+(?P<role>[\w'-]+(?:\s+[\w'-]+)?)\s+of\s+"
    r"(?P<np>the\s+(?P<head>[\w'-]+(?:\s+[\w'-]+)?)\s+(?:of|behind|for)\s+(?P<rest>[^,;?]{3,}))",
    re.I,
)
_ROLE_CHAIN = re.compile(
    r"(?P<np>\bthe\s+(?P<head>[\w'-]+)\s+of\s+the\s+[\w'-]+\s+of\s+(?P<rest>[^,;?]{3,}?))"
    r"(?=\s+(?:study|born|live|work|come|die|go)\b|[,;?]|$)",
    re.I,
)


def chain(question: str) -> list[Need]:
    """A relative clause or a nested ``of``: first who or what that is, then what is asked of
    it. The second need waits for the first and names what it is to be completed with."""
    for pattern in (_RELATIVE, _ROLE_CHAIN, _OF_CHAIN):
        match = pattern.search(question)
        if match and _is_link(match):
            return _chained(question, match)
    return []


def _is_link(match: re.Match[str]) -> bool:
    head = fold(match.group("head"))
    if head in STOPWORDS or head in {"extent", "way", "fact", "evidence", "time", "case"}:
        return False
    if match.group("head")[:1].isupper():
        return False  # a name says already who it is
    groups = match.groupdict()
    inner = groups.get("clause") or groups.get("rest") or ""
    return len(specific(inner)) >= 1 and head not in GENERIC


def _chained(question: str, match: re.Match[str]) -> list[Need]:
    groups = match.groupdict()
    clause, rest = groups.get("clause"), question[match.end() :]
    head = match.group("head")
    asked_before = re.search(rf"\b{_WH}\b", question[: match.start()], re.I)
    if clause is not None and not asked_before and re.search(rf"\b{_WH}\b", clause, re.I):
        return _asked_inside(question, match)
    if clause is not None:
        described, tail = _cut_clause(clause, question[: match.start()])
        first = f"Which {_bare(match.group('np'))} {_verb_phrase(match, described)}"
        rest = f"{tail}{rest}"
        np = re.sub(r"^that\s", "the ", match.group("np"), flags=re.I)
    else:
        first = f"Who or what is {match.group('np')}"
        np = f"the {head}"
        if "role" in groups:
            np = f"the {match.group('role')} of the {head}"
    second = f"{question[: match.start()]}{np}{rest}"
    if not content(second.replace(np, "")) and "role" not in groups:
        return []
    return [
        Need(ended(first), f"which {head} it is"),
        Need(ended(second), f"what is asked of the {head}", bridge=(head,), after=0),
    ]


def _asked_inside(question: str, match: re.Match[str]) -> list[Need]:
    """The question stands in the relative clause: ``X includes the team that was formed when``.
    Then what stands before it says which one is meant."""
    before = question[: match.end("np")]
    if len(content(question[: match.start()])) < 1:
        return []
    noun, head = match.group("np"), match.group("head")
    return [
        Need(ended(before), f"which {head} it is"),
        Need(
            ended(f"{noun} {_verb_phrase(match, match.group('clause'))}"),
            f"what is asked of the {head}",
            bridge=(head,),
            after=0,
        ),
    ]


_AWAITS_VERB = re.compile(
    r"\b(?:do|does|did|will|can|could|should|would|may|might|must)\s+"
    r"(?:the\s+[\w'-]+(?:\s+[\w'-]+)?\s+of\s+)?$",
    re.I,
)
_LAST_VERB = re.compile(
    r"\s(?P<verb>[a-z][\w-]*(?:\s+(?:in|at|for|on|from|with|to|of|about|as|by))?)\W*$"
)


def _cut_clause(clause: str, before: str) -> tuple[str, str]:
    """A relative clause in mid-sentence ends where the main verb comes back: where the question
    began with the noun phrase itself, and at the last verb of ``does the director of …``."""
    last = _LAST_VERB.search(clause) if _AWAITS_VERB.search(before) else None
    if last is not None and len(content(clause[: last.start()])) >= 2:
        return clause[: last.start()], clause[last.start() :]
    opening = [w for w in words(before) if fold(w) not in {"is", "are", "was", "does", "did", "do"}]
    if opening:
        return clause, ""
    back = re.search(r"\s(?:is|are|was|were|has|have|does|did|can)\s", clause)
    return (clause[: back.start()], clause[back.start() :]) if back else (clause, "")


def _bare(noun_phrase: str) -> str:
    return re.sub(r"^(?:the|an?|that)\s+", "", noun_phrase, flags=re.I)


def _verb_phrase(match: re.Match[str], described: str) -> str:
    relative = fold(match.group("rel"))
    return f"{relative} {described}" if relative in {"where", "whose"} else described


FURTHER = "what stands behind that"
"""The need of a hop that looks one step further back; an answer may do without it."""

_WHY = re.compile(r"^\W*why\b|^\W*what\s+(?:caused|led\s+to)\b", re.I)


def causes(question: str) -> list[Need]:
    """Why something happened: its cause, and what caused that in turn. The second need is to
    be completed with what the first one finds."""
    if not _WHY.match(question) or not content(question):
        return []
    return [Need(question.strip()), Need("What caused this?", FURTHER, after=0)]


def mentions(question: str) -> tuple[str, ...]:
    """Entities that the question names."""
    return tuple(names(question))[:12]


_CONSTRAINT = re.compile(
    r"\b(?:within|at most|at least|under|over|below|above|before|after|since|until|during|"
    r"more than|less than|fewer than|no more than|without|except)\s+[^,;?]{2,60}?"
    r"(?=[,;?]|\s+(?:and|or|but|to)\b|$)",
    re.I,
)


def constraints(question: str) -> tuple[str, ...]:
    """Limits that the question sets, as written."""
    return tuple(unique(match.group(0).strip() for match in _CONSTRAINT.finditer(question)))[:8]


def properties(question: str) -> tuple[str, ...]:
    """What the question asks about its entities: specific words that are no names."""
    named = fold(" ".join(names(question)))
    return tuple(word for word in specific(question) if fold(word) not in named)[:12]
