"""Evidence for the tests of the online stages."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.model import EvidenceBuffer, EvidencePassage, EvidenceSentence

BUS = ("The fare of Bus 14 is 3 crowns.", "Dogs ride free on Bus 14.")
METRO = ("The fare of Metro Line B is 5 crowns.",)
QUESTION = "Which is cheaper, Bus 14 or Metro Line B?"


def evidence(*passages: Sequence[str], titles: Sequence[str] = ()) -> EvidenceBuffer:
    """A buffer of passages, each a list of sentences."""
    return EvidenceBuffer(
        budget=2000,
        passages=tuple(_passage(n, one, titles) for n, one in enumerate(passages, start=1)),
    )


def _passage(number: int, sentences: Sequence[str], titles: Sequence[str]) -> EvidencePassage:
    return EvidencePassage(
        passage_id=f"passage-{number}",
        document_key=f"key-{number}",
        document_id=f"document-{number}",
        source="files",
        title=titles[number - 1] if titles else "",
        url=f"https://docs.example/{number}",
        text=" ".join(sentences),
        sentences=tuple(
            EvidenceSentence(id=f"s{number}.{n}", start=0, end=len(text), text=text)
            for n, text in enumerate(sentences, start=1)
        ),
        tokens=10,
        hops=("h1",),
        score=0.5,
    )
