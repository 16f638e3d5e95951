"""What one question will take, by the real calls for a question and evidence of usual size."""

from __future__ import annotations

from resin_es.llm.compose import compose_call
from resin_es.llm.estimate import StageEstimate, stage_estimate
from resin_es.llm.plan import plan_call
from resin_es.llm.pricing import Prices
from resin_es.model import EvidenceBuffer, EvidencePassage, EvidenceSentence

QUESTION = "How does the effect of the first thing on the second depend on what the third one is?"
"""As long as a usual question; what it says does not matter."""
TOKENS_PER_PLAN = 700
"""What a model writes for a plan of two to four hops."""
TOKENS_PER_ANSWER = 450
"""What a model writes for an answer of four to eight sentences with their citations."""
_PASSAGE_TOKENS = 150
_SENTENCE_CHARS = 120


def estimate_question(
    *, model: str, prices: Prices, budget: int, max_hops: int
) -> tuple[StageEstimate, ...]:
    """Plan and answer of one question whose evidence fills its ``budget`` (tokens of four
    characters)."""
    plan = plan_call(QUESTION, max_hops, model)
    compose = compose_call(QUESTION, _evidence(budget), model)
    return (
        stage_estimate(plan, TOKENS_PER_PLAN, prices),
        stage_estimate(compose, TOKENS_PER_ANSWER, prices),
    )


def _evidence(budget: int) -> EvidenceBuffer:
    """As many passages of usual size as ``budget`` holds."""
    per_passage = 4 * _PASSAGE_TOKENS // _SENTENCE_CHARS
    text = "x" * (_SENTENCE_CHARS - 1) + "."
    sentences = tuple(
        EvidenceSentence(
            id=str(n), start=n * _SENTENCE_CHARS, end=(n + 1) * _SENTENCE_CHARS, text=text
        )
        for n in range(per_passage)
    )
    passage = EvidencePassage(
        passage_id="p",
        document_key="d",
        document_id="d",
        source="s",
        title="A title of usual length",
        text=text * per_passage,
        sentences=sentences,
        tokens=_PASSAGE_TOKENS,
    )
    return EvidenceBuffer(passages=(passage,) * max(budget // _PASSAGE_TOKENS, 1), budget=budget)
