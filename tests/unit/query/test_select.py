from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.model import token_count
from resin_es.query.lots import HopHelpings
from resin_es.query.pieces import GAP
from resin_es.query.ranking import (
    chances,
    document_scores,
    helpings,
    sentence_hits,
    smoothed,
)
from resin_es.query.select import select
from resin_es.testing.scripted_store import ScriptedDocument
from tests.unit.query.grove import (
    A,
    B,
    C,
    candidate,
    chosen,
    falling,
    line,
    numbered,
    order,
    sources,
    whole,
)


def test_everything_that_fits_is_kept_in_text_order() -> None:
    buffer = chosen({"h1": [whole(A), whole(B)]}, A, B)
    assert [p.passage_id for p in buffer.passages] == [p.id for d in (A, B) for p in d.passages]
    assert all(p.complete for p in buffer.passages)
    assert buffer.tokens == sum(token_count(p.text) for p in buffer.passages)
    assert not buffer.dropped


def test_every_hop_has_its_best_before_any_has_its_second() -> None:
    buffer = chosen({"h1": [whole(A), whole(B)], "h2": [whole(C)]}, A, B, C)
    assert order(buffer) == ["alder", "cedar", "birch"]


def test_what_two_hops_share_is_kept_once_and_named_for_both() -> None:
    buffer = chosen({"h1": [whole(A)], "h2": [whole(A), whole(B)]}, A, B)
    assert order(buffer) == ["alder", "birch"]
    assert {p.hops for p in buffer.passages if p.document_id == "alder"} == {("h1", "h2")}


def test_the_first_round_shares_a_small_budget() -> None:
    one = sum(token_count(p.text) for p in A.passages)
    buffer = chosen({"h1": [whole(A)], "h2": [whole(B)]}, A, B, budget=one)
    assert order(buffer) == ["alder", "birch"]
    assert buffer.tokens <= one


def test_the_last_document_is_cut_at_a_sentence_and_nothing_is_skipped() -> None:
    tiny = ScriptedDocument("tiny", [["Small."]])
    size = token_count(A.text) + 13
    best = B.passages[1].sentence_ids[1]
    buffer = chosen(
        {"h1": [whole(A), whole(B, **{best: 0.9}), whole(tiny)]}, A, B, tiny, budget=size
    )
    assert order(buffer) == ["alder", "birch"]
    (piece,) = [p for p in buffer.passages if p.document_id == "birch"]
    assert [s.id for s in piece.sentences] == [best]
    assert not piece.complete
    assert {(d.document_id, d.reason) for d in buffer.dropped} == {
        ("birch", "budget"),
        ("tiny", "budget"),
    }


def test_a_gap_is_marked_and_quotes_stay_verbatim() -> None:
    long = "This sentence is a good deal longer than its neighbours and does not fit at all."
    document = ScriptedDocument("gap", [["First one.", long, "Third one."]])
    first, _, third = document.passages[0].sentence_ids
    line = [whole(document, **{first: 0.9, third: 0.8})]
    (piece,) = chosen({"h1": line}, document, budget=8).passages
    assert piece.text == f"First one.{GAP}Third one."
    assert [document.text[s.start : s.end] for s in piece.sentences] == ["First one.", "Third one."]


def test_a_budget_too_small_for_any_sentence_keeps_nothing_and_says_so() -> None:
    buffer = chosen({"h1": [whole(A)]}, A, budget=1)
    assert buffer.passages == ()
    assert {d.reason for d in buffer.dropped} == {"budget"}
    assert buffer.tokens == 0


def test_repetitions_give_way() -> None:
    text = "Bus 14 stops at the old mill and at the market every ten minutes."
    twin = [ScriptedDocument(name, [[text]]) for name in ("one", "two")]
    buffer = chosen({"h1": [whole(d) for d in twin]}, *twin)
    assert order(buffer) == ["one"]
    assert [(d.document_id, d.reason) for d in buffer.dropped] == [("two", "duplicate")]


@pytest.mark.parametrize(
    "other",
    [
        "Bus 15 stops at the old mill and at the market every ten minutes.",
        "Bus 14 stops at the old mill and not at the market every ten minutes.",
        "Tram 14 stops at the old mill and at the market every ten minutes.",
    ],
)
def test_another_figure_name_or_negation_is_no_repetition(other: str) -> None:
    text = "Bus 14 stops at the old mill and at the market every ten minutes."
    pair = ScriptedDocument("one", [[text]]), ScriptedDocument("two", [[other]])
    assert order(chosen({"h1": [whole(d) for d in pair]}, *pair)) == ["one", "two"]


HOPS = st.lists(
    st.lists(st.sampled_from("ABCDEF"), min_size=1, max_size=6, unique=True),
    min_size=1,
    max_size=4,
)
FOREST = {name: numbered(f"tree{name}", passages=2, sentences=3) for name in "ABCDEF"}
GROUND = sources(*FOREST.values())


