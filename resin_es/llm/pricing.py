"""What tokens cost. Pure; the table itself is the adapters' (``adapters/prices.py``)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

from resin_es.model.base import Frozen
from resin_es.ports.language import ModelCall, Usage

CHARS_PER_TOKEN = 3.0
"""Of English text and JSON, for models since Claude 4.7, which make about 30% more tokens of the
same text than those before (4 characters each). An estimate errs upwards by it."""
OUTPUT_SHARE = 0.25
"""How much of the room for its answer a call is expected to use, where nothing else is known."""
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


def tokens_of(text: str) -> int:
    """About how many tokens ``text`` is."""
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def input_tokens(call: ModelCall) -> int:
    """About how many tokens go out with ``call``: both messages and the schema."""
    schema = "" if call.output is None else json.dumps(call.output, ensure_ascii=False)
    return tokens_of(call.system) + tokens_of(call.user) + tokens_of(schema)


def expected_tokens(call: ModelCall) -> int:
    """About how many tokens ``call`` takes, its answer included: what a rate limiter is told."""
    return input_tokens(call) + math.ceil(call.max_tokens * OUTPUT_SHARE)


def most_dollars(prices: Prices, call: ModelCall) -> float:
    """What ``call`` may cost if it uses all its room; 0 for a model without a price."""
    usage = Usage(input_tokens=input_tokens(call), output_tokens=call.max_tokens)
    return usage_dollars(prices, call.model, usage)
