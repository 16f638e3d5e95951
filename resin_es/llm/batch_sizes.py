"""Calls into batches: how many go into one, and what they are expected to cost."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

from resin_es.llm.batch_report import BatchSettings
from resin_es.llm.pricing import OUTPUT_SHARE, Prices, input_tokens, usage_dollars
from resin_es.ports.language import ModelCall, Usage

FRAME = 400
"""Bytes of a request beside its texts and its schema."""


def batches(calls: Sequence[ModelCall], settings: BatchSettings) -> Iterator[list[ModelCall]]:
    """``calls`` in order, as many in a batch as its bounds allow; a call over them stands
    alone."""
    batch: list[ModelCall] = []
    size = 0
    for call in calls:
        more = bytes_of(call)
        if batch and (len(batch) >= settings.requests or size + more > settings.bytes):
            yield batch
            batch, size = [], 0
        batch.append(call)
        size += more
    if batch:
        yield batch


def bytes_of(call: ModelCall) -> int:
    """At most how many bytes a call takes in a batch, every character escaped that may be."""
    return len(json.dumps([call.system, call.user, call.output], default=dict)) + FRAME


def expected_dollars(prices: Prices, call: ModelCall) -> float:
    """About what a call costs in a batch; 0 for a model without a price."""
    written = math.ceil(call.max_tokens * OUTPUT_SHARE)
    usage = Usage(input_tokens=input_tokens(call), output_tokens=written)
    return usage_dollars(prices, call.model, usage, batch=True)
