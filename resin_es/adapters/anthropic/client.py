"""A LanguageModel over the Messages API."""

from __future__ import annotations

from collections.abc import Iterator

from resin_es.adapters.anthropic.connection import Connection
from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.ports.language import ModelCall, ModelReply


class AnthropicModel:
    """A LanguageModel. Raises as :class:`Connection`, at once."""

    def __init__(self, options: AnthropicOptions) -> None:
        self._connection = Connection(options)

    def call(self, call: ModelCall) -> ModelReply:
        raise NotImplementedError

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        raise NotImplementedError

    def close(self) -> None:
        self._connection.close()
