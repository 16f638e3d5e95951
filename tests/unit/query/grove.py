"""Small documents, and what hops take of them, for tests of ranking and selection."""

from __future__ import annotations

from resin_es.model import Candidate, EvidenceBuffer, Principal
from resin_es.query.fence import SourcePassage, fence
from resin_es.query.lots import HopHelpings
from resin_es.query.ranking import Helping, helpings, sentence_hits
from resin_es.query.select import select
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore


def sources(*documents: ScriptedDocument) -> dict[str, SourcePassage]:
    store = ScriptedStore(documents)
    wanted = {p.id: d.key for d in documents for p in d.passages}
    fetched = store.fetch(list(wanted), [d.key for d in documents])
    return dict(fence(fetched, wanted.items(), Principal()).sources)


def whole(document: ScriptedDocument, chance: float = 0.0, **scores: float) -> Helping:
    ids = tuple(p.id for p in document.passages)
    return Helping(document.key, chance, ids, ids[:1], scores)


def falling(line: list[Helping]) -> list[Helping]:
    """Chances so far apart that documents come one after the other, unless they are given."""
    return [h._replace(chance=h.chance or 0.9 * 0.1**place) for place, h in enumerate(line)]


def chosen(
    hops: dict[str, list[Helping]], *documents: ScriptedDocument, budget: int = 2000
) -> EvidenceBuffer:
    served = [HopHelpings(name, falling(line)) for name, line in hops.items()]
    return select(served, sources(*documents), budget=budget, near_duplicate=0.9)


def numbered(name: str, passages: int = 2, sentences: int = 2) -> ScriptedDocument:
    return ScriptedDocument(
        name,
        [
            [f"Sentence {i} of part {p} tells of {name} alone." for i in range(sentences)]
            for p in range(passages)
        ],
    )


A, B, C = numbered("alder"), numbered("birch"), numbered("cedar")


def order(buffer: EvidenceBuffer) -> list[str]:
    return list(dict.fromkeys(p.document_id for p in buffer.passages))


def candidate(
    document: ScriptedDocument, passage: int, sentence: int, score: float, kind: str = "sentence"
) -> Candidate:
    held = document.passages[passage]
    return Candidate(
        address_id=f"{kind}-{held.sentence_ids[sentence]}",
        kind=kind,
        passage_id=held.id,
        document_key=document.key,
        document_id=document.entry.external_id,
        source="files",
        sentence_ids=(held.sentence_ids[sentence],),
        score=score,
    )


def line(
    found: list[Candidate], *documents: ScriptedDocument, k: int, whole: bool = True
) -> list[Helping]:
    scores = [(d.key, float(len(documents) - i)) for i, d in enumerate(documents)]
    current = {d.key: d.entry.passages for d in documents}
    return helpings(sentence_hits(found), scores, current, k=k, whole=whole)
