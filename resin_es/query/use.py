"""What a reply of a language model took, as plans, answers and traces tell it. Pure."""

from __future__ import annotations

from resin_es.errors import ModelError
from resin_es.model import ModelUse, ReaderIdentity
from resin_es.ports import ModelReply


def use_of(reply: ModelReply, asked: ReaderIdentity) -> ModelUse:
    """What ``reply`` took; ``asked`` names the model and the prompt that it was asked by."""
    return ModelUse(
        model=reply.model or asked.model,
        prompt_version=asked.prompt_version,
        tokens=reply.usage.total,
        output_tokens=reply.usage.output_tokens,
        dollars=reply.dollars,
        calls=reply.calls,
    )


def paid(error: ModelError, asked: ReaderIdentity) -> ModelUse | None:
    """What a call took that failed all the same; None where nothing was paid for."""
    return use_of(error.reply, asked) if isinstance(error.reply, ModelReply) else None
