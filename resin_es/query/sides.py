"""Comparisons: the two sides of a question, told apart without a model. Pure."""

from __future__ import annotations

import re

from resin_es.query.plan_rules import Need, ended
from resin_es.query.words import GENERIC, STOPWORDS, content, fold, names, specific, words

_COMPARES = re.compile(
    r"\b(better|worse|faster|slower|cheaper|longer|shorter|larger|bigger|smaller|older|oldest|"
    r"younger|youngest|first|earlier|later|more|most|less|fewer|fewest|higher|lower|higher|same|"
    r"both|differ\w*|similar\w*|compar\w*|versus|vs|or|in common|respective\w*|each other|also)\b",
    re.I,
)
_TOGETHER = re.compile(r"\b(?:both|in common|respective\w*|each other)\b", re.I)
"""What makes a comparison of any two names that an ``and`` joins."""
_BREAK = STOPWORDS - {"of", "the", "a", "an"} | {
    "take", "use", "choose", "buy", "prefer", "ride", "compare", "faster", "cheaper", "better",
    "slower", "larger", "older", "first", "longer", "shorter", "located", "get", "go", "pick",
}  # fmt: skip
_MAX_SIDE = 7
_PARTICLES = frozenset("of de del della van von der den da di du la le el al bin from the".split())


def sides(question: str) -> list[Need]:
    """A comparison: one need a side, everything that both share kept in each of them."""
    if not _COMPARES.search(question):
        return []
    for pattern, only_named in (*_PAIRS, *(_JOINED if _TOGETHER.search(question) else ())):
        for match in pattern.finditer(question):
            needs = _two_sides(question, match, only_named)
            if needs:
                return needs
    return _two_events(question) or _the_other_too(question)


_EVENTS = re.compile(
    r"(?P<a>\bthe\s+\w+\s+of\s+(?P<x>[^,;?]+?))\s+or\s+(?P<b>the\s+\w+\s+of\s+(?P<y>[^,;?]+))", re.I
)


def _two_events(question: str) -> list[Need]:
    """``the forming of X or the birth of Y``: each side with its own event."""
    match = _EVENTS.search(question)
    if match is None or not all(names(match.group(side)) for side in ("x", "y")):
        return []
    before, after = question[: match.start()], question[match.end() :]
    return [
        Need(ended(f"{before}{match.group(side)}{after}"), f"the side of {match.group(side)}")
        for side in ("a", "b")
    ]


_ALSO = re.compile(r"^(?P<told>.+?)[.!]\s+(?P<asked>[A-Z][^?]*\balso\b[^?]*\?)\W*$")


def _the_other_too(question: str) -> list[Need]:
    """``X has one. Does Y also have one?``: what X has belongs to the second need too."""
    match = _ALSO.match(question.strip())
    if match is None:
        return []
    told, asked = match.group("told"), match.group("asked")
    left, right = names(told), names(asked)
    if not left or not right or fold(left[0]) in fold(asked):
        return []
    have = {fold(word) for word in words(f"{left[0]} {asked}")}
    context = tuple(word for word in specific(told) if fold(word) not in have)
    return [
        Need(ended(told), f"the side of {left[0]}"),
        Need(asked, f"the side of {right[0]}", context),
    ]


_SIDE = r"[^,;?]{1,80}?"
_STOP = r"(?:in|on|with|for|when|regarding|and|at|as|to|that|by|under|during)"
_PAIRS: tuple[tuple[re.Pattern[str], bool], ...] = tuple(
    (re.compile(pattern, re.I), only_named)
    for pattern, only_named in (
        (rf"\bbetween\s+(?P<a>{_SIDE})\s+and\s+(?P<b>{_SIDE})(?=[,;?.]|\s+{_STOP}\b|\s*$)", False),
        (
            rf"\b(?:compare|comparing)\s+(?P<a>{_SIDE})\s+(?:and|with|to|versus|vs\.?)\s+"
            rf"(?P<b>{_SIDE})(?=[,;?.]|\s+{_STOP}\b|\s*$)",
            False,
        ),
        (r"(?P<a>[^,;?]+?)\s+(?:versus|vs\.?)\s+(?P<b>[^,;?]+)", False),
        (r"(?P<a>[^,;?]+?)\s+compared?\s+(?:to|with)\s+(?P<b>[^,;?]+)", True),
        (r"(?P<a>[^,;?]+?)\s+or\s+(?P<b>[^,;?]+)", False),
        (r"\bboth\s+(?P<a>[^,;?]+?)\s+and\s+(?P<b>[^,;?]+)", True),
        (r"^\W*(?:are|were|do|did|have)\s+(?P<a>[^,;?]+?)\s+and\s+(?P<b>[^,;?]+)", True),
    )
)
"""Shapes of a comparison, and whether both sides must be names for the shape to count."""

