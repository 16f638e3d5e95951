"""Where gold stands in a system's own list, and which gold documents are in evidence."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from resin_es.evaluation.align import (
    document_ranks,
    documents_found,
    found_gold,
    gold_documents,
    sentence_ranks,
)
from resin_es.evaluation.values import EvalQuestion, GoldSentence, Span


def span(document: str, start: int, end: int) -> Span:
    return Span(document_id=document, start=start, end=end)


def question(*places: tuple[Span, ...]) -> EvalQuestion:
    gold = tuple(GoldSentence(id=str(n), places=spans) for n, spans in enumerate(places))
    return EvalQuestion(id="q", question="?", gold=gold)


def test_the_rank_is_where_half_the_sentence_is_there_all_items_together() -> None:
    asked = question((span("d", 0, 10),))
    assert sentence_ranks(asked, [[span("e", 0, 9)], [span("d", 0, 5)]]) == (2,)
    thirds = [[span("d", 0, 3)], [span("e", 0, 9)], [span("d", 3, 6)]]
    assert sentence_ranks(asked, thirds) == (3,)
    again = [[span("d", 0, 3)], [span("d", 0, 3)]]
    assert sentence_ranks(asked, again) == (0,), "the same characters count once"
    assert sentence_ranks(asked, []) == (0,)


def test_an_item_of_several_spans_has_one_rank() -> None:
    asked = question((span("d", 0, 10),), (span("d", 20, 30),))
    assert sentence_ranks(asked, [[span("d", 0, 10), span("d", 20, 30)]]) == (1, 1)


def test_the_best_place_gives_the_rank_and_places_are_not_added_up() -> None:
    asked = question((span("d", 0, 10), span("e", 0, 10)))
    assert sentence_ranks(asked, [[span("e", 0, 8)], [span("d", 0, 10)]]) == (1,)
    assert sentence_ranks(asked, [[span("e", 0, 4)], [span("d", 4, 8)]]) == (0,)


def test_gold_documents_in_the_order_of_the_sentences_each_once() -> None:
    asked = question((span("b", 0, 5),), (span("a", 0, 5),), (span("b", 9, 12),))
    assert gold_documents(asked) == (frozenset("b"), frozenset("a"))
    assert gold_documents(question()) == ()


def test_only_a_document_that_holds_all_its_gold_stands_for_another() -> None:
    both = question((span("a", 0, 5), span("c", 7, 9)), (span("a", 6, 9), span("c", 0, 3)))
    assert gold_documents(both) == (frozenset("ac"),)
    one = question((span("a", 0, 5), span("c", 7, 9)), (span("a", 6, 9),))
    assert gold_documents(one) == (frozenset("a"),)


def test_a_document_is_found_by_any_of_its_text() -> None:
    asked = question((span("a", 0, 5),), (span("b", 0, 5), span("c", 0, 5)))
    assert documents_found(asked, [span("a", 90, 91)]) == (True, False)
    assert documents_found(asked, [span("c", 90, 91)]) == (False, True)
    assert documents_found(asked, [span("a", 3, 3)]) == (False, False), "nothing is no text"
    ranked = [[span("x", 0, 1)], [span("c", 5, 6), span("a", 1, 1)], [span("b", 0, 1)]]
    assert document_ranks(asked, ranked) == (0, 2)


_SPANS = st.builds(
    lambda document, a, b: span(document, min(a, b), max(a, b)),
    st.sampled_from("ab"),
    st.integers(0, 30),
    st.integers(0, 30),
)


@given(
    st.lists(st.lists(_SPANS, max_size=2), max_size=6),
    st.lists(_SPANS.filter(lambda one: one.start < one.end), min_size=1, max_size=3),
)
def test_ranks_say_what_evidence_of_the_first_items_would_hold(
    ranked: list[list[Span]], gold: list[Span]
) -> None:
    asked = question(*((one,) for one in gold))
    ranks, documents = sentence_ranks(asked, ranked), document_ranks(asked, ranked)
    for k in range(len(ranked) + 1):
        evidence = [one for item in ranked[:k] for one in item]
        assert tuple(0 < rank <= k for rank in ranks) == found_gold(asked, evidence)
        assert tuple(0 < rank <= k for rank in documents) == documents_found(asked, evidence)
