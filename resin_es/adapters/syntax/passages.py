"""Passages without a model: entity continuity and discourse cues."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.adapters.syntax.tree import Tree
from resin_es.model import PassageDraft
from resin_es.ports import ReadingWindow


def construct(window: ReadingWindow, trees: Sequence[Tree]) -> list[PassageDraft]:
    n = len(window.sentences)
    return [PassageDraft(first=i, last=min(i + 2, n - 1)) for i in range(0, n, 3)]
