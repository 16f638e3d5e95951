from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from resin_es.adapters.syntax.reader import SyntaxReader
from resin_es.model import Claim, Passage, Sentence, UnitDraft, number_sentences
from resin_es.ports import PassageInput, ReadingWindow

Claims = Callable[..., list[Claim]]


def sentences_of(texts: Sequence[str]) -> tuple[Sentence, ...]:
    text, spans, at = " ".join(texts), [], 0
    for one in texts:
        spans.append((at, at + len(one)))
        at += len(one) + 1
    return number_sentences("doc", spans, text)


def window_of(*texts: str, title: str = "") -> ReadingWindow:
    return ReadingWindow(title=title, sentences=sentences_of(texts))


def passage_of(*texts: str, title: str = "") -> PassageInput:
    sentences = sentences_of(texts)
    passage = Passage(
        id="p",
        document_key="doc",
        text=" ".join(texts),
        sentence_ids=tuple(sentence.id for sentence in sentences),
        offsets=tuple((sentence.start, sentence.end) for sentence in sentences),
    )
    return PassageInput(title=title, passage=passage, sentences=sentences)


@pytest.fixture(scope="session")
def reader() -> SyntaxReader:
    pytest.importorskip("spacy")
    return SyntaxReader()


@pytest.fixture(scope="session")
def drafts(reader: SyntaxReader) -> Callable[..., list[UnitDraft]]:
    """Drafts of sentences read as one passage."""

    def read(*texts: str, title: str = "") -> list[UnitDraft]:
        return list(reader.units([passage_of(*texts, title=title)])[0].drafts)

    return read


@pytest.fixture(scope="session")
def claims(drafts: Callable[..., list[UnitDraft]]) -> Claims:
    """Claims of sentences read as one passage."""

    def read(*texts: str, title: str = "") -> list[Claim]:
        return [draft.claim for draft in drafts(*texts, title=title)]

    return read
