"""Embedding models by what an index says it was built with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from resin_es.errors import IndexMismatch
from resin_es.ports import Embedder, ModelIdentity

Make = Callable[[Mapping[str, Any]], Embedder]
"""From ``_meta``'s ``embedder`` to the model. Raises ModelUnavailable, SettingsError."""


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
        wanted = (str(meta.get("model")), int(meta.get("dims", 0)))
        if _of(self.native.identity) == wanted:
            return self.native
        with self._lock:
            if wanted not in self._made:
                self._made[wanted] = self._load(wanted, meta.get("embedder"))
            return self._made[wanted]

    def _load(self, wanted: tuple[str, int], told: Mapping[str, Any] | None) -> Embedder:
        name, dims = wanted
        if told is None:
            raise IndexMismatch(
                f"the index was built with {name}, {dims} dims, and does not say how to load it.",
                hint="Use that model (RESIN_EMBEDDER, RESIN_EMBEDDER_MODEL).",
            )
        made = self._make(told)
        if _of(made.identity) != wanted:
            raise IndexMismatch(
                f"the index was built with {name}, {dims} dims; what it names as its model is here "
                f"{made.identity.name}, {made.identity.dims} dims.",
                hint="Use that model (RESIN_EMBEDDER, RESIN_EMBEDDER_MODEL).",
            )
        return made


def _of(identity: ModelIdentity) -> tuple[str, int]:
    return identity.name, identity.dims
