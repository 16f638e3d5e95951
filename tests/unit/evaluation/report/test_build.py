"""From findings to figures: means, differences, the best baseline, the mean over data sets."""

from __future__ import annotations

import pytest

from resin_es.evaluation.report import build_report
from resin_es.evaluation.report.ablations import k_of, kind_of
from resin_es.evaluation.values import (
    EvalQuestion,
    EvalResult,
    GoldSentence,
    Miss,
    QuestionResult,
    Span,
    SystemResult,
)
from tests.unit.evaluation.report.made_up import KINDS, made_up, without_gold

BUDGETS = (500, 1000)


def question(name: str, kind: str = "") -> EvalQuestion:
    places = (Span(document_id="d", start=0, end=9),)
    return EvalQuestion(
        id=name, question=f"{name}?", kind=kind, gold=(GoldSentence(id=f"g-{name}", places=places),)
    )


def row(system: str, group: str, *found: str, misses: tuple[Miss, ...] = ()) -> SystemResult:
    """``found`` is a mark per question at each budget: ``x`` found, ``.`` not."""
    return SystemResult(
        system=system,
        label=system.upper(),
        group=group,
        questions=tuple(
            QuestionResult(
                question_id=f"q{number}",
                budget=budget,
                found=(mark == "x",),
                documents_found=(mark == "x",),
                ranks=(2 if mark == "x" else 0,),
                tokens=budget - 10,
                seconds=0.5,
                misses=misses if mark == "." else (),
                trace_id=f"t{number}-{budget}",
            )
            for budget, marks in zip(BUDGETS, found, strict=True)
            for number, mark in enumerate(marks)
        ),
    )


def result(*rows: SystemResult, name: str = "fish", questions: int = 4) -> EvalResult:
    kinds = ("bridge", "comparison")
    return EvalResult(
        dataset=name,
        documents=9,
        budgets=BUDGETS,
        asked=tuple(question(f"q{n}", kinds[n % 2]) for n in range(questions)),
        systems=rows,
    )


RESIN = row("resin", "resin", "xxx.", "xxxx")
FIRST = row("first", "baseline", "xx..", "xx..")
SECOND = row("second", "baseline", "x...", "xxx.")
KNOWN = row("known", "known", "xxxx", "xxxx")


def test_figures_of_a_row() -> None:
    (section,) = build_report([result(RESIN)]).datasets
    (resin,) = section.rows
    assert resin.gold_recall == {500: 0.75, 1000: 1.0}
    assert resin.full_recall == {500: 0.75, 1000: 1.0}
    assert resin.all_documents == {500: 0.75, 1000: 1.0}
    assert resin.mean_tokens == {500: 490, 1000: 990}
    assert resin.seconds_p50 == {500: 0.5, 1000: 0.5}
    assert resin.mrr == pytest.approx(0.5)
    assert resin.against_resin == {}
    assert section.headline[0].lead is None


def test_a_difference_is_the_row_minus_resin() -> None:
    (section,) = build_report([result(RESIN, FIRST)]).datasets
    first = section.row("first")
    assert first is not None
    difference = first.against_resin[500]
    assert difference.difference == pytest.approx(-0.25)
    assert difference.low <= difference.difference <= difference.high
    assert difference.questions == 4


def test_the_headline_takes_the_best_baseline_of_each_budget_and_no_known_way() -> None:
    (section,) = build_report([result(RESIN, FIRST, SECOND, KNOWN)]).datasets
    assert [line.baseline for line in section.headline] == ["FIRST", "SECOND"]
    assert [line.baseline_recall for line in section.headline] == [0.5, 0.75]
    leads = [line.lead.difference for line in section.headline if line.lead]
    assert leads == pytest.approx([0.25, 0.25])


