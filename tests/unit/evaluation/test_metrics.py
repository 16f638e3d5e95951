"""Metrics over ranks and answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.evaluation.metrics import (
    answer_tokens,
    document_recall,
    exact_match,
    mean,
    mean_reciprocal_rank,
    recall_at,
    reciprocal_rank,
    token_f1,
)
from resin_es.evaluation.runner.finding import answer_finding
from resin_es.evaluation.values import EvalQuestion
from resin_es.model.answer import UNCITED, Answer


def test_mean_leaves_out_what_is_missing() -> None:
    assert mean([1.0, None, 0.0]) == 0.5
    assert mean([None]) == mean([]) == 0.0


def test_document_recall_is_a_mean_over_questions_with_gold() -> None:
    assert document_recall([(True, False), (True,), ()]) == 0.75


def test_recall_at_counts_the_first_k_ranks() -> None:
    ranks = [(1, 5, 0, 6), ()]
    assert [recall_at(ranks, k) for k in (1, 4, 5, 10)] == [0.25, 0.25, 0.5, 0.75]


def test_reciprocal_rank_is_that_of_the_first_gold() -> None:
    assert reciprocal_rank((0, 4, 2)) == 0.5
    assert reciprocal_rank((0, 0)) == 0.0
    assert reciprocal_rank(()) is None
    assert mean_reciprocal_rank([(1,), (0,), ()]) == 0.5


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The  Eel's tail, a fish.", ["eels", "tail", "fish"]),
        ("HIF\u20101\u03b1 \u201crises\u201d", ["hif1\u03b1", "rises"]),
        ("a multi-step test", ["multistep", "test"]),
        ("\ufb01ve", ["five"]),
        ("A", ["a"]),
        (" ...", []),
        ("", []),
    ],
)
def test_answers_are_compared_by_their_words(text: str, tokens: list[str]) -> None:
    assert answer_tokens(text) == tokens


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    assert token_f1("the eel swims", ["Eel swims far away."]) == pytest.approx(2 * 2 / (2 + 4))
    assert token_f1("eel eel", ["eel"]) == pytest.approx(2 / 3), "each word as often as it occurs"
    assert token_f1("carp", ["eel"]) == 0.0


def test_the_best_reference_counts() -> None:
    assert token_f1("sea eel", ["carp", "eel", "sea eel"]) == 1.0
    assert exact_match("the Sea eel.", ["carp", "sea eel"]) == 1.0
    assert exact_match("eel sea", ["sea eel"]) == 0.0, "order counts"


def test_nothing_matches_an_empty_answer_or_no_reference() -> None:
    for answer, references in (("", ["eel"]), ("eel", []), ("", []), ("", [""]), ("eel", [""])):
        assert token_f1(answer, references) == exact_match(answer, references) == 0.0


def test_a_bare_yes_or_no_must_be_said_as_such() -> None:
    assert token_f1("Yes.", ["yes"]) == 1.0
    assert token_f1("yes, both are fish", ["yes"]) == 0.0
    assert token_f1("no", ["there is no eel"]) == 0.0
    assert token_f1("no eel there", ["there is no eel"]) > 0.8


@given(st.text(), st.lists(st.text(), max_size=3))
def test_answer_metrics_are_shares_and_a_match_has_full_overlap(
    answer: str, references: list[str]
) -> None:
    f1, exact = token_f1(answer, references), exact_match(answer, references)
    assert 0.0 <= exact <= f1 <= 1.0
    assert token_f1(answer, [*references, answer]) == float(bool(answer_tokens(answer)))


def test_marks_for_readers_are_no_words_of_an_answer() -> None:
    question = EvalQuestion(id="1", question="Who runs it?", answer="The harbour master runs it.")
    marked = Answer(
        question="Who runs it?", text=f"The harbour master runs it. {UNCITED}", found=True
    )
    found = answer_finding(question, marked)
    assert (found.f1, found.exact) == (1.0, 1.0)
