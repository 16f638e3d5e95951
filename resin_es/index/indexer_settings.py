"""Settings of the write path."""

from __future__ import annotations

from resin_es.model.base import Frozen


class IndexSettings(Frozen):
    """How documents are taken in. ``batch_documents`` go through the stages together (one
    lookup, one parse, one refresh), fewer where they are long; ``lease_s`` is how long a silent
    owner keeps a document."""

    batch_documents: int = 64
    batch_characters: int = 400_000
    lease_s: float = 600.0
    cache_vectors: bool = True
