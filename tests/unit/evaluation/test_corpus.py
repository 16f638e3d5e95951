"""What baselines search: cut by the data set's own sentences, ids from content."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from resin_es.evaluation.corpus import corpus_of, window_places
from resin_es.evaluation.values import EvalDataset, EvalDocument, SourceSentence, Span


def document(key: str, title: str, *sentences: str) -> EvalDocument:
    placed, start = [], 0
    for number, text in enumerate(sentences):
        span = Span(document_id=key, start=start, end=start + len(text))
        placed.append(SourceSentence(id=f"{key}-{number}", span=span, text=text))
        start += len(text) + 1
    return EvalDocument(id=key, title=title, text=" ".join(sentences), sentences=tuple(placed))


def dataset(*documents: EvalDocument) -> EvalDataset:
    return EvalDataset(name="toy", documents=documents, questions=())


SEVEN = document("a", "Eels", *(f"Eel {n}." for n in range(7)))
ONE = document("b", "", "Only one.")
EMPTY = document("c", "Nothing")


def test_three_granularities_in_order() -> None:
    corpus = corpus_of(dataset(SEVEN, EMPTY, ONE))
    told = [(r.granularity, r.document_id, r.first, r.last, r.text) for r in corpus.records]
    assert told[:2] == [
        ("document", "a", 0, 7, SEVEN.text),
        ("document", "b", 0, 1, "Only one."),
    ]
    assert told[2:10] == [
        *(("sentence", "a", n, n + 1, f"Eel {n}.") for n in range(7)),
        ("sentence", "b", 0, 1, "Only one."),
    ]
    assert told[10:] == [
        ("window", "a", 0, 5, "Eel 0. Eel 1. Eel 2. Eel 3. Eel 4."),
        ("window", "a", 5, 7, "Eel 5. Eel 6."),
        ("window", "b", 0, 1, "Only one."),
    ]


def test_records_say_where_they_stand() -> None:
    corpus = corpus_of(dataset(ONE, SEVEN))
    for number, record in enumerate(corpus.records):
        whole = corpus.by_id[record.document_id]
        assert record.text == whole.text[record.start : record.end]
        assert corpus.documents[corpus.document_number(number)] is whole
    assert corpus.records[corpus.sentence_number(1, 3)].text == "Eel 3."


def test_only_whole_documents_are_searched_with_their_title() -> None:
    records = corpus_of(dataset(SEVEN, ONE)).records
    assert records[0].searched == "Eels\n" + SEVEN.text
    assert records[1].searched == "Only one.", "no title, no empty line"
    assert [r.searched for r in records[2:]] == [r.text for r in records[2:]]


def test_ids_follow_content() -> None:
    first, again = corpus_of(dataset(SEVEN, ONE)), corpus_of(dataset(SEVEN, ONE))
    assert first.fingerprint == again.fingerprint
    assert len({record.id for record in first.records}) == len(first.records)
    retitled = SEVEN.model_copy(update={"title": "Eel"})
    for other in (dataset(retitled, ONE), dataset(ONE, SEVEN), dataset(SEVEN)):
        assert corpus_of(other).fingerprint != first.fingerprint
    assert corpus_of(dataset(SEVEN, ONE), window=4).fingerprint != first.fingerprint


@given(st.integers(0, 40), st.integers(1, 9))
def test_windows_hold_every_sentence_once(sentences: int, window: int) -> None:
    places = list(window_places(sentences, window))
    assert [n for first, last in places for n in range(first, last)] == list(range(sentences))
    assert all(0 < last - first <= window for first, last in places)
