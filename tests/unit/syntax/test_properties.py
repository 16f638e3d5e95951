"""Whatever the text: no crash, verbatim quotes, passages that partition."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resin_es.adapters.syntax.clean import clean
from resin_es.adapters.syntax.reader import SyntaxReader
from tests.unit.syntax.conftest import passage_of, window_of

WORDS = st.sampled_from(
    "The a bus tram (LN) , ; : . if because which that is was not may increases reduced led to "
    "due of in on and or we it this 12 $4 100% <i> </i> [3] such as \u201ctram\u201d Results: "
    "E. coli \u2014 unless provided there no".split(" ")
)
TEXTS = st.one_of(
    st.text(max_size=120),
    st.lists(WORDS, min_size=1, max_size=25).map(" ".join),
)
QUICK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@QUICK
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_quotes_are_verbatim_and_cite_their_sentence(
    reader: SyntaxReader, texts: list[str]
) -> None:
    item = passage_of(*texts)
    (reading,) = reader.units([item])
    by_id = {sentence.id: sentence.text for sentence in item.sentences}
    for draft in reading.drafts:
        assert draft.quote in by_id[draft.sentence_ids[0]]
        assert 0 < draft.claim.confidence <= 1


@QUICK
@given(texts=st.lists(TEXTS, min_size=1, max_size=9))
def test_passages_partition_the_window(reader: SyntaxReader, texts: list[str]) -> None:
    covered = [
        index
        for draft in reader.passages(window_of(*texts)).drafts
        for index in range(draft.first, draft.last + 1)
    ]
    assert covered == list(range(len(texts)))


@given(text=st.text(alphabet=st.sampled_from("ab (c)[d]<i>\n\u2010&lt;:.,X"), max_size=60))
def test_cleaning_keeps_the_way_back(text: str) -> None:
    cleaned = clean(text)
    assert len(cleaned.parsed) == len(cleaned.shown) == len(cleaned.origin)
    assert list(cleaned.origin) == sorted(cleaned.origin)
    assert all(0 <= at < len(text) for at in cleaned.origin)
