"""Claude as a text model, by the ``anthropic`` SDK (extra ``anthropic``), Messages API.

The SDK repeats what is worth repeating (429, 5xx, broken connections) with growing pauses. Key
and address are handed in: none is looked up in the environment.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from pydantic import SecretStr

from resin_es.adapters.anthropic.connection import INSTALL, Connection
from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.adapters.anthropic.replies import reply_of
from resin_es.adapters.prices import Prices
from resin_es.errors import ModelUnavailable
from resin_es.ports import Completion
from resin_es.ports.language import ModelCall


class AnthropicTextModel:
    """A TextModel. ``timeout``: seconds for one attempt; ``retries``: attempts after the first.
    ``prices`` turns tokens into dollars; a model without an entry costs 0.

    Raises ModelUnavailable at once if the SDK is not installed; it is imported at first use.
    """

    def __init__(
        self,
        model: str,
        key: SecretStr,
        *,
        url: str | None = None,
        timeout: float = 120.0,
        retries: int = 3,
        prices: Prices | None = None,
    ) -> None:
        if find_spec("anthropic") is None:
            raise ModelUnavailable("anthropic is not installed.", hint=INSTALL)
        self.name = model
        options = AnthropicOptions(
            key=key, url=url, timeout=timeout, retries=retries, prices=prices or {}
        )
        self._connection = Connection(options)

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        """One user message under one system prompt. Raises ModelUnavailable, ModelError."""
        client = self._connection.client
        try:
            message = client.messages.create(**request(self.name, system, prompt, max_tokens))
        except Exception as error:
            raise self._connection.translated(error, self.name) from error
        call = ModelCall(
            stage="compose", model=self.name, prompt_version="", system=system, user=prompt
        )
        reply = reply_of(message, call, "text", self._connection.options.prices)
        return Completion(
            text=reply.text,
            input_tokens=reply.usage.total - reply.usage.output_tokens,
            output_tokens=reply.usage.output_tokens,
            dollars=reply.dollars,
            stop_reason=reply.stop_reason,
        )


def request(model: str, system: str, prompt: str, max_tokens: int) -> dict[str, Any]:
    """The body of a Messages API call."""
    return {
        "model": model,
        "max_tokens": max_tokens,
        "system": system,
        "messages": [{"role": "user", "content": prompt}],
    }
