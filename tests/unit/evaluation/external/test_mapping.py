"""From returned text back to the documents' sentences."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.evaluation.systems.external.jobs import Chunk
from resin_es.evaluation.systems.external.mapping import ChunkMap, cut_text, spans_of
from resin_es.evaluation.values import EvalDocument, SourceSentence, Span


def found(documents: tuple[EvalDocument, ...], text: str, named: str = "") -> object:
    pieces, lost = ChunkMap(documents).pieces([Chunk(text=text, document=named)])
    if lost:
        return "lost"
    return [(piece.document.id, piece.order) for piece in pieces]


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("Kelp\nGiant kelp grows fast. Urchins graze on kelp. Otters eat urchins.", (0, 1, 2)),
        ("Giant  kelp\u00a0grows\nfast. Urchins graze", (0, 1)),
        ("graze on kelp. Otters eat urchins.", (1, 2)),
        ("on kelp. Otters eat urchins", (2,)),
    ],
)
def test_a_chunk_is_the_sentences_that_lie_in_it_by_half(
    documents: tuple[EvalDocument, ...], text: str, order: tuple[int, ...]
) -> None:
    assert found(documents, text) == [("sea/kelp", order)]
    assert found(documents, text, "sea/kelp") == [("sea/kelp", order)]


def test_other_quotes_are_the_same_text(documents: tuple[EvalDocument, ...]) -> None:
    assert found(documents, 'The "fur" is dense.') == [("sea/otter", (1,))]


def test_a_title_alone_is_no_evidence(documents: tuple[EvalDocument, ...]) -> None:
    assert found(documents, "Moss", "land/moss") == []


def test_where_words_were_changed_its_whole_sentences_count(
    documents: tuple[EvalDocument, ...],
) -> None:
    text = "KELP FORESTS: Giant kelp grows fast. [...] Otters eat urchins."
    assert found(documents, text, "sea/kelp") == [("sea/kelp", (0, 2))]
    assert found(documents, text) == "lost"


@pytest.mark.parametrize("text", ["", "…", "Nothing of the kind."])
def test_what_stands_nowhere_is_lost(documents: tuple[EvalDocument, ...], text: str) -> None:
    assert found(documents, text) == "lost"


def test_order_is_kept_and_scores_fall(documents: tuple[EvalDocument, ...]) -> None:
    chunks = [Chunk(text="Moss has no roots."), Chunk(text="Giant kelp grows fast.")]
    pieces, _ = ChunkMap(documents).pieces(chunks)
    assert [piece.document.id for piece in pieces] == ["land/moss", "sea/kelp"]
    assert pieces[0].score > pieces[1].score
    assert spans_of(pieces[1]) == (Span(document_id="sea/kelp", start=0, end=22),)


words = st.text(string.ascii_letters, min_size=1, max_size=8)
sentences = st.lists(
    st.lists(words, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=6, unique=True
)


@given(sentences, st.data(), st.sampled_from([" ", "\n", "\t ", " \u2003"]))
def test_white_space_never_matters(texts: list[str], data: st.DataObject, space: str) -> None:
    numbered = [f"{number}{text}q{number}." for number, text in enumerate(texts)]
    text, places = "", []
    for sentence in numbered:
        places.append((len(text), len(text) + len(sentence)))
        text += sentence + " "
    document = EvalDocument(
        id="d",
        title="",
        text=text,
        sentences=tuple(
            SourceSentence(
                id=str(number), span=Span(document_id="d", start=a, end=b), text=numbered[number]
            )
            for number, (a, b) in enumerate(places)
        ),
    )
    first = data.draw(st.integers(0, len(texts) - 1))
    last = data.draw(st.integers(first, len(texts) - 1))
    chunk = space.join(numbered[first : last + 1]).replace(" ", space)
    assert found((document,), chunk) == [("d", tuple(range(first, last + 1)))]


def test_text_is_cut_where_a_word_ends() -> None:
    assert cut_text("one two three", 2) == "one two"
    assert cut_text("one two three", 3) == "one two"
    assert cut_text("one two three", 4) == "one two three"
    assert cut_text("x" * 20, 2) == "x" * 8
    assert cut_text("", 5) == ""


@given(st.text(), st.integers(0, 30))
def test_cut_text_is_a_beginning_within_the_budget(text: str, budget: int) -> None:
    cut = cut_text(text, budget)
    assert text.startswith(cut)
    assert len(cut) <= budget * 4
