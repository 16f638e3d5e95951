"""The searches of one question: one call, and one more where a hop waits for another."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from resin_es.extract.language import in_another_language
from resin_es.index.filters import Filters, address_filter, document_filter
from resin_es.model import UNIT_KINDS, DocumentHit, Hop, Plan, Principal
from resin_es.ports import Embedder, UnitStore
from resin_es.query import hits
from resin_es.query.background import elsewhere
from resin_es.query.bridge import (
    Bridge,
    ancestors,
    bridged,
    follow_up,
    followed,
    waves,
)
from resin_es.query.found import Found, embedded_text
from resin_es.query.hits import Address
from resin_es.query.hop import document_body, hop_body
from resin_es.query.known import Known
from resin_es.query.links import SOURCES, Best, link_clause, named_by
from resin_es.query.pinned import second_encoder
from resin_es.query.ranking import ordered
from resin_es.query.settings import QuerySettings

Vectors = tuple[list[float], list[float] | None]
"""A text's vector, and that of the multilingual encoder where one is asked."""

ORIGINAL = "q"
"""Id of the extra hop that searches the bare question."""


class Searching:
    """The searching half of one retrieval. ``found`` holds every hop searched, by id."""

    def __init__(
        self,
        store: UnitStore,
        embedder: Embedder,
        settings: QuerySettings,
        principal: Principal,
        filters: Filters,
    ) -> None:
        self.settings, self.principal, self.filters = settings, principal, filters
        self.times: dict[str, int] = {}
        self.begin_again(store, embedder)

    def begin_again(self, store: UnitStore, embedder: Embedder) -> None:
        """From nothing found and nothing embedded, on a store and with its model; ``times`` go
        on."""
        self.store, self.embedder = store, embedder
        self.second_encoder: Embedder | None = None
        self.known = Known(store, self.principal)
        self.found: dict[str, Found] = {}
        self.documents: tuple[DocumentHit, ...] = ()
        self.document_body: dict[str, Any] = {}
        self._vectors: dict[str, Vectors] = {}

    @property
    def units_alone(self) -> bool:
        """Whether the filters narrow the search to some addresses of a document: then only
        passages that these point at are evidence, and the document's own score says nothing."""
        return bool(self.filters.kinds or self.filters.units_only)

    @property
    def lexical(self) -> dict[str, float]:
        """Own lexical score of each document, where it may count."""
        if self.units_alone:
            return {}
        return {hit.document_key: hit.score for hit in self.documents}

    def first(self, question: str, plan: Plan) -> list[Found]:
        """Every hop that waits for nothing, the bare question and the documents: one call, after
        a look for texts in other languages where the indices can have any."""
        started = time.perf_counter()
        if self.settings.second_vectors:
            self.second_encoder = second_encoder(self.store, self.principal)
        self.took("embed", started)
        now, _ = waves(plan.hops, self.settings.bridging)
        hops = [*now, *original(question, plan, self.settings)]
        if self.settings.document_search and not self.units_alone:
            clauses = document_filter(self.principal, self.filters)
            self.document_body = document_body(question, clauses, self.settings)
        return self._search([(hop, None) for hop in hops], self.document_body or None)

    def second(self, question: str, plan: Plan) -> list[Found]:
        """Dependent hops, completed with what their predecessors found, and the follow-up of
        the whole question: one call, or none."""
        _, later = waves(plan.hops, self.settings.bridging)
        bridges = [self._bridge(hop, question, plan) for hop in later]
        follow = self._follow_up(question)
        if follow is not None:
            bridges.append(follow)
        return self._search([(one.hop, one) for one in bridges], None) if bridges else []

    def _bridge(self, hop: Hop, question: str, plan: Plan) -> Bridge:
        """Only current passages of the predecessors' best documents name entities."""
        found: list[Address] = []
        for name in ancestors(hop, plan.hops):
            found.extend(self._readable(name, self.settings.k)[1])
        units = [c for c in found if c.subject or c.object]
        return bridged(hop, question, units or found[:5], self.settings.bridge_entities)

    def _follow_up(self, question: str) -> Bridge | None:
        """The question again, by the names of its best documents; None where there are none,
        or the settings say no."""
        settings = self.settings
        asked = next((n for n, item in self.found.items() if _asks(item.hop, question)), None)
        if not (settings.bridging and settings.follow_up) or asked is None:
            return None
        documents, naming = self._readable(asked, SOURCES)
        pool = self.found[asked].pool
        found = named_by(question, documents, naming, pool, settings.bridge_names)
        if not found:
            return None
        top = documents[0]
        likeness = max((c.score for c in pool if c.document_key == top), default=0.0)
        best = Best(top, likeness, self.found[asked].chances[top])
        return followed(follow_up(question, asked), found, best)

    def _readable(self, name: str, count: int) -> tuple[list[str], list[Address]]:
        """The ``count`` best documents of a hop that the reader may read, and what the hop
        found in current passages of these."""
        item = self.found[name]
        best = ordered(item.scores)[:count]
        self.known.learn(best)
        readable = [key for key in best if self.known.entry(key) is not None]
        held = set(readable)
        return readable, [c for c in item.pool if c.document_key in held and self.known.current(c)]

    def _search(
        self, hops: Sequence[tuple[Hop, Bridge | None]], documents: Mapping[str, Any] | None
    ) -> list[Found]:
        vectors = self._embedded([embedded_text(hop) for hop, _ in hops])
        filters = self.filters
        if not (self.settings.sentence_addresses or self.units_alone):
            filters = filters.model_copy(update={"kinds": tuple(UNIT_KINDS)})
        clauses = address_filter(self.principal, filters)
        bodies = []
        for (hop, bridge), (vector, second) in zip(hops, vectors, strict=True):
            link = link_clause(bridge.names) if bridge and bridge.names else None
            text, settings = hop.retrieval_text, self.settings
            bodies.append(hop_body(text, vector, clauses, settings, hop.kinds, link, second))
        started = time.perf_counter()
        responses, by_document = self.store.search(bodies, documents)
        self.took("search", started)
        if documents is not None:
            self.documents = hits.documents(by_document)
        lexical = self.lexical
        found = [
            Found(
                hop,
                body,
                bridge,
                hits.ranked(answer, self.settings, elsewhere(body, self.second_encoder)),
                lexical,
                answer.took_ms,
                across=self._across(hop),
            )
            for (hop, bridge), body, answer in zip(hops, bodies, responses, strict=True)
        ]
        self.found.update({item.hop.id: item for item in found})
        return found

    def _across(self, hop: Hop) -> bool:
        """Whether there are texts in other languages than the hop's."""
        return self.second_encoder is not None and not in_another_language(hop.retrieval_text)

    def _embedded(self, texts: Sequence[str]) -> list[Vectors]:
        """The vectors of each text, made once: a follow-up asks the question again."""
        started = time.perf_counter()
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            made = vectors_of(new, self.embedder, self.second_encoder)
            self._vectors.update(zip(new, made, strict=True))
        self.took("embed", started)
        return [self._vectors[text] for text in texts]

    def took(self, step: str, started: float) -> None:
        """Add the time since ``started`` to a step's, in milliseconds."""
        spent = round((time.perf_counter() - started) * 1000)
        self.times[step] = self.times.get(step, 0) + spent


def original(question: str, plan: Plan, settings: QuerySettings) -> list[Hop]:
    """The bare question as a hop, unless a hop asks it already."""
    texts = {hop.retrieval_text.strip() for hop in plan.hops if not hop.depends_on}
    taken = any(hop.id == ORIGINAL for hop in plan.hops)
    if not settings.original_question_hop or taken or question.strip() in texts:
        return []
    return [Hop(id=ORIGINAL, subquestion=question, need="the whole question")]


def vectors_of(texts: Sequence[str], embedder: Embedder, second: Embedder | None) -> list[Vectors]:
    """The vectors that each of the texts asks with. Raises ModelError, ModelUnavailable."""
    own = [[float(value) for value in row] for row in embedder.embed_queries(texts)]
    if second is None:
        return [(row, None) for row in own]
    others = [[float(value) for value in row] for row in second.embed_queries(texts)]
    return list(zip(own, others, strict=True))


def _asks(hop: Hop, question: str) -> bool:
    """Whether a hop of the first search asks the bare question."""
    return not hop.depends_on and hop.retrieval_text.strip() == question.strip()
