"""How the endpoint is reached, and what its tokens cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, SecretStr

from resin_es.adapters.prices import Prices
from resin_es.model.base import Frozen
from resin_es.settings import without_credentials

URL = "https://api.anthropic.com"


class AnthropicOptions(Frozen):
    """``key``: None for an endpoint that asks for none, or where ``options`` brings credentials
    of another kind. ``url``: None for Anthropic's own. ``timeout``: seconds that one attempt may
    stay silent; ``retries``: attempts after the first. ``prices`` turns tokens into dollars; a
    model without an entry costs 0.

    ``options``: any other argument of the SDK's client, of its HTTP client (``proxy``,
    ``verify``, ``cert``, ``trust_env``, ``http2``) or of each request (``extra_headers``,
    ``extra_query``, ``extra_body``); they win over the fields here. Whatever of this may hold a
    secret stays out of ``repr``.
    """

    key: SecretStr | None = None
    url: str | None = Field(None, repr=False)
    timeout: float = Field(120.0, gt=0)
    retries: int = Field(4, ge=0)
    prices: Prices = Field(default_factory=dict)
    options: Mapping[str, Any] = Field(default_factory=dict, repr=False)

    @property
    def address(self) -> str:
        """Where requests go, without any credentials: for people to read."""
        return without_credentials(str(self.options.get("base_url") or self.url or URL))
