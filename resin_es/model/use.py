"""What a stage took of a language model, beside what it gave."""

from __future__ import annotations

from resin_es.model.base import Frozen


class ModelUse(Frozen):
    """One stage's calls for one question. ``tokens`` holds all of them, ``output_tokens`` the
    part that the model wrote; ``dollars`` is 0 where the model has no price. ``model`` is the one
    that answered, by its own account."""

    model: str
    prompt_version: str
    tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0
    calls: int = 0
