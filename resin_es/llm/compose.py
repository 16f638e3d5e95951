"""The composer's request, and the answer read from what came back. Pure [3.6, A.5, A.7]."""

from __future__ import annotations

from resin_es.model import Answer, EvidenceBuffer
from resin_es.ports import ModelCall, ModelReply


def compose_call(question: str, evidence: EvidenceBuffer, model: str) -> ModelCall:
    """The request: the question and the selected source passages, nothing else."""
    raise NotImplementedError


def answer_from(reply: ModelReply, question: str, evidence: EvidenceBuffer) -> Answer:
    """The answer in ``reply``; every citation stands in ``evidence``. Raises ModelError."""
    raise NotImplementedError
