"""A house whose indices are rebuilt, and processes that live in it. Shared by tests."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from elasticsearch import helpers

from resin_es.adapters.elasticsearch import ElasticsearchStore, install
from resin_es.adapters.elasticsearch.rebuild import Rebuild
from resin_es.errors import ModelUnavailable
from resin_es.index.embedders import EmbedderBook
from resin_es.index.generations import Generations
from resin_es.index.indexer import Indexer
from resin_es.index.indexer_settings import IndexSettings
from resin_es.index.settings import StoreSettings
from resin_es.query.compose import ExtractiveComposer
from resin_es.query.engine import QueryEngine
from resin_es.query.planner import RulePlanner
from resin_es.query.settings import QuerySettings
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted import ScriptedReader
from tests.integration.conftest import plain

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

FAMILIES = ("passages", "sentences", "units")
ONE, OTHER = HashEmbedder(32), HashEmbedder(32, name="other", seed="other ")
"""Of equal dims, so that a vector of the wrong one is not refused by the server."""
MODELS = {"one": ONE, "other": OTHER}


def made(spec: Any) -> HashEmbedder:
    return MODELS[spec["model"]]


def without_models(spec: Any) -> HashEmbedder:
    raise ModelUnavailable(f"{spec['model']} is not here")


class House:
    """A prefix whose indices stand. ``old`` is the model that answers, ``new`` the other one."""

    def __init__(self, es: Elasticsearch, *, index_only: bool = False) -> None:
        self.es, self.prefix = es, f"t-{uuid.uuid4().hex[:10]}"
        self.settings = StoreSettings(prefix=self.prefix, page=20)
        self.reader = ScriptedReader()
        how = {"model": "one"}
        install(es, self.settings, ONE.identity, index_only=index_only, embedder=how)
        self.old, self.new = ONE, OTHER

    def emptied(self) -> House:
        """Without records; another rebuild may have swapped the models' places."""
        self.reader = ScriptedReader()
        live = self.now.live
        self.old = ONE if live.model.name == ONE.identity.name else OTHER
        self.new = OTHER if self.old is ONE else ONE
        for family in (*FAMILIES, "documents", "cache"):
            index = f"{self.prefix}-{family}"
            self.es.indices.refresh(index=index)
            hits = self.es.search(index=index, size=10_000, source=False)["hits"]["hits"]
            actions = [{"_op_type": "delete", "_index": h["_index"], "_id": h["_id"]} for h in hits]
            helpers.bulk(self.es, actions, refresh=True)
        return self

    @property
    def now(self) -> Generations:
        return ElasticsearchStore(self.es, self.settings).generations()

    def store(self, native: HashEmbedder, make: Any = made) -> ElasticsearchStore:
        return ElasticsearchStore(self.es, self.settings, EmbedderBook(lambda: native, make))

    def indexer(self, native: HashEmbedder | None = None, make: Any = made) -> Indexer:
        """A process for ``native``; by default for the model that answered at first."""
        native = native or self.old
        settings = IndexSettings(batch_documents=4)
        return Indexer(self.store(native, make), native, self.reader, settings)

    def engine(self, native: HashEmbedder | None = None) -> QueryEngine:
        native = native or self.old
        settings = QuerySettings(keep_traces=False)
        return QueryEngine(
            self.store(native), native, RulePlanner(), ExtractiveComposer(), settings
        )

    def rebuild(
        self, native: HashEmbedder | None = None, settings: StoreSettings | None = None
    ) -> Rebuild:
        native = native or self.new
        how = {"model": "one" if native is ONE else "other"}
        book = EmbedderBook(lambda: native, made)
        return Rebuild(self.es, settings or self.settings, book, how)

    def records(self, indices: Any = None) -> dict[str, dict[str, Any]]:
        """What a generation (by default what answers) holds, by family and id."""
        found = {}
        for family in FAMILIES:
            index = indices[family] if indices else f"{self.prefix}-{family}"
            self.es.indices.refresh(index=index)
            hits = self.es.search(index=index, size=10_000)["hits"]["hits"]
            found[family] = {hit["_id"]: plain(hit["_source"]) for hit in hits}
        return found

    def documents(self, indices: Any = None) -> dict[str, Any]:
        """Rights of every document that has units, by external id."""
        units = self.records(indices)["units"].values()
        return {unit["document_id"]: unit["access"] for unit in units}

    def assert_vectors_of(self, model: HashEmbedder, indices: Any = None) -> None:
        families = ("units", "sentences")
        names = [indices[f] if indices else f"{self.prefix}-{f}" for f in families]
        answer = self.es.search(
            index=names, size=10_000, fields=["vector"], source=["statement", "vector"]
        )
        hits = answer["hits"]["hits"]
        assert hits
        expected = model.embed([hit["_source"]["statement"] for hit in hits])
        for hit, wanted in zip(hits, expected, strict=True):
            held = hit["_source"].get("vector") or hit["fields"]["vector"]
            assert held == pytest.approx(wanted.tolist(), abs=2e-3)

    def shape(self) -> dict[str, Any]:
        """Indices with aliases and mappings, and all templates below the prefix."""
        told = self.es.indices.get(index=f"{self.prefix}*", features=["aliases", "mappings"]).body
        lenient = self.es.options(ignore_status=404)
        return {
            "indices": dict(told),
            "templates": undated(lenient.indices.get_index_template(name=f"{self.prefix}*").body),
            "parts": undated(lenient.cluster.get_component_template(name=f"{self.prefix}*").body),
        }


def undated(told: Any) -> Any:
    """What the cluster tells of templates without when it was written, which 9.x adds."""
    if isinstance(told, dict):
        return {k: undated(v) for k, v in told.items() if "_date" not in k}
    return [undated(one) for one in told] if isinstance(told, list) else told
