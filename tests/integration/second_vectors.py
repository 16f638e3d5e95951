"""A house whose foreign texts may have a second vector, and processes in it. Shared by tests.

Two tiny encoders of different dims, so that a vector in the wrong field is refused by the server.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from elasticsearch import helpers

from resin_es.adapters.elasticsearch import ElasticsearchStore, install
from resin_es.adapters.elasticsearch.rebuild import Rebuild
from resin_es.errors import ModelUnavailable
from resin_es.extract.language import in_another_language
from resin_es.index.embedders import EmbedderBook
from resin_es.index.indexer import Indexer
from resin_es.index.indexer_settings import IndexSettings
from resin_es.index.multilingual import FIELD, SecondEncoder
from resin_es.index.settings import StoreSettings
from resin_es.model import Document, Principal
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted import ScriptedReader
from tests.integration.conftest import document, plain

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

ADMIN, NOBODY = Principal(admin=True), Principal()


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


def cleared(home: Home) -> None:
    entries = [one.entry for one in home.store().scan_entries("s")]
    home.indexer().delete("s", [one.external_id for one in entries])
    assert home.hits() == []
    cache = f"{home.prefix}-cache"
    home.es.indices.refresh(index=cache)
    kept = home.es.search(index=cache, size=1_000, source=False)["hits"]["hits"]
    actions = [{"_op_type": "delete", "_index": h["_index"], "_id": h["_id"]} for h in kept]
    helpers.bulk(home.es, actions, refresh=True)


def pinned(home: Home, make: Any = here) -> ElasticsearchStore:
    store, model = home.store(make).pinned(FIRST)
    assert model is FIRST
    return store
