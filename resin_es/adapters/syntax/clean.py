"""Sentence text made parseable, with the way back to every character of the original.

Tags, section labels and parenthesised asides confuse a dependency parser more than anything
else in running text. They are left out of what is parsed; quotes are cut from the original.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from resin_es.adapters.syntax.lexicon import table

_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9:]*(?:\s[^<>]{0,80})?/?>")
_ENTITY = re.compile(r"&(?:#\d{1,6}|#x[0-9a-fA-F]{1,5}|[A-Za-z]{2,8});")
_ORDINAL = re.compile(r"^(?:\(?\d{1,2}[.)]|\(?[a-hivx]{1,3}\)|[•●▪*–—-])\s+(?=\S)")
_COLON = re.compile(r"^([A-Za-z][A-Za-z/&, -]{1,45}?)\s*[:.\u2014]\s*(?=[A-Z0-9\"“(])")
_SPACED = re.compile(
    r"^([A-Z][A-Za-z]+(?: (?:and )?[A-Z][A-Za-z]+){0,2})\s+(?=[A-Z0-9\"“]|[a-z]{1,2}[A-Z])"
)
_LONG_LABEL = re.compile(
    r"^((?:materials?|patients) and methods?|methods? and results?|results? and discussion|"
    r"(?:study|experimental) design|(?:main )?conclusions and significance|aims? and objectives?|"
    r"background and (?:aims?|objectives?|purpose))\s*[:.]?\s+(?=[A-Z0-9])",
    re.I,
)
_SHOUTED = re.compile(r"^((?:NEW|NOVELTY) (?:&(?:amp;)?|AND) [A-Z]{4,})\s*[:.]?\s+(?=[A-Z0-9])")
_STARRED = re.compile(r"^(\s*(?:Abstract|ABSTRACT))\*")
_OWN_LABEL = re.compile(r"^([A-Z][\w/&-]*(?: [\w/&-]+){0,3}):\s+(?=[A-Z])")
_OPEN, _CLOSE = "([", ")]"
_HYPHENS = {"\u2010": "-", "\u2011": "-", "\u00ad": "-", "\u2212": "-"}
_BARE_LABELS = frozenset(
    "abstract background introduction importance objective objectives aim aims purpose method "
    "methods methodology result results conclusion conclusions discussion findings design "
    "significance".split()
)
_TAXON = re.compile(r",?\s(?:gen\.|comb\.|stat\.|sp\.|spp\.)(?: et sp\.)? (?:et comb\. )?nov\.")
_LATIN = re.compile(r"\b(?:in (?:vivo|vitro|silico|situ)|de novo|ex vivo)\b", re.I)
JOINED = ("in-vivo", "in-vitro", "in-silico", "in-situ", "de-novo", "ex-vivo")
"""Latin phrases that are one word to the parser."""
MAX_ASIDE = 300


@dataclass(frozen=True)
class Aside:
    """A parenthesised text left out; ``at`` is the cleaned offset it stood at."""

    at: int
    text: str


@dataclass(frozen=True)
class Cleaned:
    """``parsed`` and ``shown`` have equal length (one for the parser, one for people);
    ``origin[i]`` is where character i stands in ``original``."""

    original: str
    parsed: str
    shown: str
    origin: tuple[int, ...]
    asides: tuple[Aside, ...] = ()
    label: str = ""
    balanced: bool = True

    def quote(self, start: int, end: int) -> str:
        """The original's characters behind the cleaned span; a bracket that the span opens
        is kept whole."""
        if start >= end:
            return ""
        return self.original[self.origin[start] : self.origin[end - 1] + 1]


def section_label(text: str) -> tuple[str, int]:
    """Label that opens ``text`` and how many characters it takes; ("", 0) without one."""
    roles = table("labels", "roles")
    text = _TAG.sub(lambda match: " " * len(match.group()), text)  # a label may stand in a tag
    text = _STARRED.sub(r"\1 ", text)
    taken, found = len(text) - len(text.lstrip()), ""
    start = taken
    for _ in range(3):
        rest = text[taken:]
        match = _COLON.match(rest)
        name = match.group(1).strip().lower() if match else ""
        parts = [part.strip() for part in re.split(r"[/&,]", name)]
        if match and (name in roles or (len(parts) > 1 and all(p in roles for p in parts))):
            found, taken = parts[-1], taken + match.end()
            continue
        lead = _LONG_LABEL.match(rest) or _SHOUTED.match(rest)
        if lead:
            found, taken = lead.group(1).lower(), taken + lead.end()
            continue
        match = _SPACED.match(rest)
        if match:
            first = match.group(1).split()[0]
            whole = match.group(1).lower()
            if whole in roles and (match.group(1).isupper() or " " in whole):
                found, taken = whole, taken + match.end()
                continue
            bare = re.match(r"\w+\s+", rest)
            if first.lower() in _BARE_LABELS and bare:
                found, taken = first.lower(), taken + bare.end()
                continue
        break
    own = _OWN_LABEL.match(text[taken:])
    if taken == start:
        taken = 0
    if not taken and not start and own and len(text.split()) > len(own.group(1).split()) + 4:
        return own.group(1), own.end()
    return found, taken


def _asides(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Spans of top-level bracketed asides that stand free, and whether brackets balance."""
    spans: list[tuple[int, int]] = []
    stack: list[int] = []
    for index, char in enumerate(text):
        if char in _OPEN:
            stack.append(index)
        elif char in _CLOSE:
            if not stack:
                return spans, False
            start = stack.pop()
            free = start == 0 or text[start - 1].isspace()
            after = text[index + 1 : index + 2]
            ends = not after or after.isspace() or after in ".,;:!?)]’'\""
            if not stack and free and ends and index - start <= MAX_ASIDE:
                spans.append((start, index + 1))
    return spans, not stack


