"""Names that a text itself declares to be the same: "Long Name (LN)", "LN (Long Name)".

The matching rule is Schwartz and Hearst's (2003, "A simple algorithm for identifying
abbreviation definitions in biomedical text"): the short form's letters stand in the long form
in order, its first letter at the start of a word.
"""

from __future__ import annotations

import re
from functools import lru_cache

from resin_es.extract.folding import fold

_PARENTHESIS = re.compile(r"\(([^()]{2,80})\)|\[([^\[\]]{2,80})\]")
_SHORT = re.compile(r"[^\W_](?:[\w./&+-]*[^\W_])?\Z")
_LEADS = re.compile(
    r"(?:hereafter|henceforth|abbreviated(?: as| to)?|or|i\.e\.,?|the|aka|a\.k\.a\.)\s+", re.I
)
_RENAMED = re.compile(
    r"(?:also (?:known|referred to) as|also called|(?:commonly )?known as|aka|a\.k\.a\.|"
    r"formerly(?: known as)?)\s+",
    re.I,
)
_WORD = re.compile(r"\S+")
_SMALL = frozenset("a an the of for and in on to with by or as is are was were called".split())
_MAX_SHORT = 12


@lru_cache(maxsize=64)
def definitions(text: str) -> tuple[tuple[str, str], ...]:
    """Pairs (long or first name, short or other name) that ``text`` declares, in order."""
    found: list[tuple[str, str]] = []
    for match in _PARENTHESIS.finditer(text):
        inner = match.group(1) or match.group(2)
        before = text[max(0, match.start() - 160) : match.start()].rstrip()
        pair = _definition(before, inner.strip(" \"'“”‘’"))
        if pair and pair not in found:
            found.append(pair)
    return tuple(found)


def _definition(before: str, inner: str) -> tuple[str, str] | None:
    renamed = _RENAMED.match(inner)
    if renamed:
        name = _name_before(before)
        other = re.split(r"[,;]", inner[renamed.end() :])[0].strip(" \"'“”‘’")
        return (name, other) if name and other else None
    short = re.split(r"[,;]", _LEADS.sub("", inner, count=1))[0].strip(" \"'“”‘’")
    if is_short(short):
        long = _long_before(before, short)
        if long:
            return long, short
    opener = _WORD.findall(before)[-1:]
    if opener and is_short(opener[0].lstrip("([\"'“‘")):
        outer = opener[0].lstrip("([\"'“‘")
        inside = short if " " in short else ""
        if inside and long_form(inside, outer) == inside:
            return inside, outer
    return None


def is_short(text: str) -> bool:
    """Whether ``text`` looks like a short form: 2 to 12 characters, one or two words, a
    capital or digit in it, a letter in it."""
    return (
        2 <= len(text) <= _MAX_SHORT
        and len(text.split()) <= 2
        and bool(_SHORT.match(text.replace(" ", "")))
        and any(map(str.isalpha, text))
        and any(char.isupper() or char.isdigit() for char in text)
        and not text.istitle()
    )


def _long_before(before: str, short: str) -> str | None:
    letters = sum(map(str.isalnum, short))
    words = list(_WORD.finditer(before))[-min(letters + 5, letters * 2) :]
    if not words:
        return None
    candidate = re.split(r"[;:()\[\]]|\.\s|,\s(?=\w+ing\b)", before[words[0].start() :])[-1]
    return long_form(candidate.strip(), short)


def long_form(candidate: str, short: str) -> str | None:
    """The shortest end of ``candidate`` that ``short`` abbreviates, if there is one."""
    text, at = candidate.casefold(), len(candidate.casefold())
    if len(text) != len(candidate):
        return None
    letters = [char for char in short.casefold() if char.isalnum()]
    for index, letter in reversed(list(enumerate(letters))):
        at -= 1
        while at >= 0 and (
            text[at] != letter or (index == 0 and at > 0 and text[at - 1].isalnum())
        ):
            at -= 1
        if at < 0:
            return None
    found = candidate[at:].strip(" \"'“”‘’,")
    words = found.split()
    folded = [word.casefold() for word in words]
    if len(found) <= len(short) or short.casefold() in folded or folded[0] in _SMALL - {"a"}:
        return None
    return found if len(words) <= min(len(letters) + 5, len(letters) * 2) else None


def _name_before(before: str) -> str:
    """The run of capitalised words (small ones between them allowed) that ends ``before``."""
    kept: list[str] = []
    for word in reversed(_WORD.findall(before)):
        if not (word[0].isupper() or word[0].isdigit() or (kept and word in _SMALL)):
            break
        kept.append(word)
        if word[-1] in ".;:,":
            kept.pop()
            break
    while kept and kept[-1].casefold() in _SMALL:
        kept.pop()
    return " ".join(reversed(kept))


def aliases_of(name: str, text: str) -> tuple[str, ...]:
    """Other names of ``name`` that ``text`` declares: of it as a whole, or of a name in it."""
    folded = f" {fold(name)} "
    found: list[str] = []
    for long, short in definitions(text):
        for one, other in ((long, short), (short, long)):
            if _holds(folded, fold(one)) and not _holds(folded, fold(other)):
                found.append(other)
    return tuple(dict.fromkeys(found))


def without_definition(name: str, text: str) -> str:
    """``name`` with "Long Name (LN)" reduced to "Long Name"."""
    for long, short in definitions(text):
        pattern = rf"({re.escape(long)})\s*[(\[]\s*{re.escape(short)}\s*[)\]]"
        name = re.sub(pattern, r"\1", name)
    return name.strip()


def _holds(folded: str, name: str) -> bool:
    """Whether the padded ``folded`` holds ``name`` as whole words."""
    return bool(re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", folded))
