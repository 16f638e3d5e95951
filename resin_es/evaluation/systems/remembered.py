"""One question, many rows: what the store and the encoder answered is asked for once.

Rows that differ in packing alone send the same searches. They share the answers, and each is
charged the time that its own calls would have taken, so that a row's seconds stay honest.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic_core import to_json

from resin_es.model import Coverage, Principal
from resin_es.ports import Embedder, FetchedEvidence, ModelIdentity, SearchResponse, UnitStore
from resin_es.query.pinned import pinned, second_encoder

if TYPE_CHECKING:
    from resin_es.ports import Vectors

Value = TypeVar("Value")
Piece = tuple[str, str]
"""What kind of thing, and its id."""

PASSAGE, ENTRY = "passage", "entry"
PIECES = 50_000
"""So many pieces are remembered beyond a question; some 100 MB of passages."""


class Remembered:
    """Answers to the calls of one question, by what was asked; some of them last for a run."""

    def __init__(self) -> None:
        self._answers: dict[str, tuple[Any, float]] = {}
        self._lasting: dict[str, tuple[Any, float]] = {}
        self._pieces: dict[tuple[str, str], tuple[Any, float]] = {}
        self._lent = 0.0

    def forget(self) -> None:
        """A new question begins."""
        self._answers.clear()
        if len(self._pieces) > PIECES:
            self._pieces.clear()
        self._lent = 0.0

    def call(self, key: str, make: Callable[[], Value], *, lasting: bool = False) -> Value:
        """What ``make`` returned when ``key`` was first asked for: for this question or, where
        no question changes it, ``lasting``."""
        answers = self._lasting if lasting else self._answers
        if key not in answers:
            started = time.perf_counter()
            value = make()
            answers[key] = value, time.perf_counter() - started
            return value
        value, seconds = answers[key]
        self._lent += seconds
        return cast(Value, value)

    def each(
        self, wanted: Sequence[Piece], make: Callable[[Sequence[Piece]], Mapping[Piece, Any]]
    ) -> dict[Piece, Any]:
        """What ``make`` returned for each piece when it was first asked for in the run, without
        those that there are not. A piece costs its share of the call that brought it."""
        once = dict.fromkeys(wanted)
        new = [one for one in once if one not in self._pieces]
        self._lent += sum(self._pieces[one][1] for one in once if one in self._pieces)
        if new:
            started = time.perf_counter()
            made = make(new)
            share = (time.perf_counter() - started) / len(new)
            self._pieces.update({one: (made.get(one), share) for one in new})
        found = ((one, self._pieces[one][0]) for one in wanted)
        return {one: value for one, value in found if value is not None}

    def lent(self) -> float:
        """Seconds of the calls answered from memory since this was last asked."""
        seconds, self._lent = self._lent, 0.0
        return seconds


class RememberingStore:
    """A store whose searches and fetches are remembered, and, since nothing is indexed during
    a run, what it says of itself; everything else is the store's own."""

    def __init__(self, store: UnitStore, memory: Remembered) -> None:
        self._store, self._memory = store, memory

    def search(
        self, addresses: Sequence[Mapping[str, Any]], documents: Mapping[str, Any] | None
    ) -> tuple[Sequence[SearchResponse], SearchResponse | None]:
        key = f"search {to_json([addresses, documents]).decode()}"
        return self._memory.call(key, lambda: self._store.search(addresses, documents))

    def fetch(self, passage_ids: Sequence[str], keys: Sequence[str]) -> FetchedEvidence:
        wanted = [*((PASSAGE, one) for one in passage_ids), *((ENTRY, one) for one in keys)]
        found = self._memory.each(wanted, self._fetched)
        return FetchedEvidence(
            passages={name: value for (kind, name), value in found.items() if kind == PASSAGE},
            entries={name: value for (kind, name), value in found.items() if kind == ENTRY},
        )

    def _fetched(self, wanted: Sequence[Piece]) -> dict[Piece, Any]:
        parts = ([name for kind, name in wanted if kind == part] for part in (PASSAGE, ENTRY))
        fetched = self._store.fetch(*parts)
        return {
            **{(PASSAGE, name): body for name, body in fetched.passages.items()},
            **{(ENTRY, name): entry for name, entry in fetched.entries.items()},
        }

    def check(self, model: ModelIdentity) -> None:
        key = json.dumps(["check", model.model_dump()])
        self._memory.call(key, lambda: self._store.check(model), lasting=True)

    def pinned(self, embedder: Embedder) -> tuple[UnitStore, Embedder]:
        """The indices do not change during a run, so that they are looked at once."""
        key = json.dumps(["pinned", embedder.identity.model_dump()])
        store, model = self._memory.call(key, lambda: pinned(self._store, embedder), lasting=True)
        if model.identity != embedder.identity:  # the indices name another one
            model = RememberingEmbedder(model, self._memory)
        return cast(UnitStore, RememberingStore(store, self._memory)), model

    def second_encoder(self, principal: Principal) -> Embedder | None:
        key = json.dumps(["second encoder", principal.admin, principal.terms])
        found = self._memory.call(key, lambda: second_encoder(self._store, principal), lasting=True)
        return None if found is None else RememberingEmbedder(found, self._memory)

    def coverage(self, principal: Principal, sources: Sequence[str]) -> Sequence[Coverage]:
        key = json.dumps(["coverage", principal.admin, principal.terms, sources])
        return self._memory.call(
            key, lambda: self._store.coverage(principal, sources), lasting=True
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class RememberingEmbedder:
    """An embedder whose last question's texts are remembered."""

    def __init__(self, embedder: Embedder, memory: Remembered) -> None:
        self._embedder, self._memory = embedder, memory

    @property
    def identity(self) -> ModelIdentity:
        return self._embedder.identity

    def embed(self, texts: Sequence[str]) -> Vectors:
        key = json.dumps(["embed", self.identity.name, texts])
        return self._memory.call(key, lambda: self._embedder.embed(texts))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        key = json.dumps(["embed queries", self.identity.name, texts])
        return self._memory.call(key, lambda: self._embedder.embed_queries(texts))
