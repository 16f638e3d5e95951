"""Gold is found at every place of its words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from resin_es.evaluation.datasets.building import joined_document
from resin_es.evaluation.datasets.places import MIN_RUN, with_all_places, words_of
from resin_es.evaluation.values import EvalDocument, EvalQuestion, GoldSentence, Span

LONG = "Every autumn the silver eels leave the upper river for the sea."


def document(key: str, *sentences: str) -> EvalDocument:
    return joined_document(key, "", [(f"{key}{n}", text) for n, text in enumerate(sentences)])


def places(*documents: EvalDocument) -> list[tuple[str, str]]:
    """The places of the first document's first sentence, as document and text."""
    gold = GoldSentence(id="g", places=(documents[0].sentences[0].span,))
    question = EvalQuestion(id="q", question="?", gold=(gold,))
    (found,) = with_all_places(documents, [question])
    texts = {one.id: one.text for one in documents}
    return [
        (place.document_id, texts[place.document_id][place.start : place.end])
        for place in found.gold[0].places
    ]


def test_its_own_place_stands_first() -> None:
    assert places(document("b", "Eels swim."), document("a", "Eels swim.")) == [
        ("b", "Eels swim."),
        ("a", "Eels swim."),
    ]


def test_case_space_marks_and_the_end_do_not_matter_but_words_do() -> None:
    own = document("a", "The \u201cblind\u201d eel\u2010pike swims.")
    same = document("b", 'THE "blind"  eel-pike swims')
    other = document("c", 'The "blind" eel-pike swam.', "The eel-pike swims.")
    assert places(own, same, other)[1:] == [("b", 'THE "blind"  eel-pike swims')]


def test_signs_are_words() -> None:
    assert len(places(document("a", "It was p < 5."), document("b", "It was p > 5."))) == 1


def test_a_long_sentence_is_found_inside_another_cut() -> None:
    copy = document("b", f"As a rule, {LONG.lower()} They come back. ", "More.")
    assert places(document("a", LONG), copy)[1:] == [("b", LONG.lower()[:-1])]


def test_a_short_one_only_as_a_whole_sentence() -> None:
    short = "They swim far out to the sea."
    assert len(short.split()) == MIN_RUN - 1
    assert len(places(document("a", short), document("b", f"Often {short}"))) == 1
    assert len(places(document("a", short), document("b", short))) == 2


def test_a_sentence_that_stands_twice_in_its_own_document_has_both_places() -> None:
    assert places(document("a", "Eels swim.", "Carp do not.", "Eels swim.")) == [
        ("a", "Eels swim."),
        ("a", "Eels swim."),
    ]


def test_gold_of_several_places_is_left_as_it_is() -> None:
    documents = [document("a", "Eels swim.", "Carp do."), document("b", "Eels swim.")]
    spans = tuple(sentence.span for sentence in documents[0].sentences)
    question = EvalQuestion(id="q", question="?", gold=(GoldSentence(id="g", places=spans),))
    assert with_all_places(documents, [question]) == (question,)


def test_gold_without_words_stands_where_it_stands() -> None:
    assert places(document("a", "\u200b."), document("b", ".")) == [("a", "\u200b.")]


def test_a_gold_document_that_is_not_there_is_left_alone() -> None:
    gold = GoldSentence(id="g", places=(Span(document_id="gone", start=0, end=4),))
    question = EvalQuestion(id="q", question="?", gold=(gold,))
    assert with_all_places([document("a", "Eels swim.")], [question]) == (question,)


@given(st.text(max_size=80))
def test_words_point_at_themselves_and_leave_only_white_space_out(text: str) -> None:
    last = 0
    for _, start, end in words_of(text):
        assert last <= start < end <= len(text)
        last = end
    assert words_of(f" {text}  ") == [(word, s + 1, e + 1) for word, s, e in words_of(text)]


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_letters_fold_the_same_beside_others(text: str) -> None:
    assert words_of(f"{text} \u00e9")[:-1] == words_of(text)


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=5), st.data())
def test_a_copy_of_the_document_always_counts(texts: list[str], data: st.DataObject) -> None:
    own, copy = document("a", *texts), document("b", *texts)
    for mine, theirs in zip(own.sentences, copy.sentences, strict=True):
        gold = GoldSentence(id="g", places=(mine.span,))
        (found,) = with_all_places([own, copy], [EvalQuestion(id="q", question="?", gold=(gold,))])
        covered = {
            character
            for place in found.gold[0].places
            if place.document_id == "b"
            for character in range(place.start, place.end)
        }
        words = [(s, e) for word, s, e in words_of(copy.text) if word not in ".!?;,:"]
        wanted = {
            c
            for s, e in words
            for c in range(s, e)
            if theirs.span.start <= s and e <= theirs.span.end
        }
        assert wanted <= covered
