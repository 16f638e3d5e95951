"""Characters that no reader of a text sees, but that a model or a search would."""

from __future__ import annotations

import re

_RANGES = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),  # zero-width, direction marks
    (0x202A, 0x202E),  # bidirectional embeddings and overrides
    (0x2060, 0x206F),  # word joiner, isolates, deprecated format characters
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),  # unassigned ignorables, interlinear annotation
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),  # tags, further variation selectors
)
INVISIBLE: frozenset[int] = frozenset(
    point for first, last in _RANGES for point in range(first, last + 1)
)
"""Code points that are ignored in display (Default_Ignorable_Code_Point of the Unicode
character database, and the interlinear annotation marks)."""
_RUN = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES) + "]+")
_JOINER = re.compile("[\u0600-\u0dff][\u200c\u200d][\u0600-\u0dff]")
"""Persian and the scripts of India spell with joiners; one between two of their letters is
seen by whoever reads them."""


def visible(text: str) -> str:
    """``text`` without what nobody sees."""

    def kept(run: re.Match[str]) -> str:
        around = text[max(0, run.start() - 1) : run.end() + 1]
        return run.group() if _JOINER.fullmatch(around) else ""

    return _RUN.sub(kept, text)
