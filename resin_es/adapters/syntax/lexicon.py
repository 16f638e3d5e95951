"""Cue lexicons: plain JSON beside the code, loaded once."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, cast


@cache
def load(name: str) -> dict[str, Any]:
    """The lexicon ``name`` (``lexicons/<name>.json``) as it stands in the file."""
    folder = resources.files(__package__ or "resin_es.adapters.syntax") / "lexicons"
    text = (folder / f"{name}.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


@cache
def words(name: str, key: str) -> frozenset[str]:
    """A list of one lexicon as a set."""
    return frozenset(load(name)[key])


@cache
def table(name: str, key: str) -> dict[str, str]:
    """A mapping of one lexicon."""
    return dict(load(name)[key])
