"""Settings → models by key. Nothing here is built unless an option asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from resin_es.errors import SettingsError
from resin_es.settings import anthropic_key, judge_address, judge_key

if TYPE_CHECKING:
    from resin_es.adapters.ragas import RagasJudge
    from resin_es.evaluation.judging import JudgeCall
    from resin_es.ports import Embedder, TextModel
    from resin_es.settings import Settings


def make_text_model(settings: Settings) -> TextModel:
    """The model of evaluation rows that need one. Raises SettingsError."""
    from resin_es.adapters.prices import price_table
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
        prices=price_table(settings.prices),
    )


def make_judge(
    settings: Settings, embedder: Embedder, record: Callable[[JudgeCall], None] | None = None
) -> RagasJudge:
    """The judge of answers, a ``Judge``. ``record`` gets every judgement with its inputs; close
    the judge when done. Raises SettingsError, ModelUnavailable.
    """
    from resin_es.adapters.prices import price_table
    from resin_es.adapters.ragas import RagasJudge

    key, address = judge_key(settings), judge_address(settings)
    if not settings.judge_model:
        raise SettingsError(
            "Answers are to be judged, and no model is named for it.",
            hint="Set RESIN_JUDGE_MODEL, and RESIN_JUDGE_PROVIDER if it is not OpenAI's API.",
        )
    if key is None and not settings.judge_url:
        raise SettingsError(
            f"There is no key for the judge {settings.judge_model}.",
            hint="Set RESIN_JUDGE_KEY, or RESIN_JUDGE_URL for a server that needs none.",
        )
    return RagasJudge(
        settings.judge_provider,
        settings.judge_model,
        key,
        embedder,
        url=address,
        options=settings.judge_options,
        timeout=settings.judge_timeout,
        prices=price_table(settings.prices),
        record=record,
    )
