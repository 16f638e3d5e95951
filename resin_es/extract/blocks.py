"""Lines of plain text or Markdown to blocks that no sentence crosses.

A blank line ends a block; headings, list items, table rows, fenced code lines and
``key: value`` lines start one. Any other line break is either a hard wrap, which joins, or
meant: it is a wrap if the next line's first word would not have fitted into the paragraph's
width.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

Span = tuple[int, int]

_LINE = re.compile(r"[^\r\n\v\f\x85\u2028\u2029]+")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_ITEM = re.compile(r"\s*(?:[-*+•‣◦▪]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{2,4})[.)])\s+\S")
_ROW = re.compile(r"\s*\|")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_RULE = re.compile(r"\s*(?:[-=*_~]\s*){3,}\s*\Z|\s*=+\s*\Z")
_PAIR = re.compile(r"\s*\w[\w /-]{0,30}:\s")
_WORD = re.compile(r"\S+")
_UNFINISHED = re.compile(
    r"(?:[,;–—-]|\b(?:a|an|the|of|in|on|at|to|and|or|by|for|from|with|is|are|was|were))\s*\Z"
)
_NARROW = 40
"""Paragraphs narrower than this are lists or addresses, not wrapped prose."""


class _Line(NamedTuple):
    start: int
    end: int
    text: str


def blocks(text: str) -> Iterator[Span]:
    """Spans of the blocks of ``text``, in order; white-space-only lines are in none."""
    group: list[_Line] = []
    after = 0
    fenced = False
    for match in _LINE.finditer(text):
        line = _Line(match.start(), match.end(), match.group())
        blank_between = _breaks(text, after, line.start) > 1
        after = line.end
        if not line.text.strip():
            yield from _flush(group)
            continue
        if _FENCE.match(line.text):
            fenced = not fenced
            alone = True
        else:
            alone = fenced or _stands_alone(line.text)
        if blank_between or alone or _ITEM.match(line.text):
            yield from _flush(group)
        group.append(line)
        if alone:
            yield from _flush(group)
    yield from _flush(group)


def _breaks(text: str, start: int, end: int) -> int:
    gap = text[start:end]
    return len(gap) - gap.count("\r\n")


def _stands_alone(line: str) -> bool:
    return bool(_HEADING.match(line) or _ROW.match(line) or _RULE.match(line))


def _flush(group: list[_Line]) -> Iterator[Span]:
    """The blocks of adjacent lines; empties ``group``."""
    if not group:
        return
    width = max(line.end - line.start for line in group)
    start = group[0].start
    for line, following in pairwise(group):
        if not _wrapped(line.text, following.text, width):
            yield start, line.end
            start = following.start
    yield start, group[-1].end
    group.clear()


def _wrapped(line: str, following: str, width: int) -> bool:
    """Whether the break after ``line`` is only typography."""
    word = _WORD.search(following)
    head = word.group() if word else ""
    if head[:1].islower() or _UNFINISHED.search(line[-40:]):
        return True
    if _PAIR.match(following) or width < _NARROW:
        return False
    return len(line) + 1 + len(head) > width
