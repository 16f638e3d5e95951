"""Sentences to passages: repairing drafts, fixed-size and marked passages, windows, building.

Drafts count sentences by index into the sequence they were made for; both ends are included.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from resin_es.model import (
    Document,
    EvidenceRole,
    MarkedPassage,
    Passage,
    PassageDraft,
    Sentence,
    passage_id,
)
from resin_es.ports import ReadingWindow

FIXED_CHARS = 1_200
"""Size of a fixed-size passage (300 tokens by the project's yardstick)."""
WINDOW_SENTENCES = 80
WINDOW_CHARS = 16_000
CONTEXT_SENTENCES = 2
_ADOPTED = 2
"""So many forgotten sentences go to a neighbour; a longer gap becomes a passage of its own."""


def repair(drafts: Iterable[PassageDraft], n: int) -> tuple[list[PassageDraft], int]:
    """Make ``drafts`` cover each of ``n`` sentences exactly once, in order.

    Drafts outside the range or swallowed by earlier ones go, overlaps are given to the earlier
    draft, short gaps to the draft before them (the first one's at the top), longer gaps become
    drafts of their own without claims (``semantic`` false). Also returns how many repairs that
    took; drafts that needed none come back as they were.
    """
    repairs = 0
    ordered = list(drafts)
    if any(b.first < a.first for a, b in pairwise(ordered)):
        ordered.sort(key=lambda draft: (draft.first, draft.last))
        repairs += 1
    kept: list[PassageDraft] = []
    following = 0
    for draft in ordered:
        first, last = max(draft.first, following), min(draft.last, n - 1)
        if first > last:
            repairs += 1
            continue
        repairs += (first, last) != (draft.first, draft.last)
        if first > following:
            repairs += 1
            first = _fill(kept, following, first)
        kept.append(draft.model_copy(update={"first": first, "last": last}))
        following = last + 1
    if following < n:
        repairs += 1
        if _fill(kept, following, n) < n:
            kept.append(_plain(following, n - 1))
    return kept, repairs


def _fill(kept: list[PassageDraft], first: int, end: int) -> int:
    """Close the gap of sentences ``first`` to ``end - 1`` behind ``kept``. Returns where the
    next draft begins: at ``first`` if the gap is left to it."""
    if end - first > _ADOPTED:
        kept.append(_plain(first, end - 1))
    elif kept:
        kept[-1] = kept[-1].model_copy(update={"last": end - 1})
    else:
        return first
    return end


def fixed_size(
    sentences: Sequence[Sentence], max_chars: int = FIXED_CHARS, *, offset: int = 0
) -> list[PassageDraft]:
    """Whole sentences up to ``max_chars`` a passage (a longer sentence stands alone), without
    entity or role (``semantic`` false). Indices start at ``offset``."""
    drafts: list[PassageDraft] = []
    first = 0
    for index, sentence in enumerate(sentences):
        if index > first and sentence.end - sentences[first].start > max_chars:
            drafts.append(_plain(offset + first, offset + index - 1))
            first = index
    if sentences:
        drafts.append(_plain(offset + first, offset + len(sentences) - 1))
    return drafts


def _plain(first: int, last: int) -> PassageDraft:
    return PassageDraft(first=first, last=last, semantic=False)


def from_marked(document: Document, sentences: Sequence[Sentence]) -> list[PassageDraft]:
    """The passages that the input marked, kept as they are [A.5]; what lies between them gets
    fixed-size drafts. ``sentences`` come from ``sentences_of``, so none crosses an edge.

    Where marks overlap, the earlier one keeps the shared sentences; an empty mark is dropped.
    """
    starts = [sentence.start for sentence in sentences]
    drafts: list[PassageDraft] = []
    following = 0
    for mark in sorted(document.marked, key=lambda mark: (mark.start, mark.end)):
        first = max(bisect_left(starts, mark.start), following)
        end = bisect_left(starts, mark.end)
        if first >= end:
            continue
        drafts.extend(fixed_size(sentences[following:first], offset=following))
        drafts.append(_marked_draft(mark, first, end - 1))
        following = end
    drafts.extend(fixed_size(sentences[following:], offset=following))
    return drafts


def _marked_draft(mark: MarkedPassage, first: int, last: int) -> PassageDraft:
    try:
        role = EvidenceRole(mark.role.strip().lower())
    except ValueError:  # the input's own vocabulary; the passage stands all the same
        role = EvidenceRole.OTHER
    return PassageDraft(
        first=first,
        last=last,
        main_entity=mark.main_entity,
        entity_type=mark.entity_type,
        focus=mark.focus,
        role=role,
    )


def windows(
    sentences: Sequence[Sentence],
    *,
    title: str = "",
    language: str = "en",
    first: int = 0,
    last: int | None = None,
    max_sentences: int = WINDOW_SENTENCES,
    max_chars: int = WINDOW_CHARS,
    context: int = CONTEXT_SENTENCES,
) -> list[ReadingWindow]:
    """Windows over sentences ``first`` to ``last`` (both included; all by default).

    Each sentence is in exactly one window; ``before`` and ``after`` hold up to ``context``
    neighbours, from outside the range too. No window has more than ``max_sentences``, nor
    more than ``max_chars`` unless it is a single sentence.
    """
    end = len(sentences) if last is None else last + 1
    result: list[ReadingWindow] = []
    for start, stop in _window_spans(sentences, first, end, max_sentences, max_chars):
        result.append(
            ReadingWindow(
                title=title,
                language=language,
                sentences=tuple(sentences[start:stop]),
                before=tuple(sentences[max(0, start - context) : start]),
                after=tuple(sentences[stop : stop + context]),
            )
        )
    return result


def _window_spans(
    sentences: Sequence[Sentence], first: int, end: int, max_sentences: int, max_chars: int
) -> Iterator[tuple[int, int]]:
    """Spans of about equal length, so that no window is left with a lone last sentence."""
    count = -(-(end - first) // max_sentences)
    size = -(-(end - first) // count) if count else 0
    start = first
    while start < end:
        stop = start + 1
        while (
            stop < end
            and stop - start < size
            and sentences[stop].end - sentences[start].start <= max_chars
        ):
            stop += 1
        yield start, stop
        start = stop


def build(
    document_key: str, text: str, sentences: Sequence[Sentence], drafts: Iterable[PassageDraft]
) -> tuple[Passage, ...]:
    """The passages of repaired ``drafts``; ``text`` is the document's."""
    return tuple(_passage(document_key, text, sentences, draft) for draft in drafts)


def _passage(
    document_key: str, text: str, sentences: Sequence[Sentence], draft: PassageDraft
) -> Passage:
    held = sentences[draft.first : draft.last + 1]
    start = held[0].start
    ids = tuple(sentence.id for sentence in held)
    body = text[start : held[-1].end]
    return Passage(
        id=passage_id(document_key, ids, body),
        document_key=document_key,
        text=body,
        sentence_ids=ids,
        offsets=tuple((sentence.start - start, sentence.end - start) for sentence in held),
        main_entity=draft.main_entity,
        entity_type=draft.entity_type,
        focus=draft.focus,
        role=draft.role,
        semantic=draft.semantic,
    )
