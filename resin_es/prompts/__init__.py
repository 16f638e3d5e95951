"""The system prompts, one Markdown file per stage, each with a version that its text decides.

A file begins with a line ``version: N``; the text's hash joins it, so that no edit goes
unnoticed by caches and recordings.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import get_args

from resin_es.model.base import Frozen, content_id
from resin_es.ports.language import Stage

STAGES: tuple[Stage, ...] = get_args(Stage)


class Prompt(Frozen):
    """A stage's system prompt. ``version`` is ``N-hash``."""

    stage: Stage
    version: str
    text: str


@cache
def prompt(stage: Stage) -> Prompt:
    """The prompt of ``stage``. Raises ValueError for a file without a version line."""
    raw = files(__package__).joinpath(f"{stage}.md").read_text(encoding="utf-8")
    head, _, body = raw.partition("\n")
    name, _, number = head.partition(":")
    text = body.strip()
    if name != "version" or not number.strip().isdigit() or not text:
        raise ValueError(f"{stage}.md does not begin with a line 'version: N' and a text")
    return Prompt(
        stage=stage, version=f"{number.strip()}-{content_id('prompt', text, length=8)}", text=text
    )
