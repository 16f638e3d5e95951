"""Rows in figures, measures by question, comparisons, subsets."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.errors import InputError
from resin_es.evaluation.measures import MEASURES, compare, per_question, value_of
from resin_es.evaluation.subsets import SUBSETS, subset
from resin_es.evaluation.summary import percentile, summarise, summarise_all
from resin_es.evaluation.values import (
    AnswerFinding,
    EvalQuestion,
    EvalResult,
    Judgement,
    QuestionResult,
    Spent,
    SystemResult,
)

ASKED = (
    EvalQuestion(id="q1", question="Why do eels swim?", answer="to breed", kind="bridge"),
    EvalQuestion(id="q2", question="Who saw the Danube?", kind="comparison"),
    EvalQuestion(id="q3", question="Which fish is it?", answer="an eel", kind="bridge"),
)


def result(key: str, budget: int = 10, **fields: Any) -> QuestionResult:
    plain: dict[str, Any] = {
        "found": (True,),
        "documents_found": (True,),
        "ranks": (1,),
        "document_ranks": (1,),
    }
    return QuestionResult(**{"question_id": key, "budget": budget, "tokens": 8, **plain, **fields})


def answer(f1: float, *, found: bool = True, score: float | None = None, **more: Any) -> Any:
    return AnswerFinding(
        text="x", found=found, f1=f1, exact=float(f1 == 1), relevancy=Judgement(score=score), **more
    )


ROW = SystemResult(
    system="resin",
    label="RESIN",
    group="resin",
    questions=(
        result(
            "q1",
            found=(True, False),
            documents_found=(True, False),
            ranks=(3, 0),
            document_ranks=(1, 12),
            passages=2,
            hops=3,
            seconds=1.0,
            spent=Spent(calls=1, dollars=0.5),
        ),
        result("q2", tokens=12, ranks=(6,), document_ranks=(2,), passages=4, seconds=3.0),
        result("q3", found=(), documents_found=(), ranks=(), document_ranks=(), seconds=2.0),
        result("q1", 20, answer=answer(0.5, score=0.8)),
        result("q2", 20, answer=answer(0.0, found=False)),
        result("q3", 20, answer=answer(1.0, score=0.4)),
    ),
)
RUN = EvalResult(dataset="fish", documents=9, budgets=(10, 20), asked=ASKED, systems=(ROW,))


def test_a_row_at_a_budget() -> None:
    (summary,) = summarise_all(RUN)
    assert (summary.system, summary.label, summary.group) == ("resin", "RESIN", "resin")
    small = summary.overall.budgets[10]
    assert small.questions == 3
    assert (small.recall, small.full) == (0.75, 0.5), "questions without gold do not count"
    assert (small.documents, small.all_documents) == (0.75, 0.5)
    assert (small.mean_tokens, small.mean_passages, small.mean_hops) == (28 / 3, 2.0, 1.0)
    assert small.over_budget == 1
    assert small.seconds_p50 == 2.0
    assert small.seconds_p95 == pytest.approx(2.9)
    assert small.spent == Spent(calls=1, dollars=0.5)


def test_ranks_are_taken_at_the_largest_budget() -> None:
    overall = summarise(ROW, ASKED, (10,)).overall
    assert overall.ranks.recall == {1: 0.0, 2: 0.0, 5: 0.25, 10: 0.75, 20: 0.75}
    assert overall.ranks.documents == {1: 0.25, 2: 0.75, 5: 0.75, 10: 0.75, 20: 1.0}
    assert overall.ranks.mrr == pytest.approx((1 / 3 + 1 / 6) / 2)
    assert overall.ranks.document_mrr == pytest.approx(0.75)
    assert summarise(ROW, ASKED, (10, 20)).overall.ranks.mrr == 1.0


def test_answers_by_what_is_known_and_failed_judge_calls_apart() -> None:
    answers = summarise(ROW, ASKED, (10, 20)).overall.answers
    assert answers is not None
    assert (answers.answers, answers.referenced) == (3, 2)
    assert (answers.f1, answers.exact) == (0.75, 0.5), "q2 has no known answer"
    assert answers.answered == pytest.approx(2 / 3)
    assert answers.relevancy.mean == pytest.approx(0.6)
    assert (answers.relevancy.judged, answers.relevancy.failed) == (2, 1)
    assert answers.context_recall.mean is None
    assert summarise(ROW, ASKED, (10,)).overall.answers is None


def test_without_a_known_answer_there_is_no_f1() -> None:
    unknown = [one.model_copy(update={"answer": ""}) for one in ASKED]
    answers = summarise(ROW, unknown, (10, 20)).overall.answers
    assert answers is not None
    assert (answers.referenced, answers.f1, answers.exact) == (0, None, None)
    assert answers.answered == pytest.approx(2 / 3)


def test_figures_count_how_many_questions_had_gold() -> None:
    overall = summarise(ROW, ASKED, (10, 20)).overall
    assert (overall.budgets[10].questions, overall.budgets[10].with_gold) == (3, 2)


def test_kinds_apart() -> None:
    by_kind = summarise(ROW, ASKED, (10, 20)).by_kind
    assert list(by_kind) == ["bridge", "comparison"]
    assert by_kind["bridge"].budgets[10].recall == 0.5
    assert by_kind["comparison"].budgets[10].recall == 1.0
    plain = [one.model_copy(update={"kind": ""}) for one in ASKED]
    assert summarise(ROW, plain, (10,)).by_kind == {}


def test_a_row_that_was_not_run_has_a_summary_too() -> None:
    row = SystemResult(system="x", label="X", skipped="no key")
    summary = summarise(row, ASKED, (10,))
    assert (summary.skipped, summary.overall.budgets[10].questions) == ("no key", 0)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([], 0.5, 0), ([4.0], 0.95, 4), ([1.0, 3.0], 0.5, 2), ([3.0, 1.0, 2.0], 1.0, 3)],
)
def test_percentile(values: list[float], share: float, expected: float) -> None:
    assert percentile(values, share) == expected


def test_measures_by_question() -> None:
    assert per_question(ROW, "recall", 10) == [0.5, 1.0]
    assert per_question(ROW, "full", 10) == per_question(ROW, "all_documents", 10) == [0.0, 1.0]
    assert per_question(ROW, "documents", 10) == [0.5, 1.0]
    assert per_question(ROW, "recall@5", 10) == [0.5, 0.0]
    assert per_question(ROW, "documents@20", 10) == [1.0, 1.0]
    assert per_question(ROW, "document_mrr", 10) == [1.0, 0.5]
    assert per_question(ROW, "tokens", 10) == [8.0, 12.0, 8.0]
    assert per_question(ROW, "f1", 20) == [0.5, 0.0, 1.0]
    assert per_question(ROW, "f1", 20, ASKED) == [0.5, 1.0]
    assert per_question(ROW, "relevancy", 20) == [0.8, 0.4]
    assert per_question(ROW, "answered", 20) == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("name", ["recal", "recall@", "recall@0", "full@5", "mrr@3"])
def test_an_unknown_measure_lists_the_known_ones(name: str) -> None:
    with pytest.raises(InputError, match=f"unknown measure '{name}'.*{', '.join(MEASURES)}"):
        value_of(name, ROW.questions[0])


def other(**found: tuple[bool, ...]) -> SystemResult:
    rows = tuple(result(key, found=flags) for key, flags in found.items())
    return SystemResult(system="bm25", label="BM25", questions=rows)


def test_rows_are_compared_by_the_questions_that_both_have() -> None:
    run = RUN.model_copy(update={"systems": (ROW, other(q2=(False,), q1=(False, False)))})
    interval = compare([run, run], "bm25", "resin", "recall", 10, resamples=100)
    assert (interval.mean_a, interval.mean_b, interval.difference) == (0.0, 0.75, 0.75)
    assert interval.n == 4
    assert 0.5 <= interval.low <= interval.high <= 1.0


def test_a_comparison_needs_a_question() -> None:
    run = RUN.model_copy(update={"systems": (ROW, other(q9=(True,)))})
    with pytest.raises(InputError, match="fish: no question has recall at 10 in both bm25 and"):
        compare([run], "bm25", "resin", "recall", 10)
    with pytest.raises(KeyError):
        compare([run], "gone", "resin", "recall", 10)


@pytest.mark.parametrize(
    "question",
    [
        "Why do eels leave the river?",
        "What caused the eels to leave?",
        "What led to the decline, and who saw it?",
        "How does warm water affect eels?",
        "How might dams influence the way of eels to the sea?",
        "What is the effect of light on eels?",
        "What consequences does the dam have?",
        "Which factors contribute to their decline?",
        "By what mechanism does salt lower their growth? What are the mechanisms by which it acts?",
        "What happens when the river dries?",
        "What  results\nfrom overfishing?",
    ],
)
def test_questions_for_causes(question: str) -> None:
    assert SUBSETS["causes"].holds(question)


@pytest.mark.parametrize(
    "question",
    [
        "How many eels live there?",
        "Who described the eel?",
        "What methods were used to count eels?",
        "How was the study done?",
        "Which leader of the town was born in May?",
        "What is the title of the report?",
        "Is the causeway older than the bridge?",
    ],
)
def test_questions_that_ask_for_no_cause(question: str) -> None:
    assert not SUBSETS["causes"].holds(question)


def test_questions_with_names() -> None:
    assert SUBSETS["names"].holds("Does the Danube hold eels?")
    assert SUBSETS["names"].holds("Which cells express DPP-4?")
    assert not SUBSETS["names"].holds("How do eels swim?")


def test_a_subset_keeps_its_questions_in_every_row() -> None:
    causes = subset(RUN, "causes")
    assert [one.id for one in causes.asked] == ["q1"]
    assert [one.question_id for one in causes.systems[0].questions] == ["q1", "q1"]
    assert [one.id for one in subset(RUN, "names").asked] == ["q2"]
    with pytest.raises(InputError, match=r"unknown subset 'cause'.*Known: causes, names"):
        subset(RUN, "cause")
