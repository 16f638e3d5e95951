"""Embedding models by what an index says it was built with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from resin_es.errors import IndexMismatch
from resin_es.index.multilingual import second_of
from resin_es.ports import Embedder, ModelIdentity

Make = Callable[[Mapping[str, Any]], Embedder]
"""From ``_meta``'s ``embedder`` to the model. Raises ModelUnavailable, SettingsError."""

HINT = "Use that model (RESIN_EMBEDDER, RESIN_EMBEDDER_MODEL)."
SECOND_HINT = (
    "Put that encoder back where it was, or have the index built anew for these settings: "
    "`resin-es rebuild`."
)


class EmbedderBook:
    """This process's own model, and others that an index needs, each loaded once. Thread-safe."""

    def __init__(self, native: Callable[[], Embedder], make: Make) -> None:
        self._native, self._make = native, make
        self._made: dict[tuple[str, int], Embedder] = {}
        self._lock = Lock()

    @property
    def native(self) -> Embedder:
        """The model that the settings name: callers hand vectors of it to the store."""
        return self._native()

    def embedder(self, meta: Mapping[str, Any]) -> Embedder:
        """The model that a generation was built with, by its ``_meta``. Raises IndexMismatch
        where that does not tell, or leads to another model; ModelUnavailable."""
        wanted = _wanted(meta)
        if _of(self.native.identity) == wanted:
            return self.native
        return self._held(wanted, meta.get("embedder"))

    def second(self, meta: Mapping[str, Any]) -> Embedder:
        """The multilingual encoder of a generation's second vectors, by its ``_meta``. Raises
        IndexMismatch, ModelUnavailable; ValueError where it has none."""
        told = second_of(meta)
        if told is None:
            raise ValueError("the generation has no second vectors")
        return self._held(_wanted(told), told.get("embedder"), SECOND_HINT)

    def _held(
        self, wanted: tuple[str, int], told: Mapping[str, Any] | None, hint: str = HINT
    ) -> Embedder:
        with self._lock:
            if wanted not in self._made:
                self._made[wanted] = self._load(wanted, told, hint)
            return self._made[wanted]

    def _load(self, wanted: tuple[str, int], told: Mapping[str, Any] | None, hint: str) -> Embedder:
        name, dims = wanted
        if told is None:
            raise IndexMismatch(
                f"the index was built with {name}, {dims} dims, and does not say how to load it.",
                hint=hint,
            )
        made = self._make(told)
        if _of(made.identity) != wanted:
            raise IndexMismatch(
                f"the index was built with {name}, {dims} dims; what it names as its model is here "
                f"{made.identity.name}, {made.identity.dims} dims.",
                hint=hint,
            )
        return made


def _wanted(told: Mapping[str, Any]) -> tuple[str, int]:
    return str(told.get("model")), int(told.get("dims", 0))


def _of(identity: ModelIdentity) -> tuple[str, int]:
    return identity.name, identity.dims
