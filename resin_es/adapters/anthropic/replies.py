"""A message of the Messages API → ModelReply. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resin_es.adapters.anthropic.requests import Route
from resin_es.adapters.prices import Prices
from resin_es.ports.language import ModelCall, ModelReply


def reply_of(
    message: Mapping[str, Any] | Any, call: ModelCall, route: Route, prices: Prices
) -> ModelReply:
    """What ``message``, the answer to ``request_of(call, route)``, says.

    Raises ModelError if it is no message of the Messages API.
    """
    raise NotImplementedError
