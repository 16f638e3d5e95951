"""The passage constructor: a window of sentences to a call, its output to drafts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resin_es.model import PassageDraft
from resin_es.ports import ModelCall, ReadingWindow


def passages_call(window: ReadingWindow, model: str) -> ModelCall:
    raise NotImplementedError


def passages_from(
    data: Any, window: ReadingWindow
) -> tuple[tuple[PassageDraft, ...], Mapping[str, int]]:
    raise NotImplementedError
