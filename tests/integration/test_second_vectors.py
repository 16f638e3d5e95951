"""Second vectors of what is in another language, on a real server: written, kept, told of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.adapters.elasticsearch import uninstall
from resin_es.errors import ModelUnavailable
from resin_es.index.filters import Filters, address_filter
from resin_es.model import Principal
from resin_es.query.hop import hop_body
from resin_es.query.settings import QuerySettings
from tests.integration.conftest import document
from tests.integration.second_vectors import (
    ADMIN,
    FIRST,
    MANY,
    NOBODY,
    SECOND,
    Home,
    cleared,
    english,
    first_line,
    german,
    not_here,
    pinned,
)

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

RED, BLUE = (Principal(groups=frozenset({name})) for name in ("red", "blue"))
FRENCH = "La rivière traverse le vieux village et continue jusqu'à la mer."


@pytest.fixture(scope="module")
def home(es: Elasticsearch) -> Iterator[Home]:
    """Indices with a second encoder. Each test has documents of its own, and takes them away."""
    made = Home(es, MANY)
    yield made
    uninstall(es, made.settings)


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    SECOND.texts.clear()


@pytest.fixture
def clear(home: Home) -> Home:
    cleared(home)
    return home


def test_foreign_texts_alone_have_a_second_vector(clear: Home) -> None:
    mixed = document(3, f"Alder number 3 stands at the corner of the street. {FRENCH}")
    clear.indexer().index([english(1), german(2), mixed])
    clear.assert_second(german(2), mixed)
    told = clear.with_second()
    assert FRENCH in told[mixed.external_id]
    assert not any("Alder number 3" in text for text in told[mixed.external_id])
    assert len(SECOND.texts) == len({text for texts in told.values() for text in texts})


def test_english_documents_never_ask_the_second_encoder(clear: Home) -> None:
    clear.indexer().index([english(n) for n in range(3)])
    clear.indexer().index([document(0, access=("red",), title="Another title")])
    clear.indexer().index([document(1, "Alder number 9 stands at the corner of a new street.")])
    clear.indexer().delete("s", [english(2).external_id])
    assert SECOND.texts == []
    clear.indexer(not_here).index([english(5)])  # who cannot load it needs it as little
    assert clear.with_second() == {}


def test_who_cannot_load_it_writes_nothing_that_lacks_it(clear: Home) -> None:
    poor = clear.indexer(not_here)
    with pytest.raises(ModelUnavailable, match="not here") as error:
        poor.index([german(1)])
    assert error.value.hint == "pip install it"
    assert clear.hits() == []
    clear.indexer().index([german(1)])
    clear.assert_second(german(1))


def test_rights_title_and_deletes_leave_the_vector_with_its_record(clear: Home) -> None:
    clear.indexer().index([german(1), german(2)])
    before, asked = clear.with_second(), list(SECOND.texts)
    poor = clear.indexer(not_here)  # none of this needs the encoder
    poor.index([german(1, title="Ein anderer Titel", access=("red",), metadata={"ort": "Ulm"})])
    assert clear.with_second() == before
    assert {hit["_source"]["title"] for hit in clear.hits()} == {"Ein anderer Titel", "Fluss 2"}
    assert SECOND.texts == asked
    poor.delete("s", [german(2).external_id])
    clear.assert_second(german(1))


def test_a_changed_document_has_those_of_its_new_texts(clear: Home) -> None:
    clear.indexer().index([german(1)])
    changed = document(1, f"{FRENCH} The last boat leaves the harbour late in the evening.")
    clear.indexer().index([changed])
    assert clear.with_second()[changed.external_id] >= {FRENCH}
    assert not any("Fluss" in text for text in clear.with_second()[changed.external_id])
    clear.assert_second(changed)
    clear.indexer().index([english(1)])
    assert clear.with_second() == {}


# ---------------------------------------------------------------- reading


def test_the_encoder_is_told_to_who_may_read_what_it_embedded(
    clear: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = pinned(clear)
    clear.indexer().index([english(1)])
    for one in (ADMIN, NOBODY, RED):
        assert store.second_encoder(one) is None
    clear.indexer().index([german(2, access=("red",))])
    assert store.second_encoder(NOBODY) is None
    assert store.second_encoder(BLUE) is None
    assert store.second_encoder(RED) is SECOND
    assert store.second_encoder(ADMIN) is SECOND
    assert clear.store().second_encoder(ADMIN) is None, "it is told for a pinned generation alone"

    def asked(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("it was found once, that does")

    with monkeypatch.context() as patch:
        patch.setattr(type(clear.es), "search", asked)
        assert store.second_encoder(RED) is SECOND
        assert store.pinned(FIRST)[0].second_encoder(ADMIN) is SECOND
        with pytest.raises(AssertionError):
            store.second_encoder(NOBODY)
    clear.indexer().index([german(2, access=("*",))])
    assert store.second_encoder(NOBODY) is SECOND
    encoder = pinned(clear, not_here).second_encoder(ADMIN)
    assert encoder is not None
    with pytest.raises(ModelUnavailable):
        encoder.embed_queries(["who cannot load it is told so"])


def test_two_clauses_each_tell_their_own_score(clear: Home) -> None:
    """What every hop sends, on whichever server this runs."""
    clear.indexer().index([english(1), german(2, access=("red",)), german(3)])
    text = first_line(3)
    first, second = (model.embed_queries([text])[0].tolist() for model in (FIRST, SECOND))
    settings = QuerySettings()
    for principal, documents in ((NOBODY, [german(3)]), (RED, [german(2), german(3)])):
        filters = address_filter(principal, Filters())
        body = hop_body(text, first, filters, settings, second=second)
        [answer], _ = pinned(clear).search([body], None)
        across = [hit for hit in answer.hits if "multilingual" in hit.parts]
        names = {hit.source["document_id"] for hit in across}
        assert names == {one.external_id for one in documents}
        assert all("dense" in hit.parts for hit in answer.hits)
        exact = [hit for hit in across if hit.source["statement"] == text]
        assert exact
        assert all("lexical" in hit.parts for hit in exact)
        for hit in exact:
            boost = settings.dense_boost
            assert hit.parts["multilingual"] == pytest.approx(boost, rel=0.02)
            assert hit.parts["dense"] == pytest.approx(boost, rel=0.02)
        there = [hit for hit in answer.hits if " number " in hit.source["statement"]]
        assert there
        assert not any("multilingual" in hit.parts for hit in there)


# ---------------------------------------------------------------- installing again


def test_what_stands_says_which_encoder_it_is(es: Elasticsearch, home: Home) -> None:
    for second in (None, MANY):
        report = home.install(second)
        assert report.created == ()
        assert report.multilingual == SECOND.identity.name
    es.indices.delete(index=f"{home.prefix}-sentences-v1")
    assert home.install(None).created == (f"{home.prefix}-sentences-v1",)
    cleared(home)
    home.indexer().index([german(1)])
    home.assert_second(german(1))
