"""Passages: repaired, fixed-size, marked, windowed, built."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.extract.passages import build, fixed_size, from_marked, repair, windows
from resin_es.extract.sentences import sentences_of
from resin_es.model import Document, EvidenceRole, MarkedPassage, PassageDraft, Sentence


def document(count: int, **fields: object) -> Document:
    text = " ".join(f"Sentence number {index} is here." for index in range(count))
    return Document.model_validate(
        {"source": "s", "external_id": "1", "text": text, "access": (), **fields}
    )


def draft(first: int, last: int, **fields: object) -> PassageDraft:
    return PassageDraft.model_validate({"first": first, "last": last, **fields})


def spans(drafts: list[PassageDraft]) -> list[tuple[int, int]]:
    return [(one.first, one.last) for one in drafts]


DRAFTS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda pair: draft(*pair)), max_size=12
)


@given(DRAFTS, st.integers(0, 25))
def test_repair_covers_each_sentence_once(drafts: list[PassageDraft], n: int) -> None:
    repaired, repairs = repair(drafts, n)
    held = [index for one in repaired for index in range(one.first, one.last + 1)]
    assert held == list(range(n))
    assert (repairs == 0) == (repaired == drafts)


@given(DRAFTS, st.integers(0, 25))
def test_repaired_drafts_need_no_repair(drafts: list[PassageDraft], n: int) -> None:
    repaired, _ = repair(drafts, n)
    assert repair(repaired, n) == (repaired, 0)


@pytest.mark.parametrize(
    ("drafts", "n", "expected"),
    [
        ([(0, 2), (3, 4)], 5, [(0, 2), (3, 4)]),
        ([(0, 2), (2, 4)], 5, [(0, 2), (3, 4)]),
        ([(0, 1), (3, 4)], 5, [(0, 2), (3, 4)]),
        ([(1, 4)], 5, [(0, 4)]),
        ([(0, 9)], 5, [(0, 4)]),
        ([(0, 0)], 6, [(0, 0), (1, 5)]),
        ([(4, 5)], 6, [(0, 3), (4, 5)]),
        ([(3, 4), (0, 2)], 5, [(0, 2), (3, 4)]),
        ([(7, 9)], 5, [(0, 4)]),
        ([(3, 1)], 1, [(0, 0)]),
        ([], 3, [(0, 2)]),
        ([], 0, []),
    ],
)
def test_repair(drafts: list[tuple[int, int]], n: int, expected: list[tuple[int, int]]) -> None:
    repaired, _ = repair([draft(*pair) for pair in drafts], n)
    assert spans(repaired) == expected


def test_a_gap_makes_no_claim() -> None:
    repaired, repairs = repair([draft(0, 0, main_entity="Tram")], 6)
    assert [one.semantic for one in repaired] == [True, False]
    assert repaired[1].main_entity == ""
    assert repairs == 1


def test_fixed_size_keeps_to_the_limit_and_makes_no_claim() -> None:
    sentences = sentences_of(document(20))
    drafts = fixed_size(sentences, 100, offset=7)
    assert drafts[0].first == 7
    assert drafts[-1].last == 26
    assert not any(one.semantic for one in drafts)
    for one in drafts:
        assert sentences[one.last - 7].end - sentences[one.first - 7].start <= 100
    assert len(drafts) < 20


def test_fixed_size_lets_a_long_sentence_stand_alone() -> None:
    long = document(0).model_copy(update={"text": f"Short one. {'Word ' * 100}ends. Short two."})
    assert spans(fixed_size(sentences_of(long), 50)) == [(0, 0), (1, 1), (2, 2)]
    assert fixed_size([]) == []


def test_marks_are_kept_and_the_rest_is_cut_by_size() -> None:
    base = document(6)
    at = [base.text.index(f"Sentence number {index}") for index in range(6)]
    marked = document(
        6,
        marked=(
            MarkedPassage(start=at[4], end=at[5], main_entity="Tram", role="cause"),
            MarkedPassage(start=at[1], end=at[3], role="their own word"),
            MarkedPassage(start=at[2], end=at[4]),
            MarkedPassage(start=9_000, end=9_999),
        ),
    )
    drafts = from_marked(marked, sentences_of(marked))
    assert spans(drafts) == [(0, 0), (1, 2), (3, 3), (4, 4), (5, 5)]
    assert [one.semantic for one in drafts] == [False, True, True, True, False]
    assert [one.role for one in drafts][1] is EvidenceRole.OTHER
    assert (drafts[3].main_entity, drafts[3].role) == ("Tram", EvidenceRole.CAUSE)


@given(st.integers(0, 60), st.integers(1, 9), st.integers(20, 400), st.integers(0, 3))
def test_windows_hold_each_sentence_once_with_neighbours(
    count: int, most: int, chars: int, context: int
) -> None:
    sentences = sentences_of(document(count))
    found = windows(sentences, max_sentences=most, max_chars=chars, context=context)
    assert [one for window in found for one in window.sentences] == list(sentences)
    position = 0
    for window in found:
        assert 1 <= len(window.sentences) <= most
        size = window.sentences[-1].end - window.sentences[0].start
        assert size <= chars or len(window.sentences) == 1
        end = position + len(window.sentences)
        assert window.before == sentences[max(0, position - context) : position]
        assert window.after == sentences[end : end + context]
        position = end


def test_windows_of_a_region_see_what_stands_around_it() -> None:
    sentences = sentences_of(document(10))
    (window,) = windows(sentences, first=4, last=5, title="T", language="en", context=2)
    assert window.sentences == sentences[4:6]
    assert window.before == sentences[2:4]
    assert window.after == sentences[6:8]


def test_windows_are_of_like_size() -> None:
    found = windows(sentences_of(document(41)), max_sentences=40)
    assert [len(window.sentences) for window in found] == [21, 20]


def test_built_passages_say_where_their_sentences_are() -> None:
    text = "  One is.\n\nTwo is.  Three is."
    base = document(0).model_copy(update={"text": text})
    sentences = sentences_of(base)
    first, second = build(base.key, text, sentences, [draft(0, 1, main_entity="X"), draft(2, 2)])
    assert first.text == "One is.\n\nTwo is."
    assert [first.text[start:end] for start, end in first.offsets] == ["One is.", "Two is."]
    assert first.main_entity == "X"
    assert second.offsets == ((0, 9),)


@given(st.integers(1, 5))
def test_a_passage_does_not_change_when_text_is_put_above_it(count: int) -> None:
    base = document(5)
    moved = base.model_copy(update={"text": "Above stands this. " * count + base.text})
    old = build(base.key, base.text, sentences_of(base), [draft(1, 3)])
    new_sentences: tuple[Sentence, ...] = sentences_of(moved)
    new = build(base.key, moved.text, new_sentences, [draft(1 + count, 3 + count)])
    assert new == old
