"""Citation markers in a composer's text: found, checked against the buffer, taken out. Pure.

A marker is a bracket that holds nothing but sentence labels: ``[2.3]``, ``[2.3, 4.1]`` or a
range ``[2.3-2.5]``. What names no sentence that was given is rejected as it was written.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from resin_es.extract.language import UNDETERMINED, detect_language
from resin_es.extract.sentences import split_sentences
from resin_es.llm.data import line
from resin_es.model import EvidenceBuffer, EvidencePassage, EvidenceSentence

_MARKER = re.compile(r"[\[【][ \t]*([0-9][0-9.,; \t\u2010-\u2015-]{0,200})[\]】]")
_DASH = re.compile(r"[ \t]*[\u2010-\u2015-][ \t]*")
_ITEM = re.compile(r"([0-9]{1,6})\.([0-9]{1,6})(?:-(?:([0-9]{1,6})\.)?([0-9]{1,6}))?\Z")
_BREAK = re.compile(r"[,; \t]+")
_ENDED = re.compile(r"[.!?…。！？؟।:][)\]\"”’»*_]*\s*\Z")


class Place(NamedTuple):
    """A sentence of the buffer and its passage."""

    passage: EvidencePassage
    sentence: EvidenceSentence


class Said(NamedTuple):
    """A sentence as the composer wrote it, without its markers."""

    text: str
    places: tuple[Place, ...] = ()
    rejected: tuple[str, ...] = ()


class _Mark(NamedTuple):
    """A marker's labels, where it stood in the text without markers, and whether it stood
    before the words it belongs to."""

    offset: int
    labels: str
    leads: bool


class Labels:
    """The labels that the composer was given: passage and sentence, both from 1."""

    def __init__(self, evidence: EvidenceBuffer) -> None:
        self._passages = evidence.passages

    def resolve(self, labels: str) -> tuple[list[Place], list[str]]:
        """The sentences that ``labels`` name, and what names none."""
        places: list[Place] = []
        rejected: list[str] = []
        for item in filter(None, _BREAK.split(_DASH.sub("-", labels).strip())):
            found = self._item(item.strip(".-"))
            places.extend(found)
            if not found:
                rejected.append(f"[{item}]")
        return places, rejected

    def _item(self, item: str) -> list[Place]:
        match = _ITEM.match(item)
        if match is None:
            return []
        passage, first = int(match[1]), int(match[2])
        last = int(match[4] or first)
        if not 1 <= passage <= len(self._passages) or match[3] not in (None, match[1]):
            return []
        given = self._passages[passage - 1]
        if not 1 <= first <= last <= len(given.sentences):
            return []
        return [Place(given, sentence) for sentence in given.sentences[first - 1 : last]]


def said(text: str, evidence: EvidenceBuffer, *, cut: bool = False) -> list[Said]:
    """The sentences of ``text``, each with what it validly cites. ``cut``: the text broke off,
    so a last sentence that does not end is left out."""
    clean, marks = _without_markers(text)
    spans = [span for span in _spans(clean) if any(map(str.isalnum, clean[slice(*span)]))]
    if cut and spans and not _ENDED.search(clean[slice(*spans[-1])]):
        spans.pop()
    if not spans:
        return []
    labels = Labels(evidence)
    found: list[tuple[dict[Place, None], list[str]]] = [({}, []) for _ in spans]
    for mark in marks:
        places, rejected = labels.resolve(mark.labels)
        held, refused = found[_owner(spans, mark)]
        held.update(dict.fromkeys(places))
        refused.extend(rejected)
    return [
        Said(line(clean[start:end]), tuple(places), tuple(rejected))
        for (start, end), (places, rejected) in zip(spans, found, strict=True)
    ]


def unmarked(text: str) -> str:
    """A source's ``text`` with what reads like one of our markers in round brackets: a sentence
    that is copied cites nothing by what its document wrote into it."""
    return _MARKER.sub(lambda match: f"({match[1]})", text)


def without_markers(text: str) -> str:
    """``text`` without markers and outer white space."""
    return _without_markers(text)[0].strip()


def _spans(text: str) -> list[tuple[int, int]]:
    # Telling languages apart takes a model that loads for a second: not for plain letters.
    foreign = any(not c.isascii() and c.isalpha() for c in text)
    language = detect_language(text) if foreign else UNDETERMINED
    return split_sentences(text, "en" if language == UNDETERMINED else language)


def _without_markers(text: str) -> tuple[str, list[_Mark]]:
    """The text without markers and the blanks before them, and the markers."""
    pieces: list[str] = []
    marks: list[_Mark] = []
    length = 0
    for before, labels, leads in _parts(text):
        kept = before.rstrip(" \t") if labels else before
        pieces.append(kept)
        length += len(kept)
        if labels:
            marks.append(_Mark(length, labels, leads))
    return "".join(pieces), marks


def _parts(text: str) -> Iterator[tuple[str, str, bool]]:
    """Text up to a marker, the marker's labels, and whether it leads its line; at last the rest
    of the text without a marker."""
    end = 0
    for match in _MARKER.finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        line_end = text.find("\n", match.end())
        rest = text[match.end() : line_end if line_end >= 0 else len(text)]
        leads = not _wordy(text[line_start : match.start()]) and _wordy(rest)
        yield text[end : match.start()], match[1], leads
        end = match.end()
    yield text[end:], "", False


def _wordy(text: str) -> bool:
    return any(map(str.isalnum, _MARKER.sub("", text)))


def _owner(spans: Sequence[tuple[int, int]], mark: _Mark) -> int:
    """Which span a marker belongs to: the one it stands in or behind, or, where it leads its
    line, the one that follows."""
    if mark.leads:
        after = bisect_left([end for _, end in spans], mark.offset + 1)
        return min(after, len(spans) - 1)
    return max(0, bisect_left([start for start, _ in spans], mark.offset) - 1)
