"""Windows and passages for the tests of the offline stages."""

from __future__ import annotations

from resin_es.extract.passages import build
from resin_es.model import Document, PassageDraft, Sentence, number_sentences
from resin_es.ports import PassageInput, ReadingWindow

TRAM = (
    "The Harbour Line (HL) is a tram with 9 cars.",
    "A single ride costs 2.40 marens on weekdays.",
    "If snow falls, trams turn round at Mill Square.",
    "Wet leaves may lengthen its braking distance.",
)


def numbered(texts: tuple[str, ...], key: str = "doc") -> tuple[tuple[Sentence, ...], str]:
    """Sentences of a document that joins ``texts`` by spaces, and its text."""
    text = " ".join(texts)
    spans = []
    at = 0
    for one in texts:
        spans.append((at, at + len(one)))
        at += len(one) + 1
    return number_sentences(key, spans, text), text


def window(
    *texts: str, title: str = "Trams", before: tuple[str, ...] = (), after: tuple[str, ...] = ()
) -> ReadingWindow:
    sentences, _ = numbered((*before, *texts, *after))
    first, end = len(before), len(before) + len(texts)
    return ReadingWindow(
        title=title,
        sentences=sentences[first:end],
        before=sentences[:first],
        after=sentences[end:],
    )


def passage(*texts: str, title: str = "Trams", **fields: str) -> PassageInput:
    sentences, text = numbered(texts)
    draft = PassageDraft.model_validate({"first": 0, "last": len(texts) - 1, **fields})
    (built,) = build("doc", text, sentences, [draft])
    return PassageInput(title=title, passage=built, sentences=sentences)


def document(*texts: str, **fields: object) -> Document:
    values = {"source": "s", "external_id": "1", "title": "Trams", "access": ("*",), **fields}
    return Document.model_validate({"text": " ".join(texts), **values})


def fact(subject: str, predicate: str, value: str, quote: str, at: str = "S1") -> dict[str, object]:
    """A unit as a model writes it."""
    return {
        "kind": "entity-fact",
        "subject": subject,
        "predicate": predicate,
        "object": value,
        "modality": "asserted",
        "polarity": "positive",
        "confidence": 0.9,
        "quote": quote,
        "sentences": [at],
    }
