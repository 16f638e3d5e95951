"""Second vectors of what is in another language, on a real Elasticsearch: written, kept, dropped.

Two tiny encoders of different dims, so that a vector in the wrong field is refused by the server.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from elasticsearch import helpers

from resin_es.adapters.elasticsearch import ElasticsearchStore, install, uninstall
from resin_es.adapters.elasticsearch.rebuild import Rebuild
from resin_es.errors import ModelUnavailable, UsageError
from resin_es.extract.language import in_another_language
from resin_es.index.embedders import EmbedderBook
from resin_es.index.filters import Filters, address_filter
from resin_es.index.indexer import Indexer
from resin_es.index.indexer_settings import IndexSettings
from resin_es.index.multilingual import FIELD, SecondEncoder
from resin_es.index.rebuilt import RebuildReport
from resin_es.index.settings import StoreSettings
from resin_es.model import Document, Principal
from resin_es.query.hop import hop_body
from resin_es.query.settings import QuerySettings
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted import ScriptedReader
from tests.integration.conftest import document, plain

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

ADMIN, NOBODY = Principal(admin=True), Principal()
RED, BLUE = (Principal(groups=frozenset({name})) for name in ("red", "blue"))
FRENCH = "La rivière traverse le vieux village et continue jusqu'à la mer."


class Counting(HashEmbedder):
    """The second encoder; counts the texts that it was asked for."""

    def __init__(self) -> None:
        super().__init__(32, name="many", seed="many ")
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return super().embed(texts)


class NotHere(HashEmbedder):
    """As one out of a package: known by name, and missing once it is to work."""

    def embed(self, texts: Sequence[str]) -> Any:
        raise ModelUnavailable("its package is not here", hint="pip install it")


FIRST, SECOND = HashEmbedder(64), Counting()
MANY = SecondEncoder(model=SECOND.identity, embedder={"model": "many"})


def here(spec: Any) -> HashEmbedder:
    return {"many": SECOND, "first": FIRST}[spec["model"]]


def not_here(spec: Any) -> HashEmbedder:
    return NotHere(32, name="many") if spec["model"] == "many" else FIRST


class Home:
    """A prefix of its own, and processes that work on it."""

    def __init__(self, es: Elasticsearch, second: SecondEncoder | None, **named: bool) -> None:
        self.es, self.prefix = es, f"t-{uuid.uuid4().hex[:10]}"
        self.settings = StoreSettings(prefix=self.prefix, page=20)
        self.reader = ScriptedReader(languages=None)
        self.how = {"model": "first"}
        self.install(second, **named)

    def install(self, second: SecondEncoder | None, **named: bool) -> Any:
        return install(
            self.es, self.settings, FIRST.identity, embedder=self.how, second=second, **named
        )

    def store(self, make: Any = here) -> ElasticsearchStore:
        return ElasticsearchStore(self.es, self.settings, EmbedderBook(lambda: FIRST, make))

    def indexer(self, make: Any = here) -> Indexer:
        settings = IndexSettings(batch_documents=4)
        return Indexer(self.store(make), FIRST, self.reader, settings)

    def rebuild(self, second: SecondEncoder | None, **named: Any) -> Rebuild:
        book = EmbedderBook(lambda: FIRST, here)
        return Rebuild(self.es, self.settings, book, self.how, second=lambda: second, **named)

    def hits(self, indices: Any = None) -> list[Any]:
        """Units and sentences of what answers, or of a generation, with both vectors."""
        names = [indices[f] if indices else f"{self.prefix}-{f}" for f in ("units", "sentences")]
        self.es.indices.refresh(index=names)
        # Since 9.2 the source comes without vectors.
        body: Any = {"fields": [FIELD], "size": 1_000, "sort": ["document_key"]}
        return list(self.es.search(index=names, **body).body["hits"]["hits"])

    def records(self, indices: Any = None) -> dict[str, Any]:
        found = {hit["_id"]: plain(hit["_source"]) for hit in self.hits(indices)}
        return {
            name: {key: value for key, value in one.items() if key != FIELD}
            for name, one in found.items()
        }

    def with_second(self, indices: Any = None) -> dict[str, set[str]]:
        """Texts that have a second vector, by document. Their vectors are compared."""
        found: dict[str, set[str]] = {}
        for hit in self.hits(indices):
            vector = hit["_source"].get(FIELD) or hit.get("fields", {}).get(FIELD)
            if vector:
                text = hit["_source"]["statement"]
                expected = HashEmbedder.embed(SECOND, [text])[0].tolist()
                assert vector == pytest.approx(expected, abs=2e-3)
                found.setdefault(hit["_source"]["document_id"], set()).add(text)
        return found

    def wanted(self, indices: Any = None) -> dict[str, set[str]]:
        """Which should have one."""
        found: dict[str, set[str]] = {}
        for hit in self.hits(indices):
            text = hit["_source"]["statement"]
            if in_another_language(text):
                found.setdefault(hit["_source"]["document_id"], set()).add(text)
        return found

    def assert_second(self, *documents: Document, indices: Any = None) -> None:
        """Just these have second vectors, each of their foreign texts and nothing else."""
        told = self.with_second(indices)
        assert told == self.wanted(indices)
        assert set(told) == {one.external_id for one in documents}


def english(number: int) -> Document:
    return document(number)


def first_line(number: int) -> str:
    return f"Der Fluss Nummer {number} fließt durch das alte Dorf und weiter bis zum Meer."


def german(number: int, **fields: Any) -> Document:
    more = f"Im Winter friert er an {number} flachen Stellen vollständig zu."
    body = f"{first_line(number)} {more}"
    return document(number, body, **{"title": f"Fluss {number}", **fields})


@pytest.fixture(scope="module")
def home(es: Elasticsearch) -> Iterator[Home]:
    """Indices with a second encoder. Each test has documents of its own, and takes them away."""
    made = Home(es, MANY)
    yield made
    uninstall(es, made.settings)


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    SECOND.texts.clear()


def cleared(home: Home) -> None:
    entries = [one.entry for one in home.store().scan_entries("s")]
    home.indexer().delete("s", [one.external_id for one in entries])
    assert home.hits() == []
    cache = f"{home.prefix}-cache"
    home.es.indices.refresh(index=cache)
    kept = home.es.search(index=cache, size=1_000, source=False)["hits"]["hits"]
    actions = [{"_op_type": "delete", "_index": h["_index"], "_id": h["_id"]} for h in kept]
    helpers.bulk(home.es, actions, refresh=True)


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


def pinned(home: Home, make: Any = here) -> ElasticsearchStore:
    store, model = home.store(make).pinned(FIRST)
    assert model is FIRST
    return store


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
        assert store.pinned(FIRST)[0].second_encoder(ADMIN) is SECOND  # type: ignore[attr-defined]
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


# ---------------------------------------------------------------- rebuilding


class Writing(threading.Thread):
    """Indexes and deletes German documents, numbered from ``first``, until it is stopped."""

    def __init__(self, home: Home, first: int) -> None:
        super().__init__(daemon=True)
        self.indexer, self.stopped = home.indexer(), threading.Event()
        self.first, self.rounds, self.failed = first, 0, list[BaseException]()

    def run(self) -> None:
        while not self.stopped.is_set():
            number = self.first + self.rounds
            self.rounds += 1
            try:
                self.indexer.index([german(number), english(1)])
                if self.rounds > 2:
                    self.indexer.delete("s", [german(number - 2).external_id])
            except Exception as error:  # noqa: BLE001 (any failure at all counts)
                self.failed.append(error)

    @property
    def left(self) -> set[str]:
        last = self.first + self.rounds - 1
        return {german(number).external_id for number in (last - 1, last)}


def beside_a_writer(home: Home, rebuild: Rebuild, first: int) -> tuple[RebuildReport, set[str]]:
    writing = Writing(home, first)
    writing.start()
    try:
        while writing.rounds < 3:
            writing.join(0.05)
        report = rebuild.run()
        since = writing.rounds
        while writing.rounds < since + 2:
            writing.join(0.05)
    finally:
        writing.stopped.set()
        writing.join(60)
    assert writing.failed == []
    return report, writing.left


def test_from_without_to_with_and_back_beside_writers(es: Elasticsearch) -> None:
    home = Home(es, None, index_only=True)
    try:
        home.indexer().index([english(1), german(2), german(3)])
        assert home.with_second() == {}, "it takes foreign texts as it always did"
        assert set(home.wanted()) == {german(2).external_id, german(3).external_id}
        assert pinned(home).second_encoder(ADMIN) is None
        assert SECOND.texts == []
        assert not home.rebuild(None).run().done
        without = mapped(home)
        asked = home.reader.unit_calls

        rebuild = home.rebuild(MANY)
        assert rebuild.plan()["multilingual"] == SECOND.identity.name
        report, written = beside_a_writer(home, rebuild, 100)

        assert (report.done, report.multilingual) == (True, SECOND.identity.name)
        kept = {german(2).external_id, german(3).external_id, *written}
        assert set(home.with_second()) == kept
        assert home.with_second() == home.wanted()
        assert mapped(home) == {*without, FIELD}
        assert home.reader.unit_calls > asked, "of the new documents"
        assert pinned(home).second_encoder(NOBODY) is SECOND
        assert not home.rebuild(MANY).run().done

        records = home.records()
        with pytest.raises(UsageError, match=r"second vectors.*many-32") as error:
            home.rebuild(None).plan()
        assert "RESIN_MULTILINGUAL=off" in error.value.hint
        with pytest.raises(UsageError, match="would be lost"):
            home.rebuild(None).run()
        assert home.rebuild(None).status().state == "none", "nothing has begun"
        assert home.records() == records

        rebuild = home.rebuild(None, may_drop_second=True)
        report, written = beside_a_writer(home, rebuild, 200)
        assert (report.done, report.multilingual) == (True, "")
        assert home.with_second() == {}
        assert set(home.wanted()) == kept | written
        assert mapped(home) == without
        assert pinned(home).second_encoder(ADMIN) is None
    finally:
        uninstall(es, home.settings)


def mapped(home: Home) -> set[str]:
    [body] = home.es.indices.get_mapping(index=f"{home.prefix}-units").body.values()
    return set(body["mappings"]["properties"])


def test_a_process_without_it_leaves_foreign_texts_to_the_copier(es: Elasticsearch) -> None:
    home = Home(es, None)
    try:
        home.indexer().index([german(1)])
        rebuild = home.rebuild(MANY)
        now = rebuild.begin()
        assert now.next is not None
        rebuild.catch_up(now)
        poor = home.indexer(not_here)
        poor.index([german(2), german(1, access=("red",))])
        poor.index([english(3)])
        home.assert_second(german(1), indices=now.next.indices)
        assert english(3).external_id in {
            hit["_source"]["document_id"] for hit in home.hits(now.next.indices)
        }, "what is in English it writes itself"
        home.indexer().index([german(4)])  # who has it writes it to the new one at once
        home.assert_second(german(1), german(4), indices=now.next.indices)
        records = home.records()
        rebuild.swap(now)
        with pytest.raises(ModelUnavailable):
            poor.index([german(5)])
        poor.index([english(3)])
        rebuild.finish()
        assert home.records() == records
        home.assert_second(german(1), german(2), german(4))
        store = pinned(home)
        assert store.second_encoder(NOBODY) is SECOND

        cancelled = home.rebuild(None, may_drop_second=True)
        cancelled.begin()
        assert cancelled.cancel()
        parts = es.cluster.get_component_template(name=f"{home.prefix}-schema-address").body
        [part] = parts["component_templates"]
        fields = part["component_template"]["template"]["mappings"]["properties"]
        assert FIELD in fields, "the templates are those of what answers"
    finally:
        uninstall(es, home.settings)
