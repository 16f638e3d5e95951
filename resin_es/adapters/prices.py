"""What calls cost, and what may be told of them: shared by the adapters that pay for a model."""

from __future__ import annotations

import re

from pydantic import SecretStr

from resin_es.llm.pricing import Price, Prices, price_of, usage_dollars
from resin_es.ports.language import Usage

__all__ = [
    "CLAUDE",
    "Price",
    "Prices",
    "dollars",
    "price_of",
    "price_table",
    "told",
    "usage_dollars",
]

MAX_TOLD = 300


def _old(input_: float, output: float) -> Price:
    return Price(input=input_, output=output, cache_write=1.25 * input_, cache_read=0.1 * input_)


def _new(input_: float, output: float, cache_read: float) -> Price:
    return Price(input=input_, output=output, cache_write=1.25 * input_, cache_read=cache_read)


CLAUDE: Prices = {
    "claude-haiku-5-5": Price(
        input=0.1,
        output=0.5,
        cache_write=0.125,
        cache_read=0.01,
        long_over=100_000,
        long_factor=5.0,
    ),
    "claude-sonnet-5-5": _new(2.0, 10.0, 0.1),
    "claude-opus-5-5": _new(4.0, 20.0, 0.2),
    "claude-fable-5-2": _new(8.0, 40.0, 0.2),
    "claude-fable-5-1": _new(10.0, 50.0, 0.25),
    "claude-mythos-5-1": _new(10.0, 50.0, 0.25),
    "claude-fable-5": _old(10.0, 50.0),
    "claude-mythos-5": _old(10.0, 50.0),
    "claude-opus-5": _old(5.0, 25.0),
    "claude-opus-4-8": _old(5.0, 25.0),
    "claude-opus-4-7": _old(5.0, 25.0),
    "claude-opus-4-6": _old(5.0, 25.0),
    "claude-opus-4-5": _old(5.0, 25.0),
    "claude-sonnet-5": _old(2.0, 10.0),
    "claude-sonnet-4-6": _old(3.0, 15.0),
    "claude-sonnet-4-5": _old(3.0, 15.0),
    "claude-haiku-4-5": _old(1.0, 5.0),
}
"""Anthropic's own prices as of 2026-11; where they stand, and what they leave out (other
platforms, other cache lifetimes): ``docs/cost.md``."""


def price_table(overrides: Prices | None = None) -> Prices:
    """The built-in table under ``overrides`` (the setting ``prices``)."""
    return {**CLAUDE, **(overrides or {})}


def dollars(prices: Prices, model: str, input_tokens: int, output_tokens: int) -> float:
    """The price of a call; 0 for a model without an entry, as a local one has none."""
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    return usage_dollars(prices, model, usage)


def told(error: BaseException | str, *secrets: SecretStr | None) -> str:
    """An error's text for people: one line, shortened, without any of ``secrets``, which some
    services repeat when they refuse them."""
    text = re.sub(r"\s+", " ", str(error)).strip()
    for secret in secrets:
        value = secret.get_secret_value() if secret else ""
        if value:
            text = text.replace(value, "********")
    return text if len(text) <= MAX_TOLD else f"{text[: MAX_TOLD - 1]}…"
