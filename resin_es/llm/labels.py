"""Sentence labels: short names that a model can copy without fault, unlike ids."""

from __future__ import annotations

import re
from typing import Any

_LABEL = re.compile(r"\s*[\[(]?\s*[sS]?\s*(\d{1,6})\s*[\])]?\s*[.:]?\s*")


def label(index: int) -> str:
    """The label of the sentence at ``index``, counted from 0: ``S1`` is the first."""
    return f"S{index + 1}"


def index_of(said: Any) -> int | None:
    """The index that ``said`` stands for, or None if it is no label. ``3``, ``"3"`` and
    ``"[s3]"`` count as ``S3``; whether there is such a sentence is for the caller to say."""
    if isinstance(said, bool):
        return None
    found = _LABEL.fullmatch(str(said)) if isinstance(said, int | str) else None
    return int(found.group(1)) - 1 if found else None
