"""What calls cost, and what may be told of them: shared by the adapters that pay for a model."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import SecretStr

Prices = Mapping[str, tuple[float, float]]
"""Model to US dollars per million tokens: (input, output)."""

MAX_TOLD = 300
_MILLION = 1_000_000


def dollars(prices: Prices, model: str, input_tokens: int, output_tokens: int) -> float:
    """The price of a call; 0 for a model without an entry, as a local one has none."""
    price_in, price_out = prices.get(model, (0.0, 0.0))
    return (input_tokens * price_in + output_tokens * price_out) / _MILLION


def told(error: BaseException | str, *secrets: SecretStr | None) -> str:
    """An error's text for people: one line, shortened, without any of ``secrets``, which some
    services repeat when they refuse them."""
    text = re.sub(r"\s+", " ", str(error)).strip()
    for secret in secrets:
        value = secret.get_secret_value() if secret else ""
        if value:
            text = text.replace(value, "********")
    return text if len(text) <= MAX_TOLD else f"{text[: MAX_TOLD - 1]}…"
