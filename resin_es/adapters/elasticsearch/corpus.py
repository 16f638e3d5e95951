"""The baselines' corpus in an index of its own, and merged indices for runs that repeat.

The index's name carries a fingerprint of the records, the embedding model, the language and the
format, so an index is built once and never taken for another one. ``_meta.complete`` is set as
the last step. A build that broke off goes on where it stopped: records are created, never
replaced, because a replaced one lives on in BM25's statistics for as long as Elasticsearch
keeps history, whatever is merged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch.base import CONFLICT
from resin_es.adapters.elasticsearch.bulk import Action, bulk, report
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.search import check
from resin_es.adapters.elasticsearch.templates import has_analyzer
from resin_es.errors import StoreRejected, StoreTimeout
from resin_es.evaluation.corpus import GRANULARITIES, Corpus, CorpusRecord
from resin_es.evaluation.systems.corpus_index import NUMBER, Found, text_field, vector_field
from resin_es.index.names import ADDRESS_FAMILIES, Names
from resin_es.index.settings import StoreSettings
from resin_es.index.templates import OWNER, Schema, analysis
from resin_es.index.vectors import CacheGet, CachePut, embed_cached
from resin_es.model.base import content_id
from resin_es.ports import Embedder, ModelIdentity, Progress

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

FORMAT = "1"
"""Part of every index name; raised with every change of mapping or record."""

FAMILY = "corpus"
CHUNK = 512
"""Records embedded and written at a time."""

MERGE_TIMEOUT = 900.0
"""Seconds that one merge may take."""

_ANSWER = tuple(
    f"responses.{part}" for part in ("hits.hits.sort", "_shards", "error", "status", "timed_out")
)
"""The parts of an answer that are read."""


def corpus_index_name(settings: StoreSettings, corpus: Corpus, model: ModelIdentity) -> str:
    """``<prefix>-corpus-<data set>-<fingerprint>``."""
    told = (FORMAT, corpus.fingerprint, model.name, str(model.dims), settings.language)
    slug = re.sub(r"[^a-z0-9]+", "-", corpus.name.lower()).strip("-")[:40]
    return "-".join(
        filter(None, (settings.prefix, FAMILY, slug, content_id("index", *told, length=16)))
    )


def corpus_index_body(schema: Schema, complete: bool = False) -> dict[str, Any]:
    """Body of ``PUT /<index>``. Vectors are indexed flat: every search compares them all, so
    that no approximation blurs what the rows are measured by. Raises SettingsError."""
    schema.check()
    fields: dict[str, Any] = {NUMBER: {"type": "integer"}}
    for granularity in GRANULARITIES:
        fields[text_field(granularity)] = {"type": "text", "analyzer": "resin_text"}
        fields[vector_field(granularity)] = {
            "type": "dense_vector",
            "dims": schema.model.dims,
            "index": True,
            "similarity": "cosine",
            "index_options": {"type": "flat"},
        }
    return {
        "settings": {"analysis": analysis(schema.settings, schema.stemming)},
        "mappings": {
            "_meta": corpus_meta(complete),
            "dynamic": "strict",
            "_source": {"excludes": [vector_field(one) for one in GRANULARITIES]},
            "properties": fields,
        },
    }


def corpus_meta(complete: bool) -> dict[str, Any]:
    return {"resin": {"managed_by": OWNER, "family": FAMILY, "complete": complete}}


def record_source(number: int, record: CorpusRecord, vector: Sequence[float]) -> dict[str, Any]:
    """The record as it is stored, under the fields of its granularity."""
    return {
        NUMBER: number,
        text_field(record.granularity): record.searched,
        vector_field(record.granularity): vector,
    }


class ElasticsearchCorpus:
    """Implements :class:`resin_es.evaluation.systems.corpus_index.CorpusIndex`."""

    def __init__(self, client: Elasticsearch, corpus: Corpus, index: str) -> None:
        self.client, self.corpus, self.index = client, corpus, index

    def search(self, bodies: Sequence[Mapping[str, Any]]) -> list[Found]:
        """One ``_msearch``. Raises StoreError, also where an answer is partial."""
        lines = [line for body in bodies for line in ({}, dict(body))]
        with translated("searching the baselines' corpus", self.client):
            answer = self.client.msearch(index=self.index, searches=lines, filter_path=_ANSWER)
        return [_found(one) for one in answer.body["responses"]]


def _found(answer: Mapping[str, Any]) -> Found:
    check(answer, "searching the baselines' corpus")
    hits = answer.get("hits", {}).get("hits", ())
    return tuple((number, score) for score, number in (hit["sort"] for hit in hits))


def build_corpus(
    client: Elasticsearch,
    settings: StoreSettings,
    corpus: Corpus,
    embedder: Embedder,
    cache_get: CacheGet,
    cache_put: CachePut,
    *,
    progress: Progress | None = None,
) -> ElasticsearchCorpus:
    """The searchable corpus: as it stands, or built now (embedded, written, merged into one
    segment). A build that was broken off finds its vectors in the cache.

    Raises SettingsError, StoreError, ModelError.
    """
    index = corpus_index_name(settings, corpus, embedder.identity)
    if not _complete(client, index, len(corpus.records)):
        _create(client, index, settings, embedder.identity)
        done = 0
        for actions in _parts(corpus, index, embedder, cache_get, cache_put):
            doing = "writing the baselines' corpus"
            outcome = bulk(client, actions, settings, doing)
            report(outcome, doing, ignore=frozenset({CONFLICT}))
            done += len(actions)
            if progress is not None:
                progress.update(done, len(corpus.records), f"baseline corpus {corpus.name}")
        merge(client, [index])
        _seal(client, index, len(corpus.records))
    return ElasticsearchCorpus(client, corpus, index)


def _complete(client: Elasticsearch, index: str, records: int) -> bool:
    """Whether the index stands with all its records."""
    with translated("looking for the baselines' corpus", client):
        lenient = client.options(ignore_status=404)
        told = lenient.indices.get_mapping(index=index, filter_path=["*.mappings._meta", "status"])
    meta = told.body.get(index, {}).get("mappings", {}).get("_meta", {}).get("resin", {})
    if not meta.get("complete"):
        return False
    if _count(client, index) == records:
        return True
    # Somebody deleted records, which count on in the statistics: only a new index is right.
    with translated(f"deleting index {index}", client):
        client.indices.delete(index=index)
    return False


def _count(client: Elasticsearch, index: str) -> int:
    with translated("counting the baselines' corpus", client):
        return int(client.count(index=index).body["count"])


def _create(
    client: Elasticsearch, index: str, settings: StoreSettings, model: ModelIdentity
) -> None:
    stemming = has_analyzer(client, settings.language) is not False
    body = corpus_index_body(Schema(model=model, settings=settings, stemming=stemming))
    try:
        with translated(f"creating index {index}", client):
            client.indices.create(index=index, **body)
    except StoreRejected as error:
        if "already exists" not in error.message:
            raise


def _parts(
    corpus: Corpus, index: str, embedder: Embedder, cache_get: CacheGet, cache_put: CachePut
) -> Iterator[list[Action]]:
    numbered = iter(enumerate(corpus.records))
    while part := list(islice(numbered, CHUNK)):
        texts = [record.searched for _, record in part]
        vectors = embed_cached(texts, embedder, cache_get, cache_put)
        yield [
            {
                "_op_type": "create",
                "_index": index,
                "_id": record.id,
                "_source": record_source(number, record, vector.tolist()),
            }
            for (number, record), vector in zip(part, vectors, strict=True)
        ]


def _seal(client: Elasticsearch, index: str, records: int) -> None:
    """Say that all is there, if it is."""
    counted = _count(client, index)
    if counted != records:
        raise StoreTimeout(
            f"index {index} holds {counted} records after {records} were written.",
            hint="Run it again; what is missing is written then.",
        )
    with translated(f"marking index {index} as complete", client):
        client.indices.put_mapping(index=index, meta=corpus_meta(complete=True))


def merge(client: Elasticsearch, indices: Sequence[str]) -> None:
    """Refresh and merge ``indices`` into one segment each, so that what was searched once
    answers the same again: approximate neighbours hang on how the segments were cut, and so
    does the order of hits of one score. Raises StoreError."""
    patient = client.options(request_timeout=MERGE_TIMEOUT)
    with translated("merging segments", client):
        client.indices.refresh(index=list(indices))
        patient.indices.forcemerge(
            index=list(indices), max_num_segments=1, wait_for_completion=True
        )
        client.indices.refresh(index=list(indices))


def merge_families(
    client: Elasticsearch,
    settings: StoreSettings,
    families: Sequence[str] = (*ADDRESS_FAMILIES, "documents"),
) -> None:
    """``merge`` for the product's own indices of this prefix, before a run that has to give the
    same figures twice. Costs nothing where nothing was written since. Raises StoreError."""
    merge(client, Names(prefix=settings.prefix).aliases(*families))


def drop_corpora(client: Elasticsearch, settings: StoreSettings) -> tuple[str, ...]:
    """Delete every baseline corpus of this prefix that is ours; returns the names. Raises
    StoreError."""
    with translated("looking for baseline corpora", client):
        told = client.indices.get_mapping(
            index=f"{settings.prefix}-{FAMILY}-*", filter_path="*.mappings._meta"
        ).body
    ours = tuple(
        sorted(
            name
            for name, body in told.items()
            if body.get("mappings", {}).get("_meta", {}).get("resin", {}).get("family") == FAMILY
        )
    )
    with translated("deleting baseline corpora", client):
        for name in ours:
            client.indices.delete(index=name)
    return ours
