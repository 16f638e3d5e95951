"""Settings → what reading will cost. Sends nothing, needs no key, asks for no RESIN_LLM."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from resin_es.errors import SettingsError, StoreNotInstalled
from resin_es.llm.estimate import Estimate, StageEstimate, estimate
from resin_es.model import Document
from resin_es.ports.language import ModelCall, Stage

if TYPE_CHECKING:
    from resin_es.bootstrap.services import Services
    from resin_es.extract.drafting import Previous
    from resin_es.index.indexer import Indexer
    from resin_es.llm.metered import Spending
    from resin_es.llm.pricing import Prices
    from resin_es.ports import OutputCache, Progress
    from resin_es.settings import Settings


class _Nobody:
    """A LanguageModel that is never asked: only what it would be asked for counts."""

    def call(self, call: ModelCall) -> NoReturn:
        raise AssertionError("an estimate sends nothing")

    def stream(self, call: ModelCall) -> NoReturn:
        raise AssertionError("an estimate sends nothing")


def prices_of(settings: Settings) -> Prices:
    """The price table in force."""
    from resin_es.adapters.prices import price_table

    return price_table(settings.prices)


def estimate_paths(
    services: Services,
    paths: Sequence[str | Path],
    *,
    source: str = "files",
    afresh: bool = False,
    problem: Callable[[str, str], None] = lambda where, reason: None,
    progress: Progress | None = None,
) -> Estimate:
    """What indexing ``paths`` would take, by what the registry and the cache hold. ``problem``
    is told of records that cannot be taken. Raises InputError, StoreError."""
    from resin_es.adapters.files import FileSource, Rights

    files = FileSource(
        [str(path) for path in paths],
        source=source,
        rights=Rights.PRIVATE,  # who may read them changes no call
        max_bytes=services.settings.max_document_bytes,
        problem=problem,
    )
    files.check()
    return estimate_documents(services, files.documents(), afresh=afresh, progress=progress)


def estimate_documents(
    services: Services,
    documents: Iterable[Document],
    *,
    afresh: bool = False,
    progress: Progress | None = None,
) -> Estimate:
    """What indexing ``documents`` with RESIN_LLM=claude would take. ``afresh``: as if nothing
    were indexed yet; Elasticsearch is not asked then. Raises StoreError."""
    seen = 0

    def told(count: int) -> None:
        nonlocal seen
        seen = count
        if progress is not None:
            progress.update(count, None, "estimate")

    cache: OutputCache | None = None
    if afresh or not _installed(services):
        pending = _all(documents, told)
    else:
        cache = services.store
        pending = _surveyor(services).survey(documents, seen=told)
    settings = services.settings
    found = estimate(
        pending, model=settings.llm_read_model, prices=prices_of(settings), cache=cache
    )
    return found.model_copy(update={"documents": seen})


def estimate_question(settings: Settings) -> tuple[StageEstimate, ...]:
    """What one question takes, by stage."""
    from resin_es.llm.estimate_question import estimate_question as of_question

    return of_question(
        model=settings.llm_answer_model,
        prices=prices_of(settings),
        budget=settings.budget,
        max_hops=settings.max_hops,
    )


def check_priced(settings: Settings, models: Iterable[str]) -> None:
    """A cap is of no use for a model whose price nobody knows. Raises SettingsError."""
    from resin_es.llm.pricing import price_of

    prices = prices_of(settings)
    unknown = sorted({model for model in models if price_of(prices, model) is None})
    if settings.max_cost is not None and unknown:
        raise SettingsError(
            f"There is a cap on money, but no price known for {', '.join(unknown)}.",
            hint=f'Set RESIN_PRICES, e.g. {{"{unknown[0]}": [1.0, 5.0]}}: US dollars per million '
            "tokens in and out ([0, 0] for a model of your own).",
        )


def unpriced_stages(settings: Settings, spending: Spending) -> dict[Stage, str]:
    """Stages whose dollars are missing in ``spending`` because nobody knows the price of their
    model, and that model."""
    from resin_es.llm.pricing import price_of

    prices, missing = prices_of(settings), {}
    for stage, took in spending.items():
        reads = stage in ("passages", "units")
        name = settings.llm_read_model if reads else settings.llm_answer_model
        if took.usage.total and not took.dollars and price_of(prices, name) is None:
            missing[stage] = name
    return missing


def _all(
    documents: Iterable[Document], told: Callable[[int], None]
) -> Iterator[tuple[Document, Previous | None]]:
    for count, document in enumerate(documents, start=1):
        yield document, None
        told(count)


def _installed(services: Services) -> bool:
    try:
        services.store.check(services.embedder.identity)
    except StoreNotInstalled:
        return False
    return True


def _surveyor(services: Services) -> Indexer:
    """An indexer as it would be with RESIN_LLM=claude, whatever RESIN_LLM is."""
    from resin_es.bootstrap.stages import index_settings
    from resin_es.index.indexer import Indexer
    from resin_es.llm.reader import ModelReader

    reader = ModelReader(_Nobody(), services.store, name=services.settings.llm_read_model)
    return Indexer(services.store, services.embedder, reader, index_settings(services.settings))
