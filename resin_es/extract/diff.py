"""What of a changed document must be read again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from resin_es.model import Frozen, PassageRef, Sentence, passage_id


class KeptPassage(Frozen):
    """An old passage that stands unchanged in the new text: sentences ``first`` to ``last``
    (indices, both included)."""

    id: str
    first: int
    last: int


class Diff(Frozen):
    """Every new sentence is in exactly one of ``kept`` or ``regions``; both are in document
    order. A region is (first, last), both included, and as long as no kept passage parts it."""

    kept: tuple[KeptPassage, ...] = ()
    regions: tuple[tuple[int, int], ...] = ()


def changed_regions(
    old: Iterable[PassageRef], sentences: Sequence[Sentence], document_key: str, text: str
) -> Diff:
    """Match the old passages against the new sentences of the same document.

    A passage is kept if its sentences stand in sequence in the new text, wherever that is, and
    its id, recomputed from the new text, is the old one (the gaps between sentences count).
    Linear in both; needs no old text, since ids are hashes of content.
    """
    position = {sentence.id: index for index, sentence in enumerate(sentences)}
    kept: list[KeptPassage] = []
    taken: set[int] = set()
    for ref in old:
        span = _sequence(ref.sentence_ids, position, sentences)
        if span is None or taken.intersection(range(span[0], span[1] + 1)):
            continue
        first, last = span
        body = text[sentences[first].start : sentences[last].end]
        if passage_id(document_key, ref.sentence_ids, body) == ref.id:
            kept.append(KeptPassage(id=ref.id, first=first, last=last))
            taken.update(range(first, last + 1))
    kept.sort(key=lambda passage: passage.first)
    return Diff(kept=tuple(kept), regions=tuple(_gaps(kept, len(sentences))))


def _sequence(
    ids: tuple[str, ...], position: dict[str, int], sentences: Sequence[Sentence]
) -> tuple[int, int] | None:
    """Where ``ids`` stand one after the other, if they do."""
    first = position.get(ids[0]) if ids else None
    if first is None:
        return None
    last = first + len(ids) - 1
    if last >= len(sentences) or any(
        sentences[first + offset].id != name for offset, name in enumerate(ids)
    ):
        return None
    return first, last


def _gaps(kept: Sequence[KeptPassage], n: int) -> list[tuple[int, int]]:
    """The maximal runs of sentences that no kept passage holds."""
    gaps: list[tuple[int, int]] = []
    following = 0
    for passage in kept:
        if passage.first > following:
            gaps.append((following, passage.first - 1))
        following = passage.last + 1
    if following < n:
        gaps.append((following, n - 1))
    return gaps
