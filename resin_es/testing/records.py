"""Small, valid values for tests of anything that stores: entries, units, sentences, passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from resin_es.index.records import passage_record, sentence_record, unit_record
from resin_es.model import (
    DocumentStatus,
    EntityFact,
    Passage,
    PassageRef,
    ReaderIdentity,
    RegistryEntry,
    Sentence,
    Unit,
    document_key,
    number_sentences,
    passage_id,
    unit_id,
)
from resin_es.model.base import Frozen
from resin_es.ports import AddressRecord

DIMS = 4
READER = ReaderIdentity(model="fake", prompt_version="1")


def vector(direction: int, dims: int = DIMS) -> list[float]:
    """A unit vector; vectors of different directions are orthogonal."""
    return [1.0 if position == direction % dims else 0.0 for position in range(dims)]


class Sample(Frozen):
    """One document of two sentences, one passage and one unit, and all its records."""

    entry: RegistryEntry
    sentences: tuple[Sentence, ...]
    passage: Passage
    unit: Unit
    direction: int = 0

    @property
    def addresses(self) -> list[AddressRecord]:
        """The unit's and both sentences' records, all with the sample's vector."""
        dense = vector(self.direction)
        return [
            unit_record(self.unit, self.entry, dense),
            *(sentence_record(one, self.passage, self.entry, dense) for one in self.sentences),
        ]

    @property
    def passages(self) -> list[AddressRecord]:
        return [passage_record(self.passage, self.entry)]


def entry(
    external_id: str = "d1",
    *,
    source: str = "files",
    access: Sequence[str] = ("*",),
    status: DocumentStatus = DocumentStatus.INDEXED,
    metadata: Mapping[str, Any] | None = None,
    **fields: Any,
) -> RegistryEntry:
    """A registry entry; ``fields`` are those of the model."""
    return RegistryEntry(
        key=document_key(source, external_id),
        source=source,
        external_id=external_id,
        status=status,
        access=tuple(sorted(access)),
        metadata=dict(metadata or {}),
        **fields,
    )


def sample(
    external_id: str = "d1",
    *,
    subject: str = "Line 7",
    value: str = "ten minutes",
    direction: int = 0,
    **fields: Any,
) -> Sample:
    """A document that says that ``subject`` takes ``value``; ``fields`` go to the entry."""
    first, second = f"{subject} takes {value}.", "It runs at night."
    text = f"{first} {second}"
    spans = ((0, len(first)), (len(first) + 1, len(text)))
    blank = entry(external_id, **fields)
    sentences = number_sentences(blank.key, spans, text)
    ids = tuple(one.id for one in sentences)
    passage = Passage(
        id=passage_id(blank.key, ids, text),
        document_key=blank.key,
        text=text,
        sentence_ids=ids,
        offsets=spans,
        main_entity=subject,
    )
    claim = EntityFact(subject=subject, surface_predicate="takes", predicate="takes", object=value)
    unit = Unit(
        id=unit_id(blank.key, passage.id, ids[:1], claim),
        claim=claim,
        statement=first,
        quote=first,
        sentence_ids=ids[:1],
        passage_id=passage.id,
        document_key=blank.key,
        document_version="v1",
        reader=READER,
    )
    full = blank.model_copy(
        update={
            "title": f"About {subject}",
            "text": text,
            "version": "v1",
            "committed_version": "v1",
            "passages": (PassageRef(id=passage.id, start=0, sentence_ids=ids, units=1),),
            "committed_at": datetime(2024, 5, 1, tzinfo=timezone.utc),
        }
    )
    return Sample(entry=full, sentences=sentences, passage=passage, unit=unit, direction=direction)