@given(HOPS, st.integers(min_value=1, max_value=400))
def test_budget_holds_and_nothing_is_lost_or_doubled(lines: list[list[str]], budget: int) -> None:
    hops = [
        HopHelpings(f"h{i}", falling([whole(FOREST[name]) for name in line]))
        for i, line in enumerate(lines)
    ]
    buffer = select(hops, GROUND, budget=budget, near_duplicate=0.9)
    kept = [p.passage_id for p in buffer.passages]
    dropped = [d.passage_id for d in buffer.dropped]
    asked = {p for hop in hops for h in hop.helpings for p in h.passages}
    assert buffer.tokens == sum(p.tokens for p in buffer.passages) <= budget
    assert len(kept) == len(set(kept))
    assert set(kept) | set(dropped) == asked
    assert not set(kept) & set(dropped)
    if budget >= 60 * len(hops):
        best = {hop.helpings[0].document_key for hop in hops}
        assert best <= {p.document_key for p in buffer.passages}


def test_k_counts_distinct_passages_every_document_giving_one_before_a_second() -> None:
    found = [candidate(A, 0, 0, 0.9), candidate(A, 1, 0, 0.8), candidate(B, 1, 0, 0.5)]
    kept = [h.kept for h in line(found, A, B, k=2)]
    assert kept == [(A.passages[0].id,), (B.passages[1].id,)]
    kept = [h.kept for h in line(found, A, B, k=3)]
    assert kept == [(A.passages[0].id, A.passages[1].id), (B.passages[1].id,)]
    assert [h.document_key for h in line(found, A, B, k=1)] == [A.key]


def test_a_short_document_is_read_whole_and_a_long_one_is_not() -> None:
    long = ScriptedDocument("long", [[f"Part {p} of a long one. " + "x" * 1500] for p in range(5)])
    (short,) = line([candidate(A, 1, 0, 0.9)], A, k=5)
    assert short.passages == tuple(p.id for p in A.passages)
    (part,) = line([candidate(long, 3, 0, 0.9)], long, k=5)
    assert part.passages == (long.passages[3].id,)


def test_a_document_found_by_its_own_text_alone_counts() -> None:
    (only,) = line([], A, k=5)
    assert only.kept == (A.passages[0].id,)
    assert line([], A, k=5, whole=False) == []


def test_narrowed_to_units_only_their_passages_count() -> None:
    (only,) = line([candidate(A, 1, 0, 0.9)], A, k=5, whole=False)
    assert only.passages == (A.passages[1].id,)


def test_narrowed_to_units_the_passages_with_the_best_hits_are_kept() -> None:
    found = [candidate(A, 0, 0, 0.9), candidate(A, 1, 0, 0.8), candidate(B, 1, 0, 0.5)]
    (both,) = line(found, B, A, k=2, whole=False)
    assert both.kept == both.passages == tuple(p.id for p in A.passages)
    first, second = line(found, B, A, k=3, whole=False)
    assert (first.kept, second.kept) == ((B.passages[1].id,), both.kept)


def test_a_document_the_registry_does_not_list_yields_nothing() -> None:
    found = [candidate(A, 0, 0, 0.9)]
    assert helpings(sentence_hits(found), [(A.key, 1.0)], {}, k=5, whole=True) == []


def test_document_scores_join_own_text_and_best_sentences() -> None:
    found = [candidate(A, 0, 0, 0.9), candidate(B, 0, 0, 0.8), candidate(B, 1, 0, 0.8)]
    found.append(candidate(C, 0, 0, 0.2))
    plain = document_scores(found, {})
    assert plain[B.key] > plain[C.key]
    assert sum(plain.values()) == pytest.approx(0)
    even = document_scores(found, {A.key: 3.0, B.key: 3.0, C.key: 3.0})
    joined = document_scores(found, {A.key: 1.0, B.key: 9.0, C.key: 3.0})
    assert joined[B.key] > max(joined[A.key], joined[C.key])
    assert joined[A.key] < even[A.key]


def test_what_a_list_does_not_hold_lies_as_high_as_its_last() -> None:
    unseen = {f"doc{i:03}": 5.0 + i for i in range(100)}
    found = [candidate(A, 0, 0, 0.9), candidate(B, 0, 0, 0.4)]
    scores = document_scores(found, {**unseen, A.key: 50.0})
    assert scores[B.key] == pytest.approx(scores["doc000"])
    short = document_scores(found, {A.key: 50.0, C.key: 5.0})
    assert short[B.key] < short[C.key]


def test_words_count_once_in_a_document_score() -> None:
    near = candidate(A, 0, 0, 0.7).model_copy(update={"dense": 0.85})
    wordy = candidate(B, 0, 0, 0.8).model_copy(update={"dense": 0.84, "lexical": 9.0})
    words_only = candidate(C, 0, 0, 0.79).model_copy(update={"lexical": 8.0})
    found = [near, wordy, words_only]
    own = {d.key: 5.0 for d in (A, B, C)}
    joined = document_scores(found, own)
    assert joined[A.key] > joined[B.key] == pytest.approx(joined[C.key])
    alone = document_scores(found, {})
    assert alone[B.key] > alone[C.key] > alone[A.key]


