"""Item by item, the last one cut at a sentence, nothing skipped, never over the budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from resin_es.evaluation.packing import GAP, Piece, pack_pieces, rendered
from resin_es.evaluation.values import EvalDocument, SourceSentence, Span
from resin_es.model.base import token_count


def document(key: str, *sentences: str) -> EvalDocument:
    placed, start = [], 0
    for number, text in enumerate(sentences):
        span = Span(document_id=key, start=start, end=start + len(text))
        placed.append(SourceSentence(id=f"{key}-{number}", span=span, text=text))
        start += len(text) + 1
    return EvalDocument(id=key, title="T", text=" ".join(sentences), sentences=tuple(placed))


A = document("a", "a" * 20, "b" * 20, "c" * 20, "d" * 20)
B = document("b", "e" * 40, "f" * 4)
WHOLE_A = Piece("pa", A, (0, 1, 2, 3), 2.5)
WHOLE_B = Piece("pb", B, (0, 1), 1.0)


def kept(budget: int, *pieces: Piece) -> list[list[str]]:
    return [[s.id for s in p.sentences] for p in pack_pieces(pieces, budget, "src")]


def test_the_last_document_is_cut_at_a_sentence() -> None:
    whole = token_count(A.text)
    assert kept(whole + 10, WHOLE_A, WHOLE_B) == [["a-0", "a-1", "a-2", "a-3"], ["b-0"]]
    assert kept(whole + 9, WHOLE_A, WHOLE_B) == [["a-0", "a-1", "a-2", "a-3"]]
    assert kept(whole - 1, WHOLE_A, WHOLE_B) == [["a-0", "a-1", "a-2"]], "B would have fitted"
    assert kept(4, WHOLE_A, WHOLE_B) == [], "nor is the first skipped for a smaller one"


def test_sentences_in_the_order_asked_for() -> None:
    best = Piece("pa", A, (3, 1, 0, 2))
    [passage] = pack_pieces([best], 12, "src")
    assert passage.text == "b" * 20 + GAP + "d" * 20, "in text order, the gap marked and counted"
    assert passage.tokens == 12
    assert not passage.complete
    assert kept(11, best) == [["a-3"]]


def test_a_sentence_comes_once() -> None:
    left, right = Piece("w1", A, (0, 1, 2)), Piece("w2", A, (1, 2, 3))
    assert kept(100, left, right, left) == [["a-0", "a-1", "a-2"], ["a-3"]]


def test_a_passage_as_the_composer_takes_it() -> None:
    [passage] = pack_pieces([WHOLE_A], 100, "src")
    assert passage.complete
    assert (passage.passage_id, passage.document_id, passage.source) == ("pa", "a", "src")
    assert (passage.title, passage.text, passage.score) == ("T", A.text, 2.5)
    for sentence in passage.sentences:
        assert sentence.text == A.text[sentence.start : sentence.end]


@given(
    st.lists(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=8), max_size=6),
    st.integers(0, 120),
    st.randoms(use_true_random=False),
)
def test_a_beginning_of_the_ranking_within_the_budget(texts, budget, random) -> None:  # type: ignore[no-untyped-def]
    pieces = []
    for number, sentences in enumerate(texts):
        one = document(str(number), *sentences)
        order = list(range(len(sentences)))
        random.shuffle(order)
        pieces.append(Piece(f"p{number}", one, tuple(order)))
    passages = pack_pieces(pieces, budget, "src")
    assert sum(passage.tokens for passage in passages) <= budget
    told = [[s.id for s in p.sentences] for p in passages]
    wanted = [sorted(f"{n}-{place}" for place in p.order) for n, p in enumerate(pieces)]
    assert [sorted(ids) for ids in told[:-1]] == wanted[: len(told)][:-1], "all but the last whole"
    if told and len(told[-1]) < len(wanted[len(told) - 1]):
        piece = pieces[len(told) - 1]
        size = len(told[-1])
        longer = token_count(rendered(piece.document, piece.order[: size + 1]))
        before = sum(passage.tokens for passage in passages[:-1])
        assert before + longer > budget, "the next sentence would not have fitted"
        assert set(told[-1]) == {f"{len(told) - 1}-{place}" for place in piece.order[:size]}
