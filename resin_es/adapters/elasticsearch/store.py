"""The UnitStore port on Elasticsearch."""

from __future__ import annotations

from resin_es.adapters.elasticsearch.evidence import EvidencePart
from resin_es.adapters.elasticsearch.installed import refuse_mismatch
from resin_es.adapters.elasticsearch.keeping import KeepingPart
from resin_es.adapters.elasticsearch.reading import ReadingPart
from resin_es.adapters.elasticsearch.registry import RegistryPart
from resin_es.ports import ModelIdentity


class ElasticsearchStore(RegistryPart, EvidencePart, ReadingPart, KeepingPart):
    """Implements :class:`resin_es.ports.UnitStore`; safe to share between threads.

    Everything goes through aliases, which the server resolves at each call, so a swap of
    generations is seen at once. Raises the StoreError family only.
    """

    def check(self, model: ModelIdentity) -> None:
        """Raises StoreNotInstalled, IndexMismatch, ClientTooNew before any work is done."""
        refuse_mismatch(self.client, self.settings, model)