def test_several_addresses_of_one_sentence_count_once() -> None:
    found = [candidate(A, 0, 0, 0.9), candidate(A, 0, 0, 0.7), candidate(B, 0, 0, 0.5)]
    twice = document_scores(found, {})
    once = document_scores([found[0], found[2]], {})
    assert twice == once


def test_a_sentence_speaks_for_itself_and_a_unit_only_where_it_does_not() -> None:
    sentence, unit = candidate(A, 0, 0, 0.5), candidate(A, 0, 0, 0.9, "relation")
    other = candidate(B, 0, 0, 0.7)
    assert document_scores([unit, sentence, other], {}) == document_scores([sentence, other], {})
    alone = document_scores([unit, other], {})
    assert alone[A.key] > alone[B.key]
    (helping,) = line([unit, sentence], A, k=5)
    assert helping.scores == {A.passages[0].sentence_ids[0]: 0.5}


def test_neighbours_lift_a_sentence() -> None:
    scores = smoothed(["a", "b", "c", "d"], {"a": 0.5, "b": 0.4, "d": 0.45})
    assert scores["a"] == pytest.approx(0.5 + 0.5 * 0.4)
    assert scores["c"] == pytest.approx(0.5 * 0.85 + 0.25 * 0.5)
    assert smoothed(["a"], {}) == {"a": 0.0}


def test_chances_sum_to_one_and_follow_the_scores() -> None:
    assert chances({}) == {}
    assert chances({"a": -3.0}) == {"a": 1.0}
    even = chances({"a": 2.0, "b": 2.0})
    assert even == {"a": 0.5, "b": 0.5}
    apart = chances({"a": 900.0, "b": -900.0, "c": 899.0})
    assert sum(apart.values()) == pytest.approx(1)
    assert apart["a"] > apart["c"] > apart["b"] >= 0


def test_an_uncertain_first_document_shares_with_the_second() -> None:
    long = [numbered(name, passages=2, sentences=4) for name in ("first", "second")]
    size = token_count(long[0].text)
    certain = chosen({"h1": [whole(long[0], 0.95), whole(long[1], 0.05)]}, *long, budget=size)
    assert order(certain) == ["first"]
    torn = chosen({"h1": [whole(long[0], 0.5), whole(long[1], 0.45)]}, *long, budget=size)
    assert order(torn) == ["first", "second"]
    first, second = (
        sum(len(p.sentences) for p in torn.passages if p.document_id == name)
        for name in ("first", "second")
    )
    assert first >= second >= 2


def test_the_hop_that_is_surest_of_a_document_says_what_counts_in_it() -> None:
    first, *_, last = (sentence for p in A.passages for sentence in p.sentence_ids)
    unsure, sure = whole(A, 0.2, **{first: 0.9}), whole(A, 0.8, **{last: 0.9})
    size = token_count(A.passages[1].text)
    buffer = chosen({"q": [unsure], "h1": [sure]}, A, budget=size)
    assert [s.id for p in buffer.passages for s in p.sentences][-1] == last
    assert {p.score for p in buffer.passages} == {0.8}


def test_a_hop_that_is_owed_nothing_is_served_by_its_chances() -> None:
    hop = HopHelpings("f", [whole(B, 0.01)], owed=False)
    size = token_count(A.text)
    main = HopHelpings("q", [whole(A, 0.9)])
    alone = select([main, hop], sources(A, B), budget=size, near_duplicate=0.9)
    assert order(alone) == ["alder"]
    shared = select([main, hop._replace(owed=True)], sources(A, B), budget=size, near_duplicate=0.9)
    assert order(shared) == ["alder", "birch"]


def test_a_sentence_longer_than_the_budget_ends_nothing() -> None:
    long = ScriptedDocument("long", [["An endless sentence " + "goes on " * 60 + "here."]])
    buffer = chosen({"h1": [whole(long), whole(A)]}, long, A, budget=token_count(A.text))
    assert order(buffer) == ["alder"]
    assert [(d.document_id, d.reason) for d in buffer.dropped] == [("long", "budget")]


def test_a_copy_of_a_likelier_document_costs_nothing() -> None:
    text = [["Elms line the road.", "They were planted after the flood of 1953."]]
    copies = [ScriptedDocument(name, text) for name in ("copy", "print")]
    lines = {"h1": [whole(copies[0], 0.5), whole(copies[1], 0.4), whole(A, 0.1)]}
    buffer = chosen(lines, *copies, A)
    assert order(buffer) == ["copy", "alder"]
    assert [(d.document_id, d.reason) for d in buffer.dropped] == [("print", "duplicate")]
