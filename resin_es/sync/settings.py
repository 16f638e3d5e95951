"""What decides how background work goes."""

from __future__ import annotations

from pydantic import Field

from resin_es.model.base import Frozen


class SyncSettings(Frozen):
    """``lease_s``: seconds that a silent owner holds on to a document. ``max_attempts``: tries
    before a document is a dead letter; between them ``backoff_s`` seconds, doubled each time up
    to ``max_backoff_s``, with jitter. ``chunk``: documents in one task. ``queue_bound``: most
    messages that a sync leaves waiting; the rest stays in the registry, for ``reconcile``.
    ``orphan_age_s``: how old a record without a registry entry must be before it is swept.
    """

    lease_s: float = Field(default=600.0, gt=0)
    max_attempts: int = Field(default=5, ge=1)
    backoff_s: float = Field(default=30.0, ge=0)
    max_backoff_s: float = Field(default=3600.0, ge=0)
    chunk: int = Field(default=16, ge=1)
    queue_bound: int = Field(default=1000, ge=1)
    orphan_age_s: float = Field(default=3600.0, ge=0)
