"""Settings of the Elasticsearch side. One small frozen object, made by ``bootstrap``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from resin_es.extract.statement import STATEMENT_VERSION
from resin_es.model.base import Frozen

VectorIndex = Literal["int8_hnsw", "hnsw", "int4_hnsw", "bbq_hnsw", "flat", "int8_flat", "bbq_flat"]
"""``index_options.type`` of the vector field; ``bbq_*`` need at least 64 dims."""

Language = Literal[
    "arabic",
    "armenian",
    "basque",
    "bengali",
    "brazilian",
    "bulgarian",
    "catalan",
    "cjk",
    "czech",
    "danish",
    "dutch",
    "english",
    "estonian",
    "finnish",
    "french",
    "galician",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "latvian",
    "lithuanian",
    "norwegian",
    "persian",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "sorani",
    "spanish",
    "standard",
    "swedish",
    "thai",
    "turkish",
]
"""Elasticsearch's language analyzers, and ``standard`` for mixed corpora (no stemming, no stop
words)."""


class StoreSettings(Frozen):
    """How records are laid out and moved.

    ``prefix`` begins every index, alias and template name. ``language`` and ``vector_index`` count
    at install only. ``bulk_bytes`` bounds one bulk request, ``bulk_items`` its items. A rejected
    item is tried ``retries`` times more, after ``backoff`` seconds, doubled each time up to
    ``max_backoff``, with jitter. ``page`` is how many hits a scan fetches at once, ``keep_alive``
    how long its point in time may lie idle.
    """

    prefix: str = Field(default="resin", pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=120)
    language: Language = "english"
    vector_index: VectorIndex = "int8_hnsw"
    statement_version: str = STATEMENT_VERSION
    bulk_bytes: int = Field(default=5_000_000, ge=1_000)
    bulk_items: int = Field(default=1_000, ge=1)
    retries: int = Field(default=5, ge=0)
    backoff: float = Field(default=0.5, gt=0)
    max_backoff: float = Field(default=30.0, gt=0)
    page: int = Field(default=1_000, ge=1, le=10_000)
    keep_alive: str = "2m"
    trace_retention_days: int = Field(default=30, ge=1)
