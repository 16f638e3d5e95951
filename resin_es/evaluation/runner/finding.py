"""One question's evidence beside its gold. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.evaluation.align import (
    document_ranks,
    documents_found,
    found_gold,
    merge_spans,
    sentence_ranks,
)
from resin_es.evaluation.metrics import exact_match, token_f1
from resin_es.evaluation.values import (
    AnswerFinding,
    EvalQuestion,
    Evidence,
    Judgement,
    Miss,
    QuestionResult,
    Span,
    Spent,
)
from resin_es.model import Answer
from resin_es.model.answer import UNCITED
from resin_es.model.base import CHARS_PER_TOKEN, token_count


def tokens_of(evidence: Evidence, spans: Sequence[Span] | None = None) -> int:
    """Size of what the composer reads: distinct characters of the evidence, or of a system's
    own context, in tokens of four. ``spans`` are the evidence's, where they are at hand."""
    if evidence.text:
        return token_count(evidence.text)
    merged = merge_spans(evidence.spans if spans is None else spans)
    characters = sum(end - start for spans in merged.values() for start, end in spans)
    return -(-characters // CHARS_PER_TOKEN)


def finding(
    question: EvalQuestion,
    budget: int,
    evidence: Evidence,
    *,
    seconds: float = 0.0,
    misses: Sequence[Miss] = (),
    answer: AnswerFinding | None = None,
    spent: Spent | None = None,
) -> QuestionResult:
    """What ``evidence`` holds of the question's gold."""
    spans = evidence.spans
    return QuestionResult(
        question_id=question.id,
        budget=budget,
        found=found_gold(question, spans),
        documents_found=documents_found(question, spans),
        ranks=sentence_ranks(question, evidence.ranked),
        document_ranks=document_ranks(question, evidence.ranked),
        tokens=tokens_of(evidence, spans),
        passages=len(evidence.passages),
        seconds=seconds,
        spent=spent or evidence.spent,
        hops=len(evidence.trace.plan.hops) if evidence.trace else 0,
        misses=tuple(misses),
        answer=answer,
        trace_id=evidence.trace.id if evidence.trace else "",
    )


def answer_finding(
    question: EvalQuestion,
    answer: Answer,
    *,
    relevancy: Judgement | None = None,
    context_recall: Judgement | None = None,
) -> AnswerFinding:
    """A composed answer beside the reference and its aliases."""
    references = [text for text in (question.answer, *question.aliases) if text]
    said = answer.text.replace(UNCITED, "")  # a mark for readers, no word of the answer
    return AnswerFinding(
        text=answer.text,
        found=answer.found,
        f1=token_f1(said, references),
        exact=exact_match(said, references),
        relevancy=relevancy,
        context_recall=context_recall,
    )
