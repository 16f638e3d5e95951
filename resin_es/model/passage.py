"""Entity-centred passages: contiguous sentences that share an entity and a role [3.3]."""

from __future__ import annotations

from enum import Enum

from pydantic import Field

from resin_es.model.base import Frozen, content_id


class EvidenceRole(str, Enum):
    """What a passage's evidence is good for."""

    ATTRIBUTE = "attribute"
    MEMBERSHIP = "membership"
    RELATION = "relation"
    CAUSE = "cause"
    CONDITION = "condition"
    METHOD = "method"
    RESULT = "result"
    EVENT = "event"
    BACKGROUND = "background"
    OTHER = "other"


class PassageDraft(Frozen):
    """What a passage constructor returns: which sentences (indices into the window it was
    given, contiguous), and what they are about."""

    first: int = Field(ge=0)
    last: int = Field(ge=0)
    main_entity: str = ""
    entity_type: str = ""
    focus: str = ""
    role: EvidenceRole = EvidenceRole.OTHER
    semantic: bool = True


class Passage(Frozen):
    """A passage of one document. Immutable by content: its id names document and text, and
    all offsets in it are relative, so that an insertion above it changes nothing here.

    ``text`` is the document's text from the first sentence's start to the last one's end;
    ``offsets[i]`` is the (start, end) of sentence ``sentence_ids[i]`` inside ``text``.
    """

    id: str
    document_key: str
    text: str
    sentence_ids: tuple[str, ...] = Field(min_length=1)
    offsets: tuple[tuple[int, int], ...] = Field(min_length=1)
    main_entity: str = ""
    entity_type: str = ""
    focus: str = ""
    role: EvidenceRole = EvidenceRole.OTHER
    semantic: bool = True


def passage_id(document_key: str, sentence_ids: tuple[str, ...], text: str) -> str:
    """Hash of document, sentences and text (the gaps between sentences count)."""
    return content_id("passage", document_key, *sentence_ids, text)
