"""The reader of the first pass."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from resin_es.extract.addresses import AddressReader
from resin_es.extract.read import read_document
from resin_es.model import Document

WORDS = st.text("ab. !?\n", max_size=4_000)


@given(WORDS)
def test_every_sentence_has_a_place_and_nothing_has_units(text: str) -> None:
    document = Document(source="s", external_id="d", text=text, access=())
    reading = read_document(document, AddressReader())
    placed = [one for passage in reading.passages for one in passage.sentence_ids]
    assert placed == [sentence.id for sentence in reading.sentences]
    assert not any(passage.semantic for passage in reading.passages)
    assert reading.new_units == ()
    assert reading.failures == ()
    assert reading.repairs == 0


def test_it_reads_every_language_and_says_who_it_is() -> None:
    reader = AddressReader()
    assert reader.languages() is None
    assert (reader.identity.model, reader.identity.prompt_version) == ("sentences-only", "1")
