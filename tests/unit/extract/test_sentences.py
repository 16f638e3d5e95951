"""Sentence spans: exact, complete, and where a reader would put them."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from resin_es.extract.sentences import MAX_SENTENCE_CHARS, sentences_of, split_sentences
from resin_es.model import Document, MarkedPassage

PIECES = st.sampled_from(
    ["The bus", " runs", ".", ". ", "\n", "\n\n", "\r\n", "! ", "? ", "e.g. ", "E. coli", " (",
     ") ", "# ", "- ", "| ", "```\n", "1. ", '"', "’", "。", "公共汽车", "\u2028", "\t", " ", "...",
     "\ud800", "x" * 900, "…", "</i>", "5 g. ", "No. 4", "École", "\u00a0", "\u200b", "👍"]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(PIECES, max_size=40).map("".join),
    st.text(st.characters(), max_size=200),
)


def split(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, language)]


@settings(max_examples=300, deadline=None)
@given(TEXTS)
@example("a" * 5000)
@example(("word " * 900).strip())
@example(".\n" * 50)
@example("- a\n- b")
def test_spans_are_exact_ordered_stripped_and_cover_every_character(text: str) -> None:
    covered = [False] * len(text)
    end_before = 0
    for start, end in split_sentences(text):
        assert end_before <= start < end
        assert end - start <= MAX_SENTENCE_CHARS
        assert text[start:end] == text[start:end].strip()
        covered[start:end] = [True] * (end - start)
        end_before = end
    assert all(inside or char.isspace() for inside, char in zip(covered, text, strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("E. coli grows. S. aureus does not.", ["E. coli grows.", "S. aureus does not."]),
        ("It was found in E. coli. The rest died.", ["It was found in E. coli.", "The rest died."]),
        ("Fusarium spp. were found.", ["Fusarium spp. were found."]),
        ("We saw Mucor spp. The rest died.", ["We saw Mucor spp.", "The rest died."]),
        ("Smith et al. (2020) agree.", ["Smith et al. (2020) agree."]),
        ("As shown by Smith et al. The cause is new.",
         ["As shown by Smith et al.", "The cause is new."]),
        ("See Fig. 3, e.g. the left part, i.e. A.", ["See Fig. 3, e.g. the left part, i.e. A."]),
        ("It takes approx. 5 minutes vs. 6.", ["It takes approx. 5 minutes vs. 6."]),
        ("Line No. 4 ran. No. That is wrong.", ["Line No. 4 ran.", "No.", "That is wrong."]),
        ("J. R. R. Tolkien wrote. He slept.", ["J. R. R. Tolkien wrote.", "He slept."]),
        ("Dr. Reis leads it. Mr. Sá does not.", ["Dr. Reis leads it.", "Mr. Sá does not."]),
        ("The fare is $4.50. It rose by 3.5 percent.",
         ["The fare is $4.50.", "It rose by 3.5 percent."]),
        ("Add 100 g. Then stir.", ["Add 100 g.", "Then stir."]),
        ("It held 5.2 mg/g. Kinetics were slow.", ["It held 5.2 mg/g.", "Kinetics were slow."]),
        ("The pH. Similarly, the rest.", ["The pH.", "Similarly, the rest."]),
        ("It closed early.The second one stayed open.",
         ["It closed early.", "The second one stayed open."]),
        ("See www.example.com. It has H2A.Z and AAV.PHP.eB in it.",
         ["See www.example.com.", "It has H2A.Z and AAV.PHP.eB in it."]),
        ("They saw <i>Mucor sp.</i> and more.", ["They saw <i>Mucor sp.</i> and more."]),
        ("He said \"it is. Yes.\" Then he left.", ["He said \"it is. Yes.\"", "Then he left."]),
        ("1. Open it. 2. Close it.", ["1. Open it.", "2. Close it."]),
        ("公共汽车每天运行。票价四元。", ["公共汽车每天运行。", "票价四元。"]),
        ("Is it? Yes! Fine", ["Is it?", "Yes!", "Fine"]),
        ("...", ["..."]),
        (" \n\t ", []),
        ("", []),
    ],
)  # fmt: skip
def test_boundaries(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_markdown_headings_items_and_rows_stand_alone() -> None:
    table = "| a | b |\n|---|---|\n| c | d |"
    text = f"# Harbour Line\nIt is a tram\n\n- first stop\n- second. Third\n{table}"
    assert split(text) == [
        "# Harbour Line", "It is a tram", "- first stop", "- second.", "Third",
        "| a | b |\n|---|---|", "| c | d |",
    ]  # fmt: skip


def test_a_fence_and_what_follows_it() -> None:
    assert split("```\nx = 1\ny = 2\n```\nAfter it.") == [
        "```\nx = 1", "y = 2\n```", "After it."
    ]  # fmt: skip


def test_hard_wrapped_lines_are_one_sentence() -> None:
    text = (
        "The Harbour Line goes round the old basin and\n"
        "stops at every quay, except on days when the\r\n"
        "bridge is open. It then waits.\n"
    )
    assert split(text) == [
        "The Harbour Line goes round the old basin and\n"
        "stops at every quay, except on days when the\r\nbridge is open.",
        "It then waits.",
    ]


def test_lines_that_were_meant_are_sentences() -> None:
    assert split("Harbour Line\nFare: $4\nRide time: 35 min\n") == [
        "Harbour Line", "Fare: $4", "Ride time: 35 min"
    ]  # fmt: skip


def test_an_unbalanced_quotation_mark_does_not_swallow_the_rest() -> None:
    sentence = "The ferry leaves the harbour at noon and comes back in the evening."
    text = f"It's called 'the old one. {' '.join([sentence] * 12)}"
    assert len(split(text)) >= 12


@pytest.mark.parametrize(
    "unit", ["word ", "x", ". ", "(a. B ", "e.g. The ", '"Hello world. ', "a\n"]
)
def test_a_huge_text_without_sentences_is_cut(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    spans = split_sentences(text)
    assert max(end - start for start, end in spans) <= MAX_SENTENCE_CHARS
    assert (
        sum(end - start for start, end in spans) > len(text.replace(" ", "").replace("\n", "")) / 2
    )


def test_a_long_sentence_is_cut_between_words() -> None:
    text = "tram " * 1_000
    for piece in split(text):
        assert set(piece.split()) == {"tram"}


def test_unknown_language_falls_back() -> None:
    assert split("One is here. Two is there.", "zz") == ["One is here.", "Two is there."]


def test_a_no_break_space_before_a_stop() -> None:
    """sentencex 1.0.32 panics on it after a single capital."""
    assert split("It has vitamin A\u00a0. It helps.") == ["It has vitamin A\u00a0.", "It helps."]


def test_a_panic_of_the_library_costs_boundaries_only(monkeypatch: pytest.MonkeyPatch) -> None:
    panic = type("PanicException", (BaseException,), {})

    def fail(language: str, text: str) -> None:
        raise panic

    monkeypatch.setattr("sentencex.get_sentence_boundaries", fail)
    text = "The ferry leaves the harbour at noon and comes back in the evening. " * 6
    assert len(split(text)) == 6
    monkeypatch.setattr("sentencex.get_sentence_boundaries", lambda language, text: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        split(text)


def test_equal_sentences_have_their_own_ids() -> None:
    document = Document(source="s", external_id="1", text="Yes. It is. Yes.", access=())
    sentences = sentences_of(document)
    assert [sentence.text for sentence in sentences] == ["Yes.", "It is.", "Yes."]
    assert len({sentence.id for sentence in sentences}) == 3


def test_ids_survive_an_insertion_above() -> None:
    before = Document(source="s", external_id="1", text="One is. Two is.", access=())
    after = before.model_copy(update={"text": "New is. One is. Two is."})
    assert [s.id for s in sentences_of(after)][1:] == [s.id for s in sentences_of(before)]


def test_no_sentence_crosses_a_mark() -> None:
    text = "The tram runs and the bus rests. More"
    document = Document(
        source="s", external_id="1", text=text, access=(), marked=(MarkedPassage(start=9, end=13),)
    )
    assert [s.text for s in sentences_of(document)] == [
        "The tram", "runs", "and the bus rests.", "More"
    ]  # fmt: skip
    assert all(text[s.start : s.end] == s.text for s in sentences_of(document))
