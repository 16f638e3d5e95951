"""Claude as a text model, by the ``anthropic`` SDK (extra ``anthropic``), Messages API.

The SDK repeats what is worth repeating (429, 5xx, broken connections) with growing pauses. Key
and address are handed in: none is looked up in the environment.
"""

from __future__ import annotations

from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from resin_es.adapters.prices import Prices, dollars, told
from resin_es.errors import ModelError, ModelUnavailable
from resin_es.ports import Completion

if TYPE_CHECKING:
    from anthropic import Anthropic

URL = "https://api.anthropic.com"
INSTALL = "Install it with: pip install 'resin-es[anthropic]'"


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
        self._key, self._url = key, url or URL
        self._timeout, self._retries = timeout, retries
        self._prices: Prices = prices or {}

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        """One user message under one system prompt. Raises ModelUnavailable, ModelError."""
        client = self._client
        try:
            message = client.messages.create(**request(self.name, system, prompt, max_tokens))
        except Exception as error:
            raise self._translated(error) from error
        return self._completion(message)

    @cached_property
    def _client(self) -> Anthropic:
        from anthropic import Anthropic

        return Anthropic(
            api_key=self._key.get_secret_value(),
            base_url=self._url,
            timeout=self._timeout,
            max_retries=self._retries,
        )

    def _completion(self, message: Any) -> Completion:
        blocks, usage = getattr(message, "content", None), getattr(message, "usage", None)
        if not isinstance(blocks, list) or usage is None:
            raise ModelError(
                f"What {self._url} answered is no message of the Messages API.",
                hint="Check RESIN_ANTHROPIC_URL.",
            )
        taken = [
            getattr(usage, part, None) or 0
            for part in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        ]
        written = getattr(usage, "output_tokens", None) or 0
        return Completion(
            text="".join(block.text for block in blocks if block.type == "text"),
            input_tokens=sum(taken),
            output_tokens=written,
            dollars=dollars(self._prices, self.name, sum(taken), written),
            stop_reason=message.stop_reason or "",
        )

    def _translated(self, error: Exception) -> ModelError:
        import anthropic

        what = told(error, self._key)
        if isinstance(error, (anthropic.AuthenticationError, anthropic.PermissionDeniedError)):
            return ModelUnavailable(
                f"{self._url} refused the key: {what}.",
                hint="Check RESIN_ANTHROPIC_KEY or ANTHROPIC_API_KEY.",
            )
        if isinstance(error, anthropic.NotFoundError):
            return ModelUnavailable(f"{self._url} has no model {self.name!r}: {what}.")
        if isinstance(error, anthropic.APITimeoutError):
            return ModelError(
                f"{self.name} at {self._url} did not answer within {self._timeout:g} s."
            )
        if isinstance(error, anthropic.APIConnectionError):
            cause = told(error.__cause__ or error, self._key)
            return ModelUnavailable(f"{self._url} cannot be reached: {cause}.")
        if isinstance(error, anthropic.RateLimitError):
            return ModelError(
                f"{self._url} takes no more calls: {what}.", hint="Wait, or raise the limit."
            )
        return ModelError(f"{self.name} at {self._url} failed: {what}.")


def request(model: str, system: str, prompt: str, max_tokens: int) -> dict[str, Any]:
    """The body of a Messages API call."""
    return {
        "model": model,
        "max_tokens": max_tokens,
        "system": system,
        "messages": [{"role": "user", "content": prompt}],
    }