@pytest.mark.parametrize(
    ("marks", "verdict"),
    [("." * 40, "better"), ("x" * 40, "worse"), ("x." * 20, "no clear difference")],
)
def test_a_verdict_needs_an_interval_on_one_side(marks: str, verdict: str) -> None:
    hero = {"better": "x" * 40, "worse": "." * 40, "no clear difference": ".x" * 20}[verdict]
    run = result(
        row("resin", "resin", hero, hero), row("first", "baseline", marks, marks), questions=40
    )
    lead = build_report([run]).datasets[0].headline[0].lead
    assert lead is not None
    assert lead.verdict == verdict


def test_the_mean_weighs_data_sets_alike_and_leaves_out_what_one_lacks() -> None:
    small = result(RESIN, FIRST, SECOND, name="small")
    every = "x" * 8
    other = row("second", "baseline", every, every).model_copy(
        update={"skipped": "no model", "questions": ()}
    )
    large = result(
        row("resin", "resin", every, every),
        row("first", "baseline", "." * 8, every),
        other,
        name="large",
        questions=8,
    )
    mean = build_report([small, large]).mean
    assert mean is not None
    assert [one.system for one in mean.rows] == ["resin", "first"]
    assert mean.rows[0].gold_recall[500] == pytest.approx((0.75 + 1.0) / 2)
    assert mean.rows[1].gold_recall[500] == pytest.approx((0.5 + 0.0) / 2)
    assert mean.rows[1].against_resin[500].difference == pytest.approx(-0.625)
    assert mean.rows[1].against_resin[500].questions == 12
    assert (mean.questions, mean.documents) == (12, 18)
    assert mean.headline[0].baseline == "FIRST"


def test_one_data_set_has_no_mean() -> None:
    assert build_report([result(RESIN)]).mean is None


def test_without_resin_there_is_nothing_to_compare_with() -> None:
    (section,) = build_report([result(FIRST)]).datasets
    assert section.headline == ()
    assert section.rows[0].against_resin == {}


def test_a_skipped_row_says_why_and_has_no_figures() -> None:
    skipped = SystemResult(system="x", label="X", group="external", skipped="no model")
    (section,) = build_report([result(RESIN, skipped)]).datasets
    assert section.rows[1].skipped == "no model"
    assert section.rows[1].gold_recall == {}
    assert section.row("x") is None


def test_by_kind() -> None:
    (section,) = build_report([result(RESIN, row("k=5", "ablation", "....", "...."))]).datasets
    bridge, comparison = section.by_kind
    assert (bridge.name, bridge.questions) == ("bridge", 2)
    assert [one.system for one in bridge.rows] == ["resin"]
    assert bridge.rows[0].gold_recall[500] == 1.0
    assert comparison.rows[0].gold_recall[500] == 0.5


def test_misses_are_counted_by_budget_and_stage() -> None:
    misses = (
        Miss(gold_id="g", stage="not_retrieved", detail="why", text="gold", taken="other"),
        Miss(gold_id="h", stage="not_selected"),
    )
    run = result(row("resin", "resin", "xx..", "xxx.", misses=misses), FIRST)
    (section,) = build_report([run]).datasets
    assert section.rows[0].failures[500] == {
        "not_indexed": 0,
        "not_retrieved": 2,
        "not_selected": 2,
        "not_used": 0,
    }
    assert section.rows[0].failures[1000]["not_retrieved"] == 1
    assert section.rows[1].failures == {}
    first = section.examples[0]
    assert (first.budget, first.stage, first.question, first.trace_id) == (
        500,
        "not_retrieved",
        "q2?",
        "t2-500",
    )
    assert (first.gold, first.taken, first.detail) == ("gold", "other", "why")
    assert len(section.examples) == 4


