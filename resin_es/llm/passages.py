"""The passage constructor: a window of sentences to a call, its output to drafts [A.5, A.7].

Pure. Of a document it sees the title and the sentences, nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict

from resin_es.llm.data import as_written, delimited, labelled, metadata
from resin_es.llm.faults import NO_PASSAGES, UNKNOWN_ROLE, UNKNOWN_SENTENCE, WRONG_SHAPE
from resin_es.llm.labels import index_of, label
from resin_es.llm.schema import closed_schema
from resin_es.model import EvidenceRole, PassageDraft
from resin_es.ports import ModelCall, ReadingWindow
from resin_es.prompts import prompt

_ROOM = 4_096
"""For what a model may think first: that counts as output too."""
_ROOM_PER_SENTENCE = 96
"""More than the longest passage record takes, were every sentence a passage of its own."""
_LONGEST = 240
"""Characters of a passage's entity, type or focus."""


class WirePassage(BaseModel):
    """A passage as the model writes it; ``first`` and ``last`` are labels."""

    model_config = ConfigDict(extra="forbid")

    first: str
    last: str
    main_entity: str
    entity_type: str
    focus: str
    role: EvidenceRole


class WirePassages(BaseModel):
    """The whole output."""

    model_config = ConfigDict(extra="forbid")

    passages: list[WirePassage]


@cache
def passages_schema() -> dict[str, Any]:
    """The JSON schema of the output; every field is required."""
    return closed_schema(WirePassages)


def passages_call(window: ReadingWindow, model: str) -> ModelCall:
    """The request for one window. Sentences are labelled ``S1`` and so on."""
    said = prompt("passages")
    rows = [("BEFORE", sentence.text) for sentence in window.before]
    rows += [(label(at), sentence.text) for at, sentence in enumerate(window.sentences)]
    rows += [("AFTER", sentence.text) for sentence in window.after]
    return ModelCall(
        stage="passages",
        model=model,
        prompt_version=said.version,
        system=said.text,
        user=(
            f"ARTICLE_METADATA: {metadata({'title': window.title})}\n"
            f"ARTICLE_CHUNK: {delimited(labelled(rows))}"
        ),
        output=passages_schema(),
        max_tokens=_ROOM + _ROOM_PER_SENTENCE * len(window.sentences),
    )


def passages_from(
    data: Any, window: ReadingWindow
) -> tuple[tuple[PassageDraft, ...], Mapping[str, int]]:
    """Drafts over the window's sentences, as far as ``data`` holds any that can be used, and
    what was wrong with the rest, by short name. Gaps and overlaps are left to the repair; a
    ``last`` behind the window's end too. No drafts at all for a window that has sentences
    means that the output as a whole is of no use."""
    problems: Counter[str] = Counter()
    items = _items(data)
    if items is None:
        problems[WRONG_SHAPE] += 1
        items = ()
    drafts: list[PassageDraft] = []
    for item in items:
        draft = _draft(item, len(window.sentences), problems)
        if draft is not None:
            drafts.append(draft)
    if not drafts and window.sentences and not problems:
        problems[NO_PASSAGES] += 1
    return tuple(drafts), dict(problems)


def _items(data: Any) -> Sequence[Any] | None:
    """The list of passages; some endpoints lose the object around it."""
    held = data.get("passages") if isinstance(data, Mapping) else data
    return held if isinstance(held, list | tuple) else None


def _draft(item: Any, n: int, problems: Counter[str]) -> PassageDraft | None:
    if not isinstance(item, Mapping):
        problems[WRONG_SHAPE] += 1
        return None
    first, last = index_of(item.get("first")), index_of(item.get("last"))
    if first is None or last is None:
        problems[WRONG_SHAPE if "first" not in item else UNKNOWN_SENTENCE] += 1
        return None
    if not 0 <= first < n or not 0 <= last < n:
        problems[UNKNOWN_SENTENCE] += 1
        if not 0 <= first < n or last < 0:
            return None
    if last < first:
        problems[WRONG_SHAPE] += 1
        return None
    return PassageDraft(
        first=first,
        last=last,
        main_entity=_short(item.get("main_entity")),
        entity_type=_short(item.get("entity_type")),
        focus=_short(item.get("focus")),
        role=_role(item.get("role"), problems),
    )


def _short(value: Any) -> str:
    return as_written(value)[:_LONGEST].rstrip() if isinstance(value, str) else ""


def _role(value: Any, problems: Counter[str]) -> EvidenceRole:
    try:
        return EvidenceRole(str(value or "other").strip().lower())
    except ValueError:
        problems[UNKNOWN_ROLE] += 1
        return EvidenceRole.OTHER
