"""A document as it enters, and who may read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from pydantic import Field, field_validator

from resin_es.model.base import Frozen, content_id

EVERYONE = "*"
"""The group that every principal belongs to: a document that lists it is public."""


def document_key(source: str, external_id: str) -> str:
    """Id of a document inside resin-es: a hash of its source's name and its own id."""
    return content_id("document", source, external_id)


class MarkedPassage(Frozen):
    """A passage that the input brings itself; kept as it is and read as one input [A.5].

    ``start`` and ``end`` are character offsets in the document's text.
    """

    start: int = Field(ge=0)
    end: int = Field(gt=0)
    main_entity: str = ""
    entity_type: str = ""
    focus: str = ""
    role: str = "other"


class Document(Frozen):
    """One document. ``access`` lists the groups that may read it: empty means nobody but an
    admin, ``"*"`` means everyone. ``marked`` holds passages that the input brought;
    ``unmarked`` declares input that only the fixed-size fallback may cut."""

    source: str = Field(min_length=1)
    external_id: str = Field(min_length=1)
    title: str = ""
    text: str
    metadata: Mapping[str, Any] = Field(default_factory=dict)
    access: tuple[str, ...]
    url: str | None = None
    updated_at: datetime | None = None
    marked: tuple[MarkedPassage, ...] = ()
    unmarked: bool = False

    @field_validator("access")
    @classmethod
    def _groups(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(not group.strip() for group in value):
            raise ValueError("a group name is empty")
        return tuple(sorted(set(value)))

    @cached_property
    def key(self) -> str:
        """Id inside resin-es (32 hex characters)."""
        return document_key(self.source, self.external_id)

    @cached_property
    def version(self) -> str:
        """Hash of what extraction sees: title, text, marked passages."""
        marks = json.dumps([mark.model_dump() for mark in self.marked], sort_keys=True)
        return content_id("version", self.title, self.text, marks, str(self.unmarked))

    @cached_property
    def rights_hash(self) -> str:
        """Hash of what changes without reading again: access, metadata, url, updated_at."""
        rest = json.dumps(
            {
                "access": self.access,
                "metadata": dict(self.metadata),
                "url": self.url,
                "updated_at": self.updated_at.isoformat() if self.updated_at else None,
            },
            sort_keys=True,
            default=str,
        )
        return content_id("rights", rest)


class Principal(Frozen):
    """Who asks. Every read takes one; without groups only public documents are visible.

    ``admin`` sees everything; only the command line on its own local node makes one.
    """

    groups: frozenset[str] = frozenset()
    admin: bool = False

    @property
    def terms(self) -> list[str]:
        """The groups that an access filter lists, ``"*"`` among them, sorted."""
        return sorted(self.groups | {EVERYONE})

    def may_read(self, access: tuple[str, ...] | list[str]) -> bool:
        """Whether ``access`` (the groups of a document) lets this principal in."""
        return self.admin or bool((self.groups | {EVERYONE}) & set(access))
