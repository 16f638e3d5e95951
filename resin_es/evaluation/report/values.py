"""A run's report as values: what the tables, the JSON and the page all show.

These models are the schema of the JSON results. Shares and scores lie in [0, 1], differences
between them in [-1, 1]; budgets are tokens of four characters; a mapping by budget or k has the
number as its key. A figure is None where there is nothing to take it from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from resin_es.evaluation.values import PublishedRow, Spent, Stage
from resin_es.model.base import Frozen

SCHEMA = 1
"""Raised when a field changes its name or meaning; new fields do not raise it."""


class Difference(Frozen):
    """``difference`` between two rows over the same questions, and its paired bootstrap
    interval at ``level``."""

    difference: float
    low: float
    high: float
    questions: int
    level: float = 0.95

    @property
    def verdict(self) -> Literal["better", "worse", "no clear difference"]:
        """``better`` or ``worse`` only where the interval lies on one side of zero."""
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "no clear difference"


class AnswerReport(Frozen):
    """Composed answers, at the largest budget that has any. ``f1`` and ``exact`` are over the
    ``referenced`` ones, questions with a known answer, and None without any; ``relevancy`` and
    ``context_recall`` are the judge's means, over its calls that did not fail;
    ``judge_failures`` counts those that did."""

    answers: int
    referenced: int
    f1: float | None
    exact: float | None
    answered: float
    relevancy: float | None = None
    context_recall: float | None = None
    judge_failures: int = 0


class RowReport(Frozen):
    """One system over all questions of a data set (or the mean over data sets).

    ``gold_recall``: share of the gold sentences in the evidence, mean over questions;
    ``full_recall``: share of the questions with all of them; ``document_recall`` and
    ``all_documents`` the same for the gold documents (any sentence of one counts).
    ``gold_recall_at`` and ``document_recall_at`` are taken from the system's own ranking, by k,
    ``mrr`` and ``document_mrr`` are the reciprocal rank of the first gold there. All of these are
    over the questions with gold, and None where there are none.
    ``over_budget`` counts evidence larger than allowed: a row with any is not comparable.
    Seconds are per question, first model call through composing. ``against_resin`` is this
    row's gold recall minus RESIN's. ``failures`` counts missed gold sentences by stage, empty
    for rows without traces.
    """

    system: str
    label: str
    group: str
    about: str = ""
    skipped: str = ""
    gold_recall: Mapping[int, float | None] = Field(default_factory=dict)
    full_recall: Mapping[int, float | None] = Field(default_factory=dict)
    document_recall: Mapping[int, float | None] = Field(default_factory=dict)
    all_documents: Mapping[int, float | None] = Field(default_factory=dict)
    gold_recall_at: Mapping[int, float | None] = Field(default_factory=dict)
    document_recall_at: Mapping[int, float | None] = Field(default_factory=dict)
    mrr: float | None = None
    document_mrr: float | None = None
    mean_tokens: Mapping[int, float] = Field(default_factory=dict)
    mean_passages: Mapping[int, float] = Field(default_factory=dict)
    mean_hops: Mapping[int, float] = Field(default_factory=dict)
    seconds_p50: Mapping[int, float] = Field(default_factory=dict)
    seconds_p95: Mapping[int, float] = Field(default_factory=dict)
    over_budget: int = 0
    spent: Spent = Spent()
    answers: AnswerReport | None = None
    against_resin: Mapping[int, Difference] = Field(default_factory=dict)
    failures: Mapping[int, Mapping[Stage, int]] = Field(default_factory=dict)

    @property
    def seconds(self) -> float | None:
        """Median per question at the budget that took longest: a system that searches once for
        all budgets spends its time at the first."""
        return max(self.seconds_p50.values(), default=None)


class Headline(Frozen):
    """RESIN beside the best baseline at one budget: ``difference`` is RESIN's lead."""

    budget: int
    resin: float
    baseline: str = ""
    baseline_recall: float | None = None
    lead: Difference | None = None


class SliceReport(Frozen):
    """The rows over some of the questions: those of one of the data set's kinds, or of a subset
    that a pattern picks (``about`` says which). Recall is over those ``with_gold``."""

    name: str
    about: str = ""
    questions: int
    with_gold: int
    rows: tuple[RowReport, ...]


class FailureExample(Frozen):
    """A gold sentence that RESIN missed: ``gold`` as indexed, ``taken`` what stands first in
    the evidence (or the answer) instead."""

    budget: int
    stage: Stage
    question_id: str
    question: str
    gold_id: str
    gold: str = ""
    taken: str = ""
    detail: str = ""
    trace_id: str = ""


class Ablation(Frozen):
    """A variant of RESIN beside the same variant in the paper, which measured answers judged by
    a language model: another metric, on other questions. ``ours`` is the gold recall here, None
    where the variant was not run; ``paper_*`` are in percent, None where the paper prints none.
    """

    study: str
    variant: str
    system: str = ""
    ours: Mapping[int, float | None] = Field(default_factory=dict)
    against_resin: Mapping[int, Difference] = Field(default_factory=dict)
    paper_context_recall: float | None = None
    paper_answer_relevancy: float | None = None
    paper_source: str = ""


class PublishedFigures(PublishedRow):
    """Figures that others printed, in percent."""

    measured_here: Literal[False] = False


class Section(Frozen):
    """One data set, or, in ``Report.mean``, the plain mean over all of them. Recall is over the
    questions ``with_gold``; a data set without any has no part in its mean."""

    name: str
    documents: int
    questions: int
    with_gold: int
    budgets: tuple[int, ...]
    headline: tuple[Headline, ...] = ()
    rows: tuple[RowReport, ...] = ()
    by_kind: tuple[SliceReport, ...] = ()
    subsets: tuple[SliceReport, ...] = ()
    ablations: tuple[Ablation, ...] = ()
    examples: tuple[FailureExample, ...] = ()
    published: tuple[PublishedFigures, ...] = ()
    facts: Mapping[str, str] = Field(default_factory=dict)

    def row(self, system: str) -> RowReport | None:
        """The row of that name, if it was run."""
        found = (row for row in self.rows if row.system == system and not row.skipped)
        return next(found, None)

    def group(self, *groups: str) -> tuple[RowReport, ...]:
        """The rows of these groups that were run."""
        return tuple(row for row in self.rows if row.group in groups and not row.skipped)


class Report(Frozen):
    """A run over one or several data sets. ``mean`` holds the rows that every data set has;
    None with one data set."""

    schema_version: int = SCHEMA
    datasets: tuple[Section, ...]
    mean: Section | None = None

    @property
    def sections(self) -> tuple[Section, ...]:
        """The mean first, where there is one."""
        return ((self.mean,) if self.mean else ()) + self.datasets
