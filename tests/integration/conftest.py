"""A store with its indices laid out once a module, and emptied before every test."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from elasticsearch import helpers

from resin_es.adapters.elasticsearch import ElasticsearchStore, install, uninstall
from resin_es.index.indexer import Indexer
from resin_es.index.indexer_settings import IndexSettings
from resin_es.index.settings import StoreSettings
from resin_es.model import Document
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted import ScriptedReader

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

FAMILIES = ("units", "sentences", "passages")
WORDS = ("Alder", "Birch", "Cedar", "Doum", "Elm", "Fir", "Ginkgo", "Hazel", "Ilex", "Juniper")


def text(number: int, sentences: int = 6) -> str:
    return " ".join(
        f"{WORDS[n % 10]} number {number} stands at the corner of street {n} in the old town."
        for n in range(sentences)
    )


def document(number: int, body: str | None = None, **fields: Any) -> Document:
    values = {
        "source": "s",
        "external_id": f"d/{number} é😀",
        "title": f"Trees {number}",
        "text": text(number) if body is None else body,
        "access": ("*",),
    }
    return Document(**{**values, **fields})


def plain(source: Mapping[str, Any]) -> dict[str, Any]:
    """A record without its vector. A rewritten ``metadata`` is a list of one object, or null (a
    partial update would merge objects), which Elasticsearch holds to be the same."""
    kept = {name: value for name, value in source.items() if name != "vector"}
    if isinstance(kept["metadata"], list):
        [kept["metadata"]] = kept["metadata"]
    kept["metadata"] = kept["metadata"] or {}
    return kept


class House:
    """A store under a prefix of its own, indexers on it, and documents for them."""

    text = staticmethod(text)
    document = staticmethod(document)

    def __init__(self, es: Elasticsearch, prefix: str) -> None:
        self.es, self.prefix = es, prefix
        self.settings = StoreSettings(prefix=prefix)
        self.embedder = HashEmbedder()
        install(es, self.settings, self.embedder.identity)
        self.store = ElasticsearchStore(es, self.settings)
        self.reader = ScriptedReader()

    def indexer(self, reader: ScriptedReader | None = None, store: Any = None) -> Indexer:
        settings = IndexSettings(batch_documents=4)
        return Indexer(store or self.store, self.embedder, reader or self.reader, settings)

    def records(self) -> dict[str, dict[str, Mapping[str, Any]]]:
        """Everything stored, by family and id, as it stands."""
        self.store.refresh()
        found = {}
        for family in FAMILIES:
            hits = self.es.search(index=f"{self.prefix}-{family}", size=10_000)["hits"]["hits"]
            found[family] = {hit["_id"]: plain(hit["_source"]) for hit in hits}
        return found

    def entry(self, one: Document) -> Any:
        return self.store.entries([one.key])[one.key].entry


@pytest.fixture(scope="module")
def installed(es: Elasticsearch) -> Iterator[House]:
    """Indices are laid out once: that takes longer than any test here."""
    house = House(es, f"t-{uuid.uuid4().hex[:10]}")
    yield house
    uninstall(es, house.settings)


@pytest.fixture
def house(installed: House) -> House:
    """The indices of the module, empty."""
    installed.reader = ScriptedReader()
    for family in (*FAMILIES, "documents", "cache"):
        index = f"{installed.prefix}-{family}"
        installed.es.indices.refresh(index=index)
        hits = installed.es.search(index=index, size=10_000, source=False)["hits"]["hits"]
        actions = [{"_op_type": "delete", "_index": h["_index"], "_id": h["_id"]} for h in hits]
        helpers.bulk(installed.es, actions, refresh=True)
    return installed
