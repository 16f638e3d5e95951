"""One generation of indices and the model of its vectors, for the length of a search."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from resin_es.errors import GenerationGone
from resin_es.model import Principal
from resin_es.ports import Embedder, GenerationalStore, MultilingualStore, UnitStore

TRIES = 4
"""How often one question is taken up again because its indices were replaced and dropped."""

T = TypeVar("T")


def pinned(store: UnitStore, embedder: Embedder) -> tuple[UnitStore, Embedder]:
    """What to search with, checked before any model call: one request. Raises IndexMismatch,
    StoreNotInstalled, ModelUnavailable."""
    if isinstance(store, GenerationalStore):
        return store.pinned(embedder)
    store.check(embedder.identity)
    return store, embedder


def second_encoder(store: UnitStore, principal: Principal) -> Embedder | None:
    """The encoder of what a pinned store holds in other languages, as far as the principal may
    find any. Raises StoreError, ModelUnavailable."""
    return store.second_encoder(principal) if isinstance(store, MultilingualStore) else None


def generation_of(store: UnitStore) -> str:
    """The generation that a pinned store searches, for the trace."""
    return store.generation if isinstance(store, GenerationalStore) else ""


def steadily(work: Callable[[], T]) -> T:
    """``work``, again where what it searched was dropped under it."""
    for _ in range(TRIES):
        with suppress(GenerationGone):
            return work()
    return work()
