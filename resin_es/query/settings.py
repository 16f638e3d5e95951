"""What a question may cost and how its evidence is chosen. One small frozen object."""

from __future__ import annotations

from pydantic import model_validator

from resin_es.errors import SettingsError
from resin_es.model.base import Frozen

MAX_WINDOW = 10_000
"""Elasticsearch's bound on ``num_candidates`` and on how many hits one search returns."""

MAX_TERMS = 200
"""Most terms of a question that a search takes: four fields of 200 terms stay below the 1,024
clauses that the smallest node allows."""


class QuerySettings(Frozen):
    """Settings of the answering side.

    ``k`` distinct passages are kept per hop (10 in the paper). Where all that the hops keep
    leaves room in the budget, the next best documents of their pools fill it (``fill_on``); a
    call that names its own k wants no more than that, nor does a search for units alone.
    ``pool`` is how many hits one
    search returns, ``dense`` how many of them the vectors find first, ``num_candidates`` how
    many each shard looks at for that; ``multilingual`` how many more the second vectors find, those
    of texts in other languages. ``budget`` is the evidence buffer in tokens (four
    characters each). ``original_question_hop`` searches the bare question beside the plan's
    hops; ``bridging`` completes dependent hops with up to ``bridge_entities`` entities that their
    predecessors found, and (``follow_up``) searches the question once more among what up to
    ``bridge_names`` names of its best documents lead to; ``document_search`` adds the plan's
    one lexical search over whole documents. Without ``sentence_addresses`` the hops search units
    alone, without ``second_vectors`` they ask the first encoder alone, and all else stays: what an
    evaluation tells their part by.
    """

    k: int = 10
    pool: int = 650
    dense: int = 600
    num_candidates: int = 700
    multilingual: int = 200
    max_hops: int = 4
    budget: int = 2000
    fill_on: bool = True
    second_vectors: bool = True
    bridging: bool = True
    bridge_entities: int = 6
    follow_up: bool = True
    bridge_names: int = 40
    original_question_hop: bool = True
    document_search: bool = True
    sentence_addresses: bool = True
    documents: int = 100
    title_boost: float = 0.5
    max_terms: int = 64
    dense_boost: float = 10_000.0
    kind_boost: float = 0.5
    kind_weight: float = 0.02
    lexical_weight: float = 0.15
    near_duplicate: float = 0.9
    keep_traces: bool = True

    @model_validator(mode="after")
    def _bounds(self) -> QuerySettings:
        _within("k", self.k, 1, MAX_WINDOW, "RESIN_K or --k: distinct passages kept per hop.")
        _within("num_candidates", self.num_candidates, 1, MAX_WINDOW, "")
        _within("pool", self.pool, 1, MAX_WINDOW, "")
        _within("dense", self.dense, 1, MAX_WINDOW, "")
        _within("multilingual", self.multilingual, 1, MAX_WINDOW, "")
        _within("documents", self.documents, 1, MAX_WINDOW, "")
        _within("max_hops", self.max_hops, 1, 16, "RESIN_MAX_HOPS; 4 is the default.")
        _within("budget", self.budget, 1, 1_000_000, "RESIN_BUDGET or --budget, in tokens.")
        _within("max_terms", self.max_terms, 1, MAX_TERMS, "")
        _within("bridge_entities", self.bridge_entities, 0, 50, "")
        _within("bridge_names", self.bridge_names, 0, 50, "")
        for name in ("lexical_weight", "kind_weight", "kind_boost", "dense_boost", "title_boost"):
            if getattr(self, name) < 0:
                raise SettingsError(f"{name} is {getattr(self, name)}, but may not be negative.")
        if not 0 < self.near_duplicate <= 1:
            raise SettingsError(f"near_duplicate is {self.near_duplicate}, outside (0, 1].")
        return self

    @property
    def dense_hits(self) -> int:
        """``k`` of the kNN clause: enough hits for ``self.k`` distinct passages."""
        return min(MAX_WINDOW, max(self.dense, 3 * self.k))

    @property
    def candidates(self) -> int:
        """``num_candidates`` of the kNN clause, never below its ``k``."""
        return min(MAX_WINDOW, max(self.num_candidates, self.dense_hits))

    @property
    def size(self) -> int:
        """How many hits one hop's search returns, those of second vectors not counted."""
        return min(MAX_WINDOW, max(self.pool, self.dense_hits + 50))

    def changed(self, *, k: int | None = None, budget: int | None = None) -> QuerySettings:
        """A copy with the caller's options; a ``k`` of theirs is a limit. Raises SettingsError
        (exit 2) outside the bounds."""
        changes = {name: v for name, v in (("k", k), ("budget", budget)) if v is not None}
        if k is not None:
            changes["fill_on"] = False
        return QuerySettings(**{**self.model_dump(), **changes}) if changes else self


def _within(name: str, value: int, low: int, high: int, hint: str) -> None:
    if not low <= value <= high:
        raise SettingsError(f"{name} is {value}, but must be {low} to {high:,}.", hint=hint)
