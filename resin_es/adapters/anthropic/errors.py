"""What the SDK raises → the ResinError tree."""

from __future__ import annotations

from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.errors import ModelError


def translated(error: Exception, options: AnthropicOptions, model: str) -> ModelError:
    """The error as people should read it: what, where, what to do; no secret of ``options``."""
    raise NotImplementedError
