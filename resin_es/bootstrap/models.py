"""Settings → models by key. Nothing here is built unless an option asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resin_es.errors import SettingsError
from resin_es.settings import anthropic_key

if TYPE_CHECKING:
    from resin_es.ports import TextModel
    from resin_es.settings import Settings


def make_text_model(settings: Settings) -> TextModel:
    """The model of evaluation rows that need one. Raises SettingsError."""
    from resin_es.adapters.text_model import AnthropicTextModel

    key = anthropic_key(settings)
    if not settings.eval_model:
        raise SettingsError(
            "This row needs a language model, and none is named.",
            hint="Set RESIN_EVAL_MODEL to the name of a Claude model.",
        )
    if key is None:
        raise SettingsError(
            f"There is no key for {settings.eval_model}.",
            hint="Set RESIN_ANTHROPIC_KEY or ANTHROPIC_API_KEY.",
        )
    return AnthropicTextModel(
        settings.eval_model,
        key,
        url=settings.anthropic_url,
        timeout=settings.llm_timeout,
        prices=settings.prices,
    )
