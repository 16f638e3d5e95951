"""What adding a source found out. Plain values, for the command line and for Python."""

from __future__ import annotations

from datetime import datetime

from resin_es.model.base import Frozen
from resin_es.model.source import SourceSpec
from resin_es.ports.sync import Unreadable


class Sample(Frozen):
    """One document as it would be read. ``units`` are statements that a free reader finds in it;
    empty where reading costs money."""

    external_id: str
    title: str
    text: str
    access: tuple[str, ...]
    url: str | None = None
    updated_at: datetime | None = None
    metadata: tuple[str, ...] = ()
    units: tuple[str, ...] = ()


class Lacking(Frozen):
    """Records without a value, by what the index says; None where it cannot say (fields in
    nested objects)."""

    text: int | None = None
    access: int | None = None
    updated: int | None = None


class Price(Frozen):
    """What reading by Claude would take, measured on the first ``measured`` documents and, where
    there are more, multiplied up. ``dollars`` is None where the model has no known price."""

    measured: int
    calls: int
    dollars: float | None
    batch_dollars: float | None
    model: str


class SourceCheck(Frozen):
    """``kept`` says whether the source was added, or only looked at. ``unreadable`` names records
    among the ``looked_at`` that make no document."""

    spec: SourceSpec
    kept: bool
    indices: tuple[str, ...]
    documents: int
    lacking: Lacking
    looked_at: int
    samples: tuple[Sample, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    price: Price | None = None
    warnings: tuple[str, ...] = ()


def warnings_of(spec: SourceSpec, documents: int, lacking: Lacking, texts: int) -> list[str]:
    """What is allowed but most likely not meant. ``texts``: sampled documents that have text."""
    told = []
    if not documents:
        told.append(f"index {spec.index!r} holds no document yet")
    elif not texts:
        told.append("no document looked at has text in the named fields")
    if lacking.text:
        told.append(f"{_documents(lacking.text, 'has', 'have')} no text and will count as empty")
    if lacking.access:
        told.append(
            f"{_documents(lacking.access, 'names', 'name')} no group in {spec.access_field!r}: "
            "only an admin may read what nobody is named for"
        )
    if not spec.updated_field:
        told.append("without updated_field every sync goes through the whole index")
    elif lacking.updated:
        told.append(
            f"{_documents(lacking.updated, 'has', 'have')} no {spec.updated_field!r}: only a "
            "full sync sees their changes"
        )
    return told


def _documents(count: int, one: str, several: str) -> str:
    return f"{count:,} document {one}" if count == 1 else f"{count:,} documents {several}"
