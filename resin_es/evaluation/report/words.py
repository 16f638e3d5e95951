"""The report's words and number formats, the same in the terminal and on the page. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from resin_es.evaluation.report.values import Difference, RowReport, Section, SliceReport
from resin_es.evaluation.values import Stage

MINUS = "−"
NO_GOLD = (
    "None comes with gold sentences, the sentences that hold its answer, so nothing says how much "
    "of the answers' evidence a system finds."
)
GROUPS: Mapping[str, str] = {
    "baseline": "Baselines",
    "known": "A known way (no baseline)",
    "resin": "RESIN",
    "ablation": "RESIN without one of its parts",
    "external": "Other systems, run here",
}
"""Groups in the order of the tables."""

STAGES: Mapping[Stage, str] = {
    "not_indexed": "not indexed",
    "not_retrieved": "not retrieved",
    "not_selected": "not selected",
    "not_used": "not used",
}
STAGES_EXPLAINED: Mapping[Stage, str] = {
    "not_indexed": "no address in the index holds the sentence",
    "not_retrieved": "no search kept its passage",
    "not_selected": "found, but left out of the evidence",
    "not_used": "in the evidence, but the answer does not cite it",
}


def stages_of(row: RowReport) -> dict[Stage, str]:
    """The stages that the row could lose a sentence at: an answer that nobody composed used
    nothing."""
    return {
        stage: words
        for stage, words in STAGES.items()
        if stage != "not_used" or row.answers is not None
    }


def percent(share: float | None, digits: int = 1) -> str:
    """``0.8934`` → ``89.3``; a dash for None."""
    return "–" if share is None else f"{100 * share:.{digits}f}"


def points(difference: float) -> str:
    """``-0.031`` → ``−3.1``; a sign always, but for what rounds to nothing."""
    number = f"{100 * abs(difference):.1f}"
    if number == "0.0":
        return "0.0"
    return f"+{number}" if difference > 0 else f"{MINUS}{number}"


def interval(difference: Difference) -> str:
    """``−3.1 [−4.0, −2.2]``."""
    low, high = points(difference.low), points(difference.high)
    return f"{points(difference.difference)} [{low}, {high}]"


def tokens(budget: float) -> str:
    """``1,000``."""
    return f"{budget:,.0f}"


def seconds(value: float | None) -> str:
    """Two digits that matter, in seconds: ``0.024``, ``1.3``, ``12``."""
    if value is None:
        return "–"
    if value < 0.1:
        return f"{value:.3f}"
    return f"{value:.2f}" if value < 1 else f"{value:.1f}"


def number(value: float | None) -> str:
    """The paper's own figure, in percent already: ``89.3``."""
    return "–" if value is None else f"{value:.1f}"


def dollars(value: float) -> str:
    """``$0.04``; a dash where nothing was paid."""
    return f"${value:,.2f}" if value else "–"


def listed(items: list[str]) -> str:
    """``500, 1,000 or 2,000``."""
    return f"{', '.join(items[:-1])} or {items[-1]}" if len(items) > 1 else "".join(items)


def asked(part: Section | SliceReport, noun: str = "") -> str:
    """``421 questions``, or ``421 questions, 400 with gold`` where recall is over fewer than
    were asked."""
    told = f"{part.questions:,} {noun}".rstrip()
    return told if part.with_gold == part.questions else f"{told}, {part.with_gold:,} with gold"


def measured(sections: tuple[Section, ...]) -> str:
    """What was measured, in a few sentences."""
    questions = sum(section.questions for section in sections)
    gold = sum(section.with_gold for section in sections)
    documents = sum(section.documents for section in sections)
    budgets = listed([tokens(budget) for budget in sections[0].budgets])
    sets = f"{len(sections)} data sets" if len(sections) > 1 else "one data set"
    over = f"over {documents:,} documents ({sets})"
    part = f"{gold:,} of " if gold != questions else ""
    if not gold:
        return f"{questions:,} questions {over}. {NO_GOLD}"
    return (
        f"{part}{questions:,} questions {over} come with the sentences "
        "that hold their answers, the gold sentences, which no system sees. "
        f"Every system reads the same documents and may hand over at most {budgets} tokens of "
        "text for each question. "
        "The figures say how many of the gold sentences are in that text; no language model "
        "judges them."
    )


def plain(text: str) -> str:
    """One line without control characters, so that no text of a data set moves a terminal's
    cursor."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
