"""What tokens cost. Pure; the table itself is the adapters' (``adapters/prices.py``)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from resin_es.model.base import Frozen
from resin_es.ports.language import Usage

_MILLION = 1_000_000
_DATE = re.compile(r"-\d{8}$")
CACHE_WRITE, CACHE_READ = 1.25, 0.1
"""What a prompt cache charges, as shares of the input price, where a price names only that."""
BATCH = 0.5
"""What a batch costs of the ordinary price, all kinds of tokens alike."""


class Price(Frozen):
    """US dollars per million tokens. Prompts of more than ``long_over`` tokens (those of the
    cache counted) cost ``long_factor`` times as much; 0: there is no such limit."""

    input: float
    output: float
    cache_write: float
    cache_read: float
    long_over: int = 0
    long_factor: float = 1.0

    def dollars(self, usage: Usage, *, batch: bool = False) -> float:
        """What ``usage`` costs. It is one call's where the model prices long prompts apart."""
        prompt = usage.total - usage.output_tokens
        factor = self.long_factor if self.long_over and prompt > self.long_over else 1.0
        sum_ = (
            usage.input_tokens * self.input
            + usage.cache_write_tokens * self.cache_write
            + usage.cache_read_tokens * self.cache_read
            + usage.output_tokens * self.output
        )
        return sum_ * factor * (BATCH if batch else 1.0) / _MILLION


Prices = Mapping[str, Price | tuple[float, ...]]
"""Model to its price: a :class:`Price`, or numbers as ``RESIN_PRICES`` holds them, US dollars
per million tokens: (input, output) or (input, output, cache write, cache read)."""


def price_of(prices: Prices, model: str) -> Price | None:
    """The price of ``model``, None where none is known. A dated name (``…-20251001``) has the
    price of the undated one unless it has its own."""
    found = prices.get(model) or prices.get(_DATE.sub("", model))
    if found is None or isinstance(found, Price):
        return found
    first, second, *more = found
    write, read = more or (first * CACHE_WRITE, first * CACHE_READ)
    return Price(input=first, output=second, cache_write=write, cache_read=read)


def usage_dollars(prices: Prices, model: str, usage: Usage, *, batch: bool = False) -> float:
    """What one call cost; 0 for a model without a price, as a local one has none."""
    price = price_of(prices, model)
    return 0.0 if price is None else price.dollars(usage, batch=batch)
