"""Only what the registry lists now, and the reader may read, counts as evidence. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from resin_es.index.records import passage_from
from resin_es.model import (
    ANSWERABLE,
    EvidenceSentence,
    Passage,
    PassageRef,
    Principal,
    RegistryEntry,
)
from resin_es.ports import FetchedEvidence


class SourcePassage(NamedTuple):
    """A current passage with its document's entry; sentence offsets are the document's."""

    passage: Passage
    entry: RegistryEntry
    start: int
    sentences: tuple[EvidenceSentence, ...]


class Fenced(NamedTuple):
    """``sources`` by passage id. ``stale``: a newer version of a readable document stands.
    ``withheld``: of documents that the reader may not read, or that are gone; named to nobody
    but the code that leaves them out."""

    sources: Mapping[str, SourcePassage]
    stale: frozenset[str]
    withheld: frozenset[str]


def readable(entry: RegistryEntry | None, principal: Principal) -> bool:
    """Whether a document may serve as evidence for ``principal`` at all."""
    return entry is not None and entry.status in ANSWERABLE and principal.may_read(entry.access)


def fence(
    fetched: FetchedEvidence, wanted: Iterable[tuple[str, str]], principal: Principal
) -> Fenced:
    """Judge the (passage id, document key) pairs of ``wanted`` by one realtime fetch."""
    sources: dict[str, SourcePassage] = {}
    stale: set[str] = set()
    withheld: set[str] = set()
    for passage_id, key in dict(wanted).items():
        entry = fetched.entries.get(key)
        if entry is None or not readable(entry, principal):
            withheld.add(passage_id)
            continue
        body = fetched.passages.get(passage_id)
        ref = current(entry, passage_id)
        if ref is None or body is None or body.get("document_key") != key:
            stale.add(passage_id)
            continue
        sources[passage_id] = _source(passage_from(passage_id, body), entry, ref)
    return Fenced(sources, frozenset(stale), frozenset(withheld))


def current(entry: RegistryEntry, passage_id: str) -> PassageRef | None:
    """The entry's reference to a passage, if it lists it now."""
    return next((ref for ref in entry.passages if ref.id == passage_id), None)


def _source(passage: Passage, entry: RegistryEntry, ref: PassageRef) -> SourcePassage:
    sentences = tuple(
        EvidenceSentence(
            id=sentence_id,
            start=ref.start + start,
            end=ref.start + end,
            text=passage.text[start:end],
        )
        for sentence_id, (start, end) in zip(passage.sentence_ids, passage.offsets, strict=True)
    )
    return SourcePassage(passage, entry, ref.start, sentences)
