"""The unit extractor: a passage to a call, its output to unit drafts [A.5, A.7].

Pure. Of a document it sees the title, the passage and what the passage constructor said of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from resin_es.extract.grounding import EMPTY_QUOTE, UNKNOWN_SENTENCE
from resin_es.extract.invisible import visible
from resin_es.llm.data import as_written, delimited, labelled, metadata
from resin_es.llm.faults import SAID, WRONG_SHAPE
from resin_es.llm.labels import index_of, label
from resin_es.llm.schema import closed_schema
from resin_es.model import (
    UNIT_KINDS,
    Claim,
    Modality,
    Polarity,
    StageError,
    UnitDraft,
    UnitKind,
    UnitReject,
)
from resin_es.model.base import token_count
from resin_es.ports import ModelCall, PassageInput, UnitReading
from resin_es.prompts import prompt

WRONG_KIND = "wrong-kind"
MISSING_FIELD = "missing-field"
WRONG_VALUE = "wrong-value"
"""A modality or polarity that there is not, or a field of another type."""
NO_SENTENCE = "no-sentence"

_ROOM = 4_096
"""For what a model may think first: that counts as output too."""
_ROOM_PER_TOKEN = 8
"""Output tokens for one of the passage: a sentence of 30 gives up to four records of 60."""
_MOST_ROOM = 16_000
_TEXTS = (
    "subject",
    "entity_type",
    "object",
    "scope",
    "source_state",
    "target_state",
    "conclusion",
)
_LISTS = ("aliases", "conditions")
_CLAIM: TypeAdapter[Any] = TypeAdapter(Claim)
_SHAPES = {
    kind: frozenset(model.model_fields)
    for model in get_args(get_args(Claim)[0])
    for kind in [model.model_fields["kind"].default]
}


class WireUnit(BaseModel):
    """A unit as the model writes it: one flat shape for all kinds, since a union of six would
    make the schema five times as long. What a kind needs is judged afterwards."""

    model_config = ConfigDict(extra="forbid")

    kind: UnitKind
    subject: str
    entity_type: str = ""
    predicate: str = ""
    object: str = ""
    aliases: list[str] = []
    conditions: list[str] = []
    conclusion: str = ""
    source_state: str = ""
    target_state: str = ""
    scope: str = ""
    modality: Modality
    polarity: Polarity
    confidence: float
    quote: str
    sentences: list[str]


class WireUnits(BaseModel):
    """The whole output."""

    model_config = ConfigDict(extra="forbid")

    units: list[WireUnit]


@cache
def units_schema() -> dict[str, Any]:
    """The JSON schema of the output; what only some units have may be left out."""
    return closed_schema(WireUnits)


def units_call(item: PassageInput, model: str) -> ModelCall:
    """The request for one passage, or for a part of one: only ``item.sentences`` are sent."""
    said = prompt("units")
    passage = item.passage
    about = {
        "title": item.title,
        "main_entity": passage.main_entity,
        "entity_type": passage.entity_type,
        "focus": passage.focus,
    }
    chunk = labelled((label(at), sentence.text) for at, sentence in enumerate(item.sentences))
    return ModelCall(
        stage="units",
        model=model,
        prompt_version=said.version,
        system=said.text,
        user=f"ARTICLE_METADATA: {metadata(about)}\nARTICLE_CHUNK: {delimited(chunk)}",
        output=units_schema(),
        max_tokens=min(_MOST_ROOM, _ROOM + _ROOM_PER_TOKEN * token_count(chunk)),
    )


def units_from(data: Any, item: PassageInput) -> UnitReading:
    """Drafts and rejects, each unit judged by itself. ``failure`` is set where ``data`` holds
    no list of units at all. Whether quotes, names and numbers stand in the text is not judged
    here."""
    units = data.get("units") if isinstance(data, Mapping) else data
    if not isinstance(units, list | tuple):
        error = StageError(stage="units", type="ReadingError", message=SAID[WRONG_SHAPE])
        return UnitReading(failure=error, faults={WRONG_SHAPE: 1})
    drafts: list[UnitDraft] = []
    rejects: list[UnitReject] = []
    for unit in units:
        found = _draft(unit, item)
        if isinstance(found, str):
            held = dict(unit) if isinstance(unit, Mapping) else {"said": unit}
            rejects.append(UnitReject(reason=found, draft={str(k): v for k, v in held.items()}))
        else:
            drafts.append(found)
    return UnitReading(drafts=tuple(drafts), rejects=tuple(rejects))


def _draft(unit: Any, item: PassageInput) -> UnitDraft | str:
    """The draft, or the reason why there is none."""
    if not isinstance(unit, Mapping):
        return WRONG_SHAPE
    kind = re.sub(r"[\s_]+", "-", str(unit.get("kind", "")).strip().lower())
    if kind not in UNIT_KINDS:
        return WRONG_KIND
    cited = _cited(unit.get("sentences"), item)
    if isinstance(cited, str):
        return cited
    source = visible(item.passage.text)
    quote = _text(unit.get("quote"), source)
    if not quote:
        return EMPTY_QUOTE
    claim = _claim(unit, kind, source)
    if isinstance(claim, str):
        return claim
    return UnitDraft(claim=claim, quote=quote, sentence_ids=cited)


def _cited(said: Any, item: PassageInput) -> tuple[str, ...] | str:
    labels: Sequence[Any] = (
        said if isinstance(said, list | tuple) else () if said is None else [said]
    )
    if not labels:
        return NO_SENTENCE
    indices = [index_of(one) for one in labels]
    if any(at is None or not 0 <= at < len(item.sentences) for at in indices):
        return UNKNOWN_SENTENCE
    return tuple(dict.fromkeys(item.sentences[at].id for at in indices if at is not None))


def _claim(unit: Mapping[str, Any], kind: str, source: str) -> Any:
    """The claim, or the reason why there is none. Fields that the kind has not are left out:
    an empty ``conclusion`` on a fact says nothing."""
    fields: dict[str, Any] = {"kind": kind}
    for name in _TEXTS:
        fields[name] = _text(unit.get(name), source)
    fields["surface_predicate"] = _text(unit.get("predicate"), source)
    for name in _LISTS:
        fields[name] = _list(unit.get(name), source)
    for name in ("modality", "polarity"):
        if unit.get(name) not in (None, ""):
            fields[name] = str(unit[name]).strip().lower()
    fields["confidence"] = _confidence(unit.get("confidence"))
    given = {k: v for k, v in fields.items() if k in _SHAPES[kind] and v not in ("", (), None)}
    try:
        return _CLAIM.validate_python(given)
    except ValidationError as error:
        missing = {"missing", "string_too_short", "too_short"}
        return MISSING_FIELD if error.errors()[0]["type"] in missing else WRONG_VALUE


def _text(value: Any, source: str) -> str:
    """A field's text. A bare number is what a careless model writes for a value."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return as_written(str(value), source)


def _list(value: Any, source: str) -> tuple[str, ...]:
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(text for one in items if (text := _text(one, source)))


def _confidence(value: Any) -> float | None:
    """Within (0, 1]; None, so the default, for what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return min(1.0, max(0.05, float(value)))