def _drops(text: str, label_end: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]], bool]:
    """Spans to leave out (tags, label, asides, "sp. nov."), the asides among them, and balance."""
    tags = [match.span() for match in _TAG.finditer(text)]
    asides, balanced = _asides(text)
    asides = [span for span in asides if span[0] >= label_end]
    taxa = [match.span() for match in _TAXON.finditer(text)]
    drops = sorted([(0, label_end), *tags, *asides, *taxa])
    return drops, asides, balanced


def clean(text: str) -> Cleaned:
    """Prepare one sentence for the parser. Never fails; the result may be empty."""
    label, label_end = section_label(text)
    ordinal = _ORDINAL.match(text[label_end:])
    if ordinal:
        label_end += ordinal.end()
    drops, asides, balanced = _drops(text, label_end)
    kept = [True] * len(text)
    for start, end in drops:
        kept[start:end] = [False] * (end - start)
    entities = {match.start(): match for match in _ENTITY.finditer(text)}
    parsed: list[str] = []
    origin: list[int] = []
    noted: list[Aside] = []
    begins = dict(asides)
    index = 0
    while index < len(text):
        if index in begins:
            inner = _TAG.sub("", text[index + 1 : begins[index] - 1]).strip()
            noted.append(Aside(len(parsed), inner))
            index = begins[index]
            continue
        step, char = 1, text[index]
        match = entities.get(index)
        if match:
            plain = html.unescape(match.group())
            if len(plain) == 1:
                step, char = len(match.group()), plain
        if kept[index]:
            gap = bool(noted) and noted[-1].at == len(parsed)
            if gap and char in ",.;:" and parsed and parsed[-1] == " ":
                parsed.pop()
                origin.pop()
            _push(char, index, parsed, origin)
        index += step
    return _finish(text, parsed, origin, noted, label, balanced)


def _push(char: str, index: int, chars: list[str], origin: list[int]) -> None:
    """Append one character; white space collapses and never leads."""
    if char.isspace() or char in "\u200b\ufeff":
        if chars and chars[-1] != " ":
            chars.append(" ")
            origin.append(index)
        return
    chars.append(char)
    origin.append(index)


def _finish(
    text: str,
    chars: list[str],
    origin: list[int],
    asides: list[Aside],
    label: str,
    balanced: bool,
) -> Cleaned:
    while chars and chars[-1] == " ":
        chars.pop()
        origin.pop()
    if len(chars) > 1 and chars[-1] == "." and chars[-2].isalnum():
        chars.insert(-1, " ")  # else "mL." or "FraB." stays one token
        origin.insert(-1, origin[-1])
    shown = "".join(chars)
    parsed = "".join(_HYPHENS.get(char, char) for char in chars)
    parsed = _LATIN.sub(lambda match: match.group().replace(" ", "-"), parsed)
    return Cleaned(text, parsed, shown, tuple(origin), tuple(asides), label, balanced)
