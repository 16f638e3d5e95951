"""The UnitStore port on Elasticsearch."""

from __future__ import annotations

from resin_es.adapters.elasticsearch.evidence import EvidencePart
from resin_es.adapters.elasticsearch.purging import PurgingPart
from resin_es.adapters.elasticsearch.reading import ReadingPart
from resin_es.adapters.elasticsearch.registry import RegistryPart
from resin_es.adapters.elasticsearch.writing import WritingPart


class ElasticsearchStore(RegistryPart, EvidencePart, WritingPart, PurgingPart, ReadingPart):
    """Implements :class:`resin_es.ports.UnitStore`; safe to share between threads.

    Reads go through aliases, which the server resolves at each call; searches of a store that is
    ``pinned`` go to the generation that answered when it was. Evidence is written to every
    generation that takes part in a rebuild. Raises the StoreError family; ModelError where a
    generation of another model has to be written and its model fails.
    """