def test_ablations_stand_beside_the_papers_own_figures() -> None:
    (section,) = build_report([made_up(questions=12)]).datasets
    lines = {(line.study, line.variant): line for line in section.ablations}
    by_k = {k: lines["k", f"k = {k}"] for k in (1, 5, 10, 15, 20)}
    assert [line.paper_context_recall for line in by_k.values()] == [69.7, 86.5, 89.3, 89.0, 90.1]
    row_of_five = section.row("k=5")
    assert row_of_five is not None
    assert by_k[5].ours == row_of_five.gold_recall
    assert lines["kind", "only causal-edge"].paper_answer_relevancy == 61.1
    all_kinds = section.row("kind=all")
    assert all_kinds is not None
    assert lines["kind", "all six kinds"].ours == all_kinds.gold_recall
    assert lines["decomposition", "the question as one hop"].system == "one-hop"
    assert lines["decomposition", "no decomposition, k matched"].paper_context_recall is None
    assert {v for s, v in lines if s == "kind"} == {f"only {k}" for k in KINDS} | {"all six kinds"}
    assert {v for s, v in lines if s == "other"} == {
        "no bridging",
        "no lexical part",
        "no sentence addresses",
    }


def test_without_a_variant_there_is_no_ablation() -> None:
    assert build_report([result(RESIN, FIRST)]).datasets[0].ablations == ()


def test_only_studies_that_were_run_stand_beside_the_paper() -> None:
    run = result(RESIN, row("k=5", "ablation", "xx..", "xxxx"))
    lines = build_report([run]).datasets[0].ablations
    assert {line.study for line in lines} == {"k"}
    assert [bool(line.ours) for line in lines] == [False, True, False, False, False]


def test_seconds_are_those_of_the_budget_that_did_the_searching() -> None:
    (section,) = build_report([result(RESIN)]).datasets
    searched_once = section.rows[0].model_copy(update={"seconds_p50": {500: 0.4, 1000: 0.0}})
    assert searched_once.seconds == 0.4


def test_without_gold_nothing_is_compared_and_no_figure_is_zero() -> None:
    (section,) = build_report([without_gold(result(RESIN, FIRST))]).datasets
    assert (section.questions, section.with_gold, section.headline) == (4, 0, ())
    first = section.rows[1]
    assert first.against_resin == {}
    for figures in (
        first.gold_recall,
        first.full_recall,
        first.document_recall,
        first.all_documents,
    ):
        assert figures == {500: None, 1000: None}
    assert set(first.gold_recall_at.values()) == {None}
    assert (first.mrr, first.document_mrr) == (None, None)
    assert first.mean_tokens == {500: 490, 1000: 990}


def test_questions_without_gold_count_in_no_recall_and_are_told_apart() -> None:
    (section,) = build_report([without_gold(result(RESIN, FIRST), "q1", "q3")]).datasets
    assert (section.questions, section.with_gold) == (4, 2)
    assert section.rows[0].gold_recall == {500: 1.0, 1000: 1.0}, "q0 and q2"
    assert section.rows[1].against_resin[500].questions == 2
    bridge, comparison = section.by_kind
    assert (bridge.questions, bridge.with_gold) == (2, 2)
    assert (comparison.questions, comparison.with_gold) == (2, 0)
    assert comparison.rows[0].gold_recall[500] is None


def test_a_data_set_without_gold_has_no_part_in_the_mean_of_recall() -> None:
    bare = without_gold(result(RESIN, FIRST, name="bare"))
    mean = build_report([bare, result(RESIN, FIRST)]).mean
    assert mean is not None
    assert (mean.questions, mean.with_gold) == (8, 4)
    assert mean.rows[0].gold_recall == {500: 0.75, 1000: 1.0}
    assert mean.rows[0].mrr == pytest.approx(0.5)
    assert mean.rows[1].against_resin[500].difference == pytest.approx(-0.25)
    assert [line.lead.difference for line in mean.headline if line.lead] == pytest.approx(
        [0.25, 0.5]
    )
    none_at_all = build_report([bare, bare]).mean
    assert none_at_all is not None
    assert none_at_all.rows[0].gold_recall == {500: None, 1000: None}
    assert none_at_all.headline == ()


def test_names_of_variants() -> None:
    assert (k_of("k=5"), k_of("kind=rule"), k_of("k=x"), k_of("bm25")) == (5, None, None, None)
    assert (kind_of("kind=rule"), kind_of("k=5")) == ("rule", "")


def test_the_same_results_give_the_same_report() -> None:
    assert build_report([made_up(questions=9)]) == build_report([made_up(questions=9)])
