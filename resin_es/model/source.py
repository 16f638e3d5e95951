"""A source: an index that the team already has, and how its documents are read. Never written."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field, model_validator

from resin_es.model.base import Frozen
from resin_es.model.registry import StageError

WHOLE_ID = "_id"


class SourceSpec(Frozen):
    """What a team says once about an index of theirs.

    ``index`` is a name, alias, pattern or data stream. Field names are dotted paths; a value of
    several text fields, of a list or of nested objects is joined. ``access`` says who may read:
    the groups in ``access_field``, everyone, or nobody but an admin. ``cluster`` names an entry
    of RESIN_CLUSTERS where the index lives on another cluster than the units; no credential
    stands in a source.
    """

    name: str = Field(min_length=1, max_length=256)
    index: str = Field(min_length=1)
    id_field: str = WHOLE_ID
    title_field: str = ""
    text_fields: tuple[str, ...] = Field(min_length=1)
    updated_field: str = ""
    access: Literal["field", "public", "private"]
    access_field: str = ""
    metadata_fields: tuple[str, ...] = ()
    url_field: str = ""
    cluster: str = ""
    slices: int = Field(default=1, ge=1, le=64)
    overlap_seconds: float = Field(default=60.0, ge=0)

    @model_validator(mode="after")
    def _rights(self) -> SourceSpec:
        if (self.access == "field") != bool(self.access_field):
            raise ValueError("access_field goes with access 'field', and only with it")
        return self

    @property
    def fields(self) -> tuple[str, ...]:
        """Every field that is read, each once; nothing else leaves the team's index."""
        named = (
            self.id_field,
            self.title_field,
            *self.text_fields,
            self.updated_field,
            self.access_field,
            *self.metadata_fields,
            self.url_field,
        )
        return tuple(dict.fromkeys(one for one in named if one and one != WHOLE_ID))


class SourceState(Frozen):
    """How far a source is. ``watermark``: newest ``updated_field`` seen by a finished sync.
    ``lease`` and ``heartbeat``: the sync at work, so that a second one is harmless.
    ``revoked``: external ids that nobody but an admin may read, whatever the index says.
    ``unreadable``: records that made no document when they were last looked at, by external id,
    with the reason; a hundred at most are kept."""

    paused: bool = False
    watermark: datetime | None = None
    synced_at: datetime | None = None
    full_at: datetime | None = None
    lease: str | None = None
    heartbeat: datetime | None = None
    error: StageError | None = None
    revoked: tuple[str, ...] = ()
    unreadable: Mapping[str, str] = Field(default_factory=dict)


class Source(Frozen):
    """A source as it is kept."""

    spec: SourceSpec
    state: SourceState = SourceState()
    created_at: datetime | None = None
