"""The batches of earlier runs: listed, cancelled, and not forgotten by an ordinary run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resin_es.bootstrap.services import Services
    from resin_es.llm.batching import OpenBatch
    from resin_es.ports import BatchBook


def batch_book(services: Services) -> BatchBook:
    """Where batches under way are remembered."""
    from resin_es.adapters.elasticsearch.batch_book import ElasticsearchBatchBook
    from resin_es.bootstrap.stages import store_settings

    return ElasticsearchBatchBook(services.client, store_settings(services.settings))


def list_batches(services: Services) -> list[OpenBatch]:
    """Open batches and how they stand. Raises SettingsError, StoreError, ModelError."""
    from resin_es.bootstrap.language import batch_model
    from resin_es.llm.batching import open_batches

    return open_batches(batch_model(services.settings), batch_book(services))


def cancel_batches(services: Services) -> list[str]:
    """Stop those that run; returns their ids. Raises as :func:`list_batches`."""
    from resin_es.bootstrap.language import batch_model
    from resin_es.llm import batching

    return batching.cancel_batches(batch_model(services.settings), batch_book(services))


def left_open(services: Services) -> dict[str, Any]:
    """For the report of a run without batches: those that are open, whose results are paid for
    and would not be used. Empty where there are none."""
    count = len(batch_book(services).open())
    if not count:
        return {}
    what = "1 batch of an earlier run is" if count == 1 else f"{count} batches of earlier runs are"
    told = (
        f"{what} open: what the provider finished is paid for, and index --batch takes it up; "
        "resin-es batches lists what is open, and stops it with --cancel"
    )
    return {"open": count, "problems": [told]}
