"""A retrieval as the command line's JSON lines show it. Pure."""

from __future__ import annotations

from typing import Any

from resin_es.query.values import Retrieval


def retrieval_to_json(question_id: str, retrieval: Retrieval) -> dict[str, Any]:
    """``{"id", "hops", "evidence", "dropped"}``: document ids as given at indexing, offsets in
    characters of the document's text."""
    return {
        "id": question_id,
        "hops": [
            {
                "question": hop.hop.retrieval_text,
                "candidates": [
                    {"kind": c.kind, "document_id": c.document_id, "score": round(c.score, 6)}
                    for c in hop.candidates
                ],
            }
            for hop in retrieval.hops
        ],
        "evidence": [
            {
                "document_id": passage.document_id,
                "passage_id": passage.passage_id,
                "tokens": passage.tokens,
                "sentences": [sentence.model_dump() for sentence in passage.sentences],
            }
            for passage in retrieval.buffer.passages
        ],
        "dropped": [
            {
                "document_id": item.document_id,
                "passage_id": item.passage_id,
                "reason": item.reason,
                "score": round(item.score, 6),
                "hops": list(item.hops),
            }
            for item in retrieval.buffer.dropped
        ],
    }
