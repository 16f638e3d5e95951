"""Sentences: the smallest evidence, with ids that survive an insertion above them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from resin_es.model.base import Frozen, content_id


class Sentence(Frozen):
    """One sentence. ``start``/``end`` are character offsets in the document's text, and
    ``text == document.text[start:end]``, stripped of outer white space."""

    id: str
    text: str
    start: int
    end: int


def sentence_id(document_key: str, text: str, ordinal: int) -> str:
    """Hash of document, content and ``ordinal`` among the document's equal sentences."""
    return content_id("sentence", document_key, text, str(ordinal))


def number_sentences(
    document_key: str, spans: Iterable[tuple[int, int]], text: str
) -> tuple[Sentence, ...]:
    """Give every span its id; equal sentences are told apart by their order."""
    seen: Counter[str] = Counter()
    result = []
    for start, end in spans:
        body = text[start:end]
        result.append(
            Sentence(
                id=sentence_id(document_key, body, seen[body]), text=body, start=start, end=end
            )
        )
        seen[body] += 1
    return tuple(result)
