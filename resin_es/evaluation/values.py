"""The values that pass between the steps of an evaluation.

data set → questions → a system's evidence → findings per question → a row → a result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from resin_es.model import EvidenceBuffer, EvidencePassage, Trace
from resin_es.model.base import Frozen

# ---------------------------------------------------------------- data sets


class Span(Frozen):
    """Characters ``start`` to ``end`` (exclusive) of the text of document ``document_id``,
    the id that the document was indexed under."""

    document_id: str
    start: int
    end: int


class GoldSentence(Frozen):
    """A sentence that holds part of the answer. ``places`` are the spans where its words
    stand: its own first, then those of documents that hold the very same sentence."""

    id: str
    places: tuple[Span, ...] = Field(min_length=1)


class EvalQuestion(Frozen):
    """A question with its gold evidence. ``kind`` is the data set's own class of it (HotpotQA:
    ``bridge`` or ``comparison``), ``aliases`` are other answers that count as right."""

    id: str
    question: str
    answer: str = ""
    aliases: tuple[str, ...] = ()
    kind: str = ""
    gold: tuple[GoldSentence, ...] = ()

    @property
    def gold_sentence_ids(self) -> tuple[str, ...]:
        return tuple(sentence.id for sentence in self.gold)


class SourceSentence(Frozen):
    """A sentence as the data set cuts it, and where it stands in its document's text."""

    id: str
    span: Span
    text: str


class EvalDocument(Frozen):
    """A document as it is to be indexed: its id there, title, text; ``record`` holds the data
    set's own fields about it."""

    id: str
    title: str
    text: str
    sentences: tuple[SourceSentence, ...]
    record: Mapping[str, Any] = Field(default_factory=dict)


class EvalDataset(Frozen):
    """One corpus and its questions, in the order of their files. ``left_out`` says of each
    document that no row is fed why; gold in one counts all the same, and is found by none."""

    name: str
    documents: tuple[EvalDocument, ...]
    questions: tuple[EvalQuestion, ...]
    left_out: tuple[str, ...] = ()


# ---------------------------------------------------------------- what a system returns


class Spent(Frozen):
    """Model calls of one question, their tokens, and their price in US dollars."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0

    def plus(self, other: Spent) -> Spent:
        return Spent(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            dollars=self.dollars + other.dollars,
        )


class Evidence(Frozen):
    """What a system hands to the composer for one question at one budget.

    ``ranked`` is its own result list, whatever it ranks (documents, windows, sentences,
    passages), best first and before the budget: each item the spans it stands for. Recall at k
    and MRR are taken from it. ``passages`` are what lies within the budget, in reading order;
    ``text`` instead of passages is what systems give that write their own context (graph
    summaries): it has no spans, so it finds no gold by position. ``answer`` is set by a system
    that writes its own.
    """

    passages: tuple[EvidencePassage, ...] = ()
    ranked: tuple[tuple[Span, ...], ...] = ()
    text: str = ""
    answer: str | None = None
    spent: Spent = Spent()
    trace: Trace | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        return tuple(
            Span(document_id=passage.document_id, start=sentence.start, end=sentence.end)
            for passage in self.passages
            for sentence in passage.sentences
        )

    def buffer(self, budget: int) -> EvidenceBuffer:
        """As the composer takes it."""
        tokens = sum(passage.tokens for passage in self.passages)
        return EvidenceBuffer(passages=self.passages, budget=budget, tokens=tokens)


# ---------------------------------------------------------------- findings


Stage = Literal["not_indexed", "not_retrieved", "not_selected", "not_used"]
"""Where a gold sentence was lost, in the order in which it can be [1]."""


class Miss(Frozen):
    """A gold sentence that the evidence lacks (or, for ``not_used``, that the answer does not
    cite), and where it was lost. ``text`` is the gold sentence as indexed (empty where it is
    not), ``taken`` the start of the evidence that stands first instead; both cut short."""

    gold_id: str
    stage: Stage
    detail: str = ""
    text: str = ""
    taken: str = ""


class Judgement(Frozen):
    """One judge score in [0, 1]; None where the judge's call failed, and then why."""

    score: float | None
    failure: str = ""


class AnswerFinding(Frozen):
    """A composed answer beside the reference. ``relevancy`` and ``context_recall`` are RAGAS's,
    None where no judge was asked."""

    text: str
    found: bool
    f1: float
    exact: float
    relevancy: Judgement | None = None
    context_recall: Judgement | None = None


class QuestionResult(Frozen):
    """One question at one budget.

    ``found[i]`` says whether gold sentence i is in the evidence, ``documents_found[j]`` whether
    any sentence of gold document j is (documents in the order of the gold sentences), ``ranks``
    the 1-based rank of the first item of the system's own list that holds gold sentence i (0
    where none does), ``document_ranks`` the same for gold document j. ``tokens`` is the
    evidence's size, ``seconds`` the time from the first model call through composing.
    """

    question_id: str
    budget: int
    found: tuple[bool, ...]
    documents_found: tuple[bool, ...] = ()
    ranks: tuple[int, ...] = ()
    document_ranks: tuple[int, ...] = ()
    tokens: int
    passages: int = 0
    seconds: float = 0.0
    spent: Spent = Spent()
    hops: int = 0
    misses: tuple[Miss, ...] = ()
    answer: AnswerFinding | None = None
    trace_id: str = ""


class SystemResult(Frozen):
    """One row. ``group`` is ``baseline``, ``resin``, ``ablation``, ``known`` (a known way that
    is no baseline) or ``external``. ``skipped`` says why the row was not run, if it was not."""

    system: str
    label: str
    group: str = "baseline"
    about: str = ""
    skipped: str = ""
    questions: tuple[QuestionResult, ...] = ()


class PublishedRow(Frozen):
    """Figures that others published, in percent; not measured here."""

    system: str
    scope: str
    f1: float | None = None
    context_recall: float | None = None
    answer_relevancy: float | None = None
    source: str


class EvalResult(Frozen):
    """All rows of one run over one data set. ``asked`` are its questions, so that a row's
    findings can be sliced by kind without the data set."""

    dataset: str
    documents: int
    budgets: tuple[int, ...]
    asked: tuple[EvalQuestion, ...]
    systems: tuple[SystemResult, ...]
    published: tuple[PublishedRow, ...] = ()
    facts: Mapping[str, str] = Field(default_factory=dict)
    """What the run stood on: embedder, reader, index counts, versions, seed."""

    def row(self, system: str) -> SystemResult:
        """Raises KeyError."""
        return {item.system: item for item in self.systems}[system]
