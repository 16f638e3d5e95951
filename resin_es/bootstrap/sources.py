"""Sources: wiring, adding with checks, listing, removing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resin_es.bootstrap.services import Services
    from resin_es.ports.sync import ForeignIndex, SourceBook


def source_book(services: Services) -> SourceBook:
    """Where sources are kept: beside the units."""
    from resin_es.adapters.elasticsearch.sources import ElasticsearchSources
    from resin_es.bootstrap.stages import store_settings

    return ElasticsearchSources(services.client, store_settings(services.settings))


def foreign_index(services: Services, cluster: str = "") -> ForeignIndex:
    """Indices of one cluster: an entry of RESIN_CLUSTERS, or the units' own (empty)."""
    raise NotImplementedError
