"""A passage, or the part of it that fits, as evidence. Pure."""

from __future__ import annotations

from collections.abc import Collection

from resin_es.model import EvidencePassage, token_count
from resin_es.query.fence import SourcePassage

GAP = " […] "
"""Stands in a cut passage where sentences were left out."""


def rendered(source: SourcePassage, positions: Collection[int]) -> str:
    """The text of the kept sentences, in text order: verbatim where they adjoin, with a mark
    where something between them was left out."""
    runs: list[tuple[int, int]] = []
    for position in sorted(positions):
        if runs and runs[-1][1] == position - 1:
            runs[-1] = (runs[-1][0], position)
        else:
            runs.append((position, position))
    sentences, base = source.sentences, source.start
    return GAP.join(
        source.passage.text[sentences[a].start - base : sentences[b].end - base] for a, b in runs
    )


def passage_of(
    source: SourcePassage, positions: Collection[int], hops: tuple[str, ...], score: float
) -> EvidencePassage:
    """The evidence passage of the kept sentences; title, url and ids from the registry."""
    text = rendered(source, positions)
    entry = source.entry
    return EvidencePassage(
        passage_id=source.passage.id,
        document_key=entry.key,
        document_id=entry.external_id,
        source=entry.source,
        title=entry.title,
        url=entry.url,
        text=text,
        sentences=tuple(source.sentences[position] for position in sorted(positions)),
        tokens=token_count(text),
        hops=hops,
        score=score,
        complete=len(positions) == len(source.sentences),
    )
