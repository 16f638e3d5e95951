"""Indexing that costs money: asked about once, kept under the cap, read by batch if wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from resin_es.bootstrap.estimating import estimate_documents, prices_of
from resin_es.errors import UsageError
from resin_es.model.base import content_id

if TYPE_CHECKING:
    from resin_es.adapters.files import DocumentSpool
    from resin_es.bootstrap.services import Services
    from resin_es.llm.batching import BatchReport
    from resin_es.llm.estimate import Estimate
    from resin_es.ports import Progress

Consent = Callable[["Estimate"], bool]


def paid(services: Services) -> bool:
    """Whether reading goes to a language model."""
    return services.settings.llm != "none"


def agree(
    services: Services,
    documents: DocumentSpool,
    source: str,
    consent: Consent | None,
    progress: Progress | None,
) -> None:
    """Before the first paid reading of a source, and after a change of model, ``consent`` is
    shown the estimate; what it agreed to is remembered in the cluster. None agrees to all.

    Raises UsageError where it does not agree.
    """
    if consent is None:
        return
    key = content_id("agreed", source, services.settings.llm_read_model)
    if services.store.cache_get([key]):
        return
    estimate = estimate_documents(services, documents, progress=progress)
    if estimate.calls and not consent(estimate):
        raise UsageError("Nothing was read and nothing was paid for.")
    services.store.cache_put({key: b"yes"})


def read_ahead(
    services: Services, documents: DocumentSpool, progress: Progress | None
) -> BatchReport:
    """Have a batch read what the index run will ask for. Raises StoreError, ModelError."""
    from resin_es.bootstrap.batches import batch_book
    from resin_es.bootstrap.language import batch_model
    from resin_es.llm.batching import read_in_batches

    settings = services.settings
    return read_in_batches(
        documents,
        services.indexer,
        batch_model(settings),
        services.store,
        batch_book(services),
        services.language,
        name=settings.llm_read_model,
        prices=prices_of(settings),
        progress=progress,
    )