_JOINED = ((re.compile(r"(?P<a>[^,;?]+?)(?:,[^,;?]+,)?\s+and\s+(?P<b>[^,;?]+)", re.I), True),)


def _two_sides(question: str, match: re.Match[str], only_named: bool) -> list[Need]:
    left, right = _tail(match.group("a")), _head(match.group("b"))
    if not _is_side(left) or not _is_side(right) or fold(left) == fold(right):
        return []
    if not _parallel(left, right, question, only_named):
        return []
    start = match.start("a") + match.group("a").rindex(left)
    end = match.start("b") + match.group("b").index(right) + len(right)
    before, after = question[:start], question[end:]
    before = re.sub(r"\b(?:between|either|both)\s+(the\s+|an?\s+)?$", r"\1", before, flags=re.I)
    after = re.sub(r"^(\s+)both\s+", r"\1", after, flags=re.I)
    return [Need(ended(f"{before}{side}{after}"), f"the side of {side}") for side in (left, right)]


def _tail(text: str) -> str:
    """The noun phrase that ``text`` ends with."""
    parts = text.split()
    kept: list[str] = []
    for part in reversed(parts[-_MAX_SIDE:]):
        bare = fold(part.strip(".,:;\"'“”()"))
        if bare in _BREAK or part.endswith((",", ":", ";")) or bare.endswith("ly"):
            break
        kept.insert(0, part)
        if part in {"the", "a", "an"}:
            break
    return _trim(" ".join(_named_run(kept)))


def _head(text: str) -> str:
    """The noun phrase that ``text`` begins with."""
    kept: list[str] = []
    parts = text.split()[:_MAX_SIDE]

    def joins(index: int) -> bool:
        after = [p for p in parts[index + 1 : index + 3] if fold(p) not in _PARTICLES]
        return fold(parts[index]) in _PARTICLES and after[:1] != [] and after[0][:1].isupper()

    for index, part in enumerate(parts):
        bare = fold(part.strip(".,:;\"'“”()"))
        if kept and kept[-1][:1].isupper() and joins(index):
            kept.append(part)
            continue
        if bare in _BREAK or (
            kept and part in {"the", "a", "an"} and fold(kept[-1]) not in _PARTICLES
        ):
            break
        if kept and part[:1].islower() and kept[-1][:1].isupper() and not joins(index):
            break
        kept.append(part)
    return _trim(" ".join(kept))


def _named_run(parts: list[str]) -> list[str]:
    """Where the phrase ends in a name, only the name; otherwise the whole phrase."""
    if not parts or not parts[-1][:1].isupper():
        return parts
    run: list[str] = []
    for part in reversed(parts):
        if not (part[:1].isupper() or part[:1].isdigit() or fold(part) in _PARTICLES):
            break
        run.insert(0, part)
    return run


def _trim(text: str) -> str:
    """Without articles and joints at either end; a capital one belongs to a name."""
    text = re.sub(r"^(?:the|an?|of|and)\s+", "", text.strip(" .,:;"))
    return re.sub(r"\s+(?:the|an?|of|and|at|in)$", "", text)


def _is_side(text: str) -> bool:
    found = content(text)
    return bool(found) and len(words(text)) <= _MAX_SIDE and any(len(w) > 1 for w in found)


def _parallel(left: str, right: str, question: str, only_named: bool) -> bool:
    """Two sides look alike: both are named, or both are not, each is short, and the question
    weighs them (``a passenger or a guest`` alone weighs nothing)."""
    if any(fold(part) in GENERIC for part in (left, right)):
        return False
    named = [text[:1].isupper() or text[:1].isdigit() for text in (left, right)]
    if all(named) or only_named:
        return all(named)
    if not _WEIGHS.search(question):
        return False
    length = len(words(left)) + len(words(right))
    return length <= 4 if any(named) else max(len(words(left)), len(words(right))) <= 3


_WEIGHS = re.compile(
    r"^\W*(?:should|which|who|is|are|does|do)\b|\b(?:better|worse|best|faster|cheaper|versus|vs|"
    r"differ\w*|compar\w*|prefer|slower|longer|shorter|larger|bigger|smaller|older|younger|"
    r"earlier|later|higher|lower|closer|safer|quicker|easier)\b",
    re.I,
)
