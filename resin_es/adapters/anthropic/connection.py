"""The SDK's client: made at first use, once per process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.errors import ModelError

if TYPE_CHECKING:
    from anthropic import Anthropic


class Connection:
    """Thread-safe; a forked process opens its own.

    Raises ModelUnavailable if the SDK is not installed or there is no key for Anthropic's own
    address, SettingsError for an option that nothing knows.
    """

    def __init__(self, options: AnthropicOptions) -> None:
        self.options = options

    @property
    def client(self) -> Anthropic:
        raise NotImplementedError

    def translated(self, error: Exception, model: str) -> ModelError:
        """What the SDK raised, as one of ours, without any secret."""
        raise NotImplementedError

    def close(self) -> None: ...
