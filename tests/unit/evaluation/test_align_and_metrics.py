"""What counts as found, and the metrics over it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from resin_es.evaluation.align import covered_characters, found_gold, merge_spans
from resin_es.evaluation.datasets import EvalQuestion, GoldSentence, Span
from resin_es.evaluation.metrics import full_recall, gold_recall


def span(document: str, start: int, end: int) -> Span:
    return Span(document_id=document, start=start, end=end)


def question(*places: tuple[Span, ...]) -> EvalQuestion:
    gold = tuple(GoldSentence(id=str(n), places=spans) for n, spans in enumerate(places))
    return EvalQuestion(id="q", question="?", gold=gold)


def test_half_of_the_characters_is_enough_and_less_is_not() -> None:
    asked = question((span("d", 10, 20),))
    assert found_gold(asked, [span("d", 15, 40)]) == (True,)
    assert found_gold(asked, [span("d", 16, 40)]) == (False,)
    assert found_gold(asked, [span("d", 10, 13), span("d", 18, 20)]) == (True,)
    assert found_gold(asked, []) == (False,)


def test_the_same_characters_count_once() -> None:
    asked = question((span("d", 10, 20),))
    assert found_gold(asked, [span("d", 10, 13), span("d", 10, 13)]) == (False,)


def test_another_document_does_not_count_unless_it_holds_the_same_sentence() -> None:
    own, copy = span("d", 0, 10), span("e", 50, 60)
    evidence = [span("e", 50, 60)]
    assert found_gold(question((own,)), evidence) == (False,)
    assert found_gold(question((own, copy)), evidence) == (True,)


def test_coverage_is_not_added_up_over_places() -> None:
    asked = question((span("d", 0, 10), span("e", 0, 10)))
    assert found_gold(asked, [span("d", 0, 4), span("e", 4, 8)]) == (False,)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=8))
def test_merged_spans_cover_what_the_spans_cover(pairs: list[tuple[int, int]]) -> None:
    spans = [span("d", min(pair), max(pair)) for pair in pairs]
    merged = merge_spans(spans).get("d", [])
    characters = {c for s in spans for c in range(s.start, s.end)}
    assert covered_characters(merged, 0, 60) == len(characters)
    for (_, end), (start, _) in pairwise(merged):
        assert end < start


def test_recall_is_a_mean_over_questions() -> None:
    found = [(True, False), (True, True, True, True), ()]
    assert gold_recall(found) == 0.75
    assert full_recall(found) == 0.5


def test_where_nothing_is_to_be_found_recall_is_missing_and_not_zero() -> None:
    assert gold_recall([]) is None
    assert gold_recall([(), ()]) is None
    assert full_recall([()]) is None
    assert (gold_recall([(), (False,)]), full_recall([(), (False,)])) == (0.0, 0.0)
