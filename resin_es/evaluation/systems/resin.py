"""RESIN as rows: the default, and what it is without each of its parts.

The variants are data; a row is the real engine with a variant's settings. No row has code of
its own on the way from question to evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

from pydantic import Field

from resin_es.evaluation.systems.remembered import (
    Remembered,
    RememberingEmbedder,
    RememberingStore,
)
from resin_es.evaluation.values import Evidence, Span
from resin_es.index.filters import Filters
from resin_es.model import UNIT_KINDS, EvidencePassage, Principal
from resin_es.model.base import Frozen
from resin_es.ports import Composer, Embedder, Planner, UnitStore
from resin_es.query.engine import QueryEngine
from resin_es.query.plan_rules import mentions
from resin_es.query.planner import one_hop
from resin_es.query.settings import QuerySettings
from resin_es.query.values import Retrieval

KS = (1, 5, 10, 15, 20)
"""The candidates kept per hop in the paper's figure 2(a)."""


class Variant(Frozen):
    """A row: what differs from the default. ``settings`` overrides fields of QuerySettings;
    ``planning`` is the planner's, one hop, or one hop with as many candidates as the plan's
    hops have together (``matched``); ``kinds`` filters by unit kind, ``units_only`` by all of
    them, ``entities`` by the names in the question."""

    name: str
    label: str
    about: str
    group: str = "ablation"
    settings: Mapping[str, Any] = Field(default_factory=dict)
    planning: Literal["planned", "one-hop", "matched"] = "planned"
    kinds: tuple[str, ...] = ()
    entities: bool = False


def _k(k: int) -> Variant:
    about = f"No more evidence than {k} passages kept per hop."
    settings = {"k": k, "fill_on": False}
    return Variant(name=f"k={k}", label=f"k = {k}", about=about, settings=settings)


def _kind(kind: str) -> Variant:
    about = f"Only units of the kind {kind}, as `--kind` does: the passages that they point at."
    return Variant(name=f"kind={kind}", label=f"only {kind}", about=about, kinds=(kind,))


VARIANTS: tuple[Variant, ...] = (
    Variant(
        name="resin",
        label="RESIN",
        group="resin",
        about="The default: planner, one hybrid search per hop over units and sentences, bridged "
        "hops, source passages within the budget.",
    ),
    *(_k(k) for k in KS),
    Variant(
        name="kind=all",
        label="all six kinds",
        about="Only units, of any kind: the passages that they point at.",
        kinds=tuple(UNIT_KINDS),
    ),
    *(_kind(kind) for kind in UNIT_KINDS),
    Variant(
        name="one-hop",
        label="no decomposition",
        about="The question as the only hop, with the k of one hop.",
        planning="one-hop",
    ),
    Variant(
        name="one-hop-matched",
        label="no decomposition, k matched",
        about="The question as the only hop, with as many candidates as all planned hops keep.",
        planning="matched",
    ),
    Variant(
        name="no-bridging",
        label="no bridging",
        about="Dependent hops are searched as planned, independently, in the first search.",
        settings={"bridging": False},
    ),
    Variant(
        name="no-lexical",
        label="no lexical part",
        about="Vectors alone: no BM25 in a hop's score and none of documents.",
        settings={"lexical_weight": 0.0, "document_search": False},
    ),
    Variant(
        name="no-sentences",
        label="no sentence addresses",
        about="Typed units are the only addresses that a hop searches; documents are searched by "
        "title and text, and served, as in RESIN.",
        settings={"sentence_addresses": False},
    ),
    Variant(
        name="no-second-vectors",
        label="no second vectors",
        about="The first encoder alone, also for what is in another language.",
        settings={"second_vectors": False},
    ),
    Variant(
        name="paper",
        label="the paper's retrieval",
        about="Typed units by vectors alone, hops independent, no document score: the passages "
        "that the best units point at.",
        settings={
            "bridging": False,
            "lexical_weight": 0.0,
            "document_search": False,
            "original_question_hop": False,
            "second_vectors": False,
            "fill_on": False,
        },
        kinds=tuple(UNIT_KINDS),
    ),
    Variant(
        name="entities",
        label="only units about the question's names",
        about="Filtered by the names in the question, as `--entity` does.",
        entities=True,
    ),
)
"""Every row that needs no model. A row with another reader's units is the same engine over
another index: see ``bootstrap.evaluation``."""


class ResinSystem:
    """An ``EvalSystem``: the engine under a variant's settings."""

    def __init__(
        self,
        variant: Variant,
        store: UnitStore,
        embedder: Embedder,
        planner: Planner,
        composer: Composer,
        settings: QuerySettings,
        principal: Principal,
        sources: Sequence[str],
        memory: Remembered,
    ) -> None:
        self.variant, self.memory = variant, memory
        self.name, self.label = variant.name, variant.label
        self.group, self.about = variant.group, variant.about
        self.settings = QuerySettings(
            **{**settings.model_dump(), "keep_traces": False, **variant.settings}
        )
        self._parts = (
            cast(UnitStore, RememberingStore(store, memory)),
            RememberingEmbedder(embedder, memory),
            planner,
            composer,
        )
        self._engine = QueryEngine(*self._parts, self.settings)
        self._principal, self._sources = principal, tuple(sources)
        self._last: tuple[str, Callable[[int], Retrieval]] | None = None

    def filters(self, question: str) -> Filters:
        """What the row narrows every search to."""
        entities = mentions(question) if self.variant.entities else ()
        return Filters(sources=self._sources, kinds=self.variant.kinds, entities=entities)

    def evidence(self, question: str, budget: int) -> Evidence:
        """The buffer of one retrieval. ``ranked`` is its documents in the order in which they
        are served, each with its kept sentences, so that it compares with rows that rank whole
        documents. Raises ResinError."""
        if self._last is None or self._last[0] != question:
            self._last = question, self._searched(question)
        found = self._last[1](budget)
        passages = found.buffer.passages
        return Evidence(passages=passages, ranked=_documents(passages), trace=found.trace)

    def _searched(self, question: str) -> Callable[[int], Retrieval]:
        """The question searched, once for all its budgets."""
        planned = self.variant.planning == "planned"
        engine = self._wider(question) if self.variant.planning == "matched" else self._engine
        return engine.searched(
            question,
            self._principal,
            self.filters(question),
            plan=None if planned else one_hop(question),
        )

    def _wider(self, question: str) -> QueryEngine:
        """The engine that keeps for one hop what it would keep for all of the plan."""
        k = self.settings.k * max(1, len(self._engine.plan(question).hops))
        return QueryEngine(*self._parts, QuerySettings(**{**self.settings.model_dump(), "k": k}))


def _documents(passages: Sequence[EvidencePassage]) -> tuple[tuple[Span, ...], ...]:
    """What is kept of each document, in the buffer's order."""
    held: dict[str, list[Span]] = {}
    for passage in passages:
        held.setdefault(passage.document_id, []).extend(
            Span(document_id=passage.document_id, start=s.start, end=s.end)
            for s in passage.sentences
        )
    return tuple(tuple(spans) for spans in held.values())


__all__ = ["KS", "VARIANTS", "ResinSystem", "Variant"]
