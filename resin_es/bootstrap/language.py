"""Settings → a language model with everything around it: recording, meter, limits.

``RESIN_LLM=claude`` alone chooses it; a key alone sends nothing anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import SecretStr

from resin_es.errors import SettingsError
from resin_es.settings import anthropic_key

if TYPE_CHECKING:
    from resin_es.adapters.anthropic.options import AnthropicOptions
    from resin_es.llm.metered import MeteredModel
    from resin_es.ports import BatchModel, LanguageModel, Ledger, ModelCall, ModelReply
    from resin_es.settings import Settings

KEY_HINT = (
    "A key for Claude is set, but RESIN_LLM is not: nothing is sent to it. RESIN_LLM=claude has "
    "Claude read, plan and write."
)

NO_KEY = SecretStr("none")
"""What a server of one's own gets, which asks for no key."""


class LaterModel:
    """A LanguageModel that is made at its first call: whoever only deletes, searches or looks at
    a trace needs neither a key nor an endpoint."""

    def __init__(self, made: Callable[[], LanguageModel]) -> None:
        """``made`` gives the same model to all who ask; one call of it is enough."""
        self._made = made

    @cached_property
    def _model(self) -> LanguageModel:
        return self._made()

    def call(self, call: ModelCall) -> ModelReply:
        return self._model.call(call)

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        return self._model.stream(call)


def key_without_choice(settings: Settings) -> bool:
    """Whether there is a key that no setting makes use of."""
    return settings.llm == "none" and anthropic_key(settings) is not None


def anthropic_options(settings: Settings) -> AnthropicOptions:
    """Raises SettingsError where there is no key, and no address that may need none."""
    from resin_es.adapters.anthropic.options import AnthropicOptions
    from resin_es.adapters.prices import price_table

    # A key from ANTHROPIC_API_KEY is Anthropic's own; it goes to no other address.
    key = settings.anthropic_key if settings.anthropic_url else anthropic_key(settings)
    if key is None and not (settings.anthropic_url or settings.anthropic_options):
        raise SettingsError(
            "RESIN_LLM=claude, but there is no key.",
            hint="Set RESIN_ANTHROPIC_KEY or ANTHROPIC_API_KEY, or RESIN_ANTHROPIC_URL for a "
            "server that needs none.",
        )
    return AnthropicOptions(
        key=key or NO_KEY,
        url=settings.anthropic_url,
        timeout=settings.llm_timeout,
        retries=settings.llm_retries,
        prices=price_table(settings.prices),
        efforts=dict.fromkeys(("passages", "units"), settings.llm_read_effort),
        options=settings.anthropic_options,
    )


def metered_model(
    settings: Settings, ledger: Ledger, *, limits_in: str = "memory://"
) -> MeteredModel:
    """The model of all stages. ``limits_in`` is where rate limits are counted: in this process,
    or in a Redis that others count in as well. Raises SettingsError, ModelUnavailable."""
    from resin_es.adapters.limits import LimitsRateLimiter
    from resin_es.llm.metered import MeteredModel

    limiter = LimitsRateLimiter(
        settings.llm_requests_per_minute, settings.llm_tokens_per_minute, storage=limits_in
    )
    return MeteredModel(_exchanging(settings), limiter, ledger, cap=settings.max_cost)


def _exchanging(settings: Settings) -> LanguageModel:
    if settings.record and settings.replay:
        raise SettingsError(
            "RESIN_RECORD and RESIN_REPLAY contradict each other.", hint="Unset one of them."
        )
    if settings.replay:
        from resin_es.adapters.recording import ReplayModel

        return ReplayModel(settings.replay)
    from resin_es.adapters.anthropic.client import AnthropicModel

    model: LanguageModel = AnthropicModel(anthropic_options(settings))
    if settings.record:
        from resin_es.adapters.recording import RecordingModel

        model = RecordingModel(model, settings.record)
    return model


def batch_model(settings: Settings) -> BatchModel:
    """Message Batches. Raises SettingsError where exchanges are replayed: a recording has single
    calls."""
    if settings.replay:
        raise SettingsError("--batch cannot be replayed.", hint="Unset RESIN_REPLAY.")
    from resin_es.adapters.anthropic.batches import AnthropicBatches

    model: BatchModel = AnthropicBatches(anthropic_options(settings))
    if settings.record:
        from resin_es.adapters.recorded_batches import RecordingBatches

        model = RecordingBatches(model, settings.record)
    return model
