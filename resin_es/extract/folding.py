"""Comparing text by what it says: Unicode forms, case, dashes, quotes and white space folded."""

from __future__ import annotations

import re
import unicodedata

from resin_es.extract.invisible import INVISIBLE

_DASHES = "\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_SINGLE = "\u2018\u2019\u201a\u201b\u2032\u02bc\u02b9\u0060\u00b4"
_DOUBLE = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u3003"
_TABLE = {
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **dict.fromkeys(map(ord, _SINGLE), "'"),
    **dict.fromkeys(map(ord, _DOUBLE), '"'),
    **dict.fromkeys(INVISIBLE, None),
}
_WHITE = re.compile(r"\s+")
_UNSPACED = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff66-\uff9f\u3001\u3002\uff01\uff0c\uff1a-\uff1f"
)
_BETWEEN_UNSPACED = re.compile(rf"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")


def fold(text: str) -> str:
    """``text`` folded for comparison, outer white space gone.

    NFKC and case-folded; every dash is ``-``, every quotation mark ``'`` or ``"``; soft hyphens
    and invisible characters vanish; white space is one space, and none between characters of
    scripts that use none (so a line break inside a Chinese sentence does not count).
    """
    return fold_case(fold_shape(text))


def fold_shape(text: str) -> str:
    """:func:`fold` without the case."""
    if text.isascii() and "`" not in text:
        return _WHITE.sub(" ", text).strip()
    # marks first: NFKC would turn a prime or an acute accent into a space and a letter
    shaped = unicodedata.normalize("NFKC", text.translate(_TABLE)).translate(_TABLE)
    return _BETWEEN_UNSPACED.sub("", _WHITE.sub(" ", shaped)).strip()


def fold_case(shaped: str) -> str:
    """Case folding that keeps NFKC."""
    folded = shaped.casefold()
    return folded if folded.isascii() else unicodedata.normalize("NFKC", folded)


def locate(part: str, text: str) -> tuple[int, int] | None:
    """Where ``part`` stands in ``text`` when both are folded: offsets in ``text`` itself, or
    None. Characters are folded one by one, so a letter and its separate accent, which only
    fold together, are not found."""
    pieces: list[str] = []
    origin: list[int] = []
    for index, char in enumerate(text):
        piece = " " if char.isspace() else fold_case(_shape(char))
        if piece == " " and pieces and pieces[-1] == " ":
            continue
        pieces.append(piece)
        origin.extend([index] * len(piece))
    wanted = fold(part)
    at = "".join(pieces).find(wanted) if wanted else -1
    return None if at < 0 else (origin[at], origin[at + len(wanted) - 1] + 1)


def _shape(char: str) -> str:
    return unicodedata.normalize("NFKC", char.translate(_TABLE)).translate(_TABLE)
