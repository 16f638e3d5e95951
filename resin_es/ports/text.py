"""A language model as text in, text out: what evaluation rows need."""

from __future__ import annotations

from typing import Protocol

from resin_es.model.base import Frozen


class Completion(Frozen):
    """What a text model wrote, what it took in tokens and, where its price is known, in US
    dollars. ``stop_reason`` is the provider's own word for why it ended."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0
    stop_reason: str = ""


class TextModel(Protocol):
    """Text to text, one call."""

    @property
    def name(self) -> str:
        """The model, as the provider calls it."""
        ...

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        """At most ``max_tokens`` of output. Raises ModelUnavailable, ModelError."""
        ...
