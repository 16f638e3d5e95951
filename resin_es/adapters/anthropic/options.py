"""How the endpoint is reached, and what its tokens cost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field, SecretStr

from resin_es.adapters.prices import Prices
from resin_es.model.base import Frozen
from resin_es.ports.language import Stage

URL = "https://api.anthropic.com"
NETWORK_OPTIONS = ("proxy", "verify", "cert", "trust_env", "http2")
"""Options of the SDK's HTTP client that can be written as JSON."""
REQUEST_OPTIONS = ("extra_headers", "extra_query", "extra_body")
"""Options of the SDK's single requests."""
CREDENTIALS = ("api_key", "auth_token", "credentials", "config", "profile")
"""Options of the SDK's client that say who asks; any of them stands instead of the key."""

_OPEN = ("base_url", "verify", "cert", "profile")
_USER_INFO = re.compile(r"//(\S*)@")
_SHORTEST_SECRET = 6


class AnthropicOptions(Frozen):
    """``key``: None for an endpoint that asks for none, or where ``options`` brings credentials
    of another kind. ``url``: None for Anthropic's own. ``timeout``: seconds that one attempt may
    stay silent; ``retries``: attempts after the first. ``prices`` turns tokens into dollars; a
    model without an entry costs 0. ``efforts``: how hard a stage's model is to think (``low`` …),
    the model's own default where a stage is not named; what it thinks is charged as output.

    ``options``: any other argument of the SDK's client, of its HTTP client (``NETWORK_OPTIONS``)
    or of each request (``REQUEST_OPTIONS``); they win over the fields here. Whatever may hold a
    secret stays out of ``repr``.
    """

    key: SecretStr | None = None
    url: str | None = Field(None, repr=False)
    timeout: float = Field(120.0, gt=0)
    retries: int = Field(4, ge=0)
    prices: Prices = Field(default_factory=dict)
    efforts: Mapping[Stage, str] = Field(default_factory=dict)
    options: Mapping[str, Any] = Field(default_factory=dict, repr=False)

    @property
    def address(self) -> str:
        """Where requests go, without any credentials: for people to read."""
        return _USER_INFO.sub("//********@", self.base_url)

    @property
    def base_url(self) -> str:
        return str(self.options.get("base_url") or self.url or URL)

    @property
    def patience(self) -> str:
        """The timeout, for people to read: ``120 s``."""
        timeout = self.options.get("timeout", self.timeout)
        return f"{timeout:g} s" if isinstance(timeout, (int, float)) else "its time"

    @property
    def secrets(self) -> tuple[SecretStr, ...]:
        """Everything here that no message may repeat, longest first."""
        found = {self.key.get_secret_value()} if self.key else set()
        found |= set(_user_info(self.base_url))
        for name, value in self.options.items():
            found |= set(_leaves(value)) if name not in _OPEN else set()
        found |= {repr(one)[1:-1] for one in found} | {one.strip() for one in found}
        longest_first = sorted(found, key=lambda one: (-len(one), one))
        return tuple(SecretStr(one) for one in longest_first if len(one) >= _SHORTEST_SECRET)


def _leaves(value: Any) -> Iterator[str]:
    """What may be a secret in an option: texts, the last word of each (``Bearer …``), and of
    addresses only what stands before the @."""
    if isinstance(value, Mapping):
        for one in value.values():
            yield from _leaves(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _leaves(one)
    elif isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, str) and "://" in value:
        yield from _user_info(value)
    elif isinstance(value, str):
        yield from (value, *value.split()[-1:])


def _user_info(url: str) -> Iterator[str]:
    found = _USER_INFO.search(url)
    if found:
        yield found[1]
        yield found[1].partition(":")[2]
