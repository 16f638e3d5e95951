from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.llm.citing import Labels, said, without_markers
from tests.unit.llm.online import BUS, METRO, evidence

BUFFER = evidence(BUS, METRO, ["One.", "Two.", "Three.", "Four."])
GIVEN = {s.id for p in BUFFER.passages for s in p.sentences}


def ids(labels: str) -> tuple[list[str], list[str]]:
    places, rejected = Labels(BUFFER).resolve(labels)
    return [place.sentence.id for place in places], rejected


@pytest.mark.parametrize(
    ("labels", "found", "rejected"),
    [
        ("1.2", ["s1.2"], []),
        ("1.1, 2.1", ["s1.1", "s2.1"], []),
        ("1.1; 2.1", ["s1.1", "s2.1"], []),
        ("1.1 2.1", ["s1.1", "s2.1"], []),
        ("3.2-3.4", ["s3.2", "s3.3", "s3.4"], []),
        ("3.2 – 4", ["s3.2", "s3.3", "s3.4"], []),
        ("9.1", [], ["[9.1]"]),
        ("1.3", [], ["[1.3]"]),
        ("0.1", [], ["[0.1]"]),
        ("1.0", [], ["[1.0]"]),
        ("2", [], ["[2]"]),
        ("1.1, 7.7", ["s1.1"], ["[7.7]"]),
        ("3.3-3.2", [], ["[3.3-3.2]"]),
        ("3.1-3.99999", [], ["[3.1-3.99999]"]),
        ("1.1-2.1", [], ["[1.1-2.1]"]),
        ("1.2.3", [], ["[1.2.3]"]),
        ("99999999999999999999.1", [], ["[99999999999999999999.1]"]),
    ],
)
def test_labels_name_sentences_of_the_buffer_or_are_rejected(
    labels: str, found: list[str], rejected: list[str]
) -> None:
    assert ids(labels) == (found, rejected)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("A is 3 [1.1]. B is 5 [2.1].", [("A is 3.", ["s1.1"]), ("B is 5.", ["s2.1"])]),
        ("A is 3. [1.1] B is 5. [2.1]", [("A is 3.", ["s1.1"]), ("B is 5.", ["s2.1"])]),
        ("A is 3.[1.1][1.2] B is.", [("A is 3.", ["s1.1", "s1.2"]), ("B is.", [])]),
        ("[1.1] A is 3.", [("A is 3.", ["s1.1"])]),
        ("- A is 3 [1.1]\n- B is 5 [2.1]", [("- A is 3", ["s1.1"]), ("- B is 5", ["s2.1"])]),
        ("A is 3.\n[1.1] B is 5.", [("A is 3.", []), ("B is 5.", ["s1.1"])]),
        ("A is 3.\n[1.1]\n\nB is 5.", [("A is 3.", ["s1.1"]), ("B is 5.", [])]),
        ("A [1.1], but B [2.1].", [("A, but B.", ["s1.1", "s2.1"])]),
        ("A is 3 【1.1】.", [("A is 3.", ["s1.1"])]),
        (
            "票价为三元。[1.1]地铁五元[2.1]。",
            [("票价为三元。", ["s1.1"]), ("地铁五元。", ["s2.1"])],
        ),
        (
            "Die Fähre (vgl. Abb. 3) kostet z. B. 3 Kronen [1.1]. Übrig bleibt nichts.",
            [
                ("Die Fähre (vgl. Abb. 3) kostet z. B. 3 Kronen.", ["s1.1"]),
                ("Übrig bleibt nichts.", []),
            ],
        ),
        ("A [sic] is 3 [1.1].", [("A [sic] is 3.", ["s1.1"])]),
        ("A is 3 [1.1]. [1.1]", [("A is 3.", ["s1.1"])]),
    ],
)
def test_a_marker_belongs_to_the_sentence_it_stands_in_or_behind(
    text: str, told: list[tuple[str, list[str]]]
) -> None:
    found = said(text, BUFFER)
    assert [(one.text, [p.sentence.id for p in one.places]) for one in found] == told


def test_what_names_nothing_is_taken_out_and_told() -> None:
    (one,) = said("A is 3 [1.1, 8.8] as in [12].", BUFFER)
    assert one.text == "A is 3 as in."
    assert one.rejected == ("[8.8]", "[12]")


def test_a_text_that_broke_off_loses_its_last_sentence() -> None:
    assert [one.text for one in said("A is 3 [1.1]. B is fi", BUFFER, cut=True)] == ["A is 3."]
    assert [one.text for one in said("A is 3 [1.1]. B is 5.", BUFFER, cut=True)][1] == "B is 5."
    assert said("A is", BUFFER, cut=True) == []


MARKERS = st.sampled_from(
    ["[1.1]", "[1.2, 9.9]", "[3.1-3.4]", "[4]", "[", "]", "[0.0]", "【2.1】", ". ", "\n", " ", "- "]
)


@given(st.lists(MARKERS | st.text(max_size=12), max_size=25).map("".join), st.booleans())
def test_any_text_with_any_markers_cites_the_buffer_alone(text: str, cut: bool) -> None:
    for one in said(text, BUFFER, cut=cut):
        assert any(map(str.isalnum, one.text))
        assert {place.sentence.id for place in one.places} <= GIVEN
        assert len(set(one.places)) == len(one.places)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8))
def test_every_marker_is_a_citation_or_a_reject(pairs: list[tuple[int, int]]) -> None:
    marks = [f"[{p}.{s}]" for p, s in pairs]
    (one,) = said("The fare is known " + " ".join(marks) + " to all.", BUFFER)
    valid = [m for m in marks if f"s{m[1:-1]}" in GIVEN]
    assert [f"[{p.sentence.id[1:]}]" for p in one.places] == list(dict.fromkeys(valid))
    assert list(one.rejected) == [m for m in marks if m not in valid]
    assert one.text == "The fare is known to all."


def test_a_text_without_its_markers() -> None:
    assert without_markers("[1.1] the fare [2.1] of it [x]") == "the fare of it [x]"
