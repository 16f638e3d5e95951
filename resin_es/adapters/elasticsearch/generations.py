"""Which generation answers, which is under construction: looked up, checked, held on to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

from resin_es.adapters.elasticsearch.base import StoreBase
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.installed import refuse
from resin_es.adapters.elasticsearch.search import check as complete
from resin_es.errors import GenerationGone, StoreConflict, StoreError
from resin_es.index.embedders import EmbedderBook
from resin_es.index.filters import Filters, address_filter
from resin_es.index.generations import Generation, Generations, Told, generations_from
from resin_es.index.multilingual import any_body, second_of
from resin_es.index.names import ADDRESS_FAMILIES, EVIDENCE_FAMILIES, FAMILIES, Names
from resin_es.index.settings import StoreSettings
from resin_es.model import Principal
from resin_es.ports import Embedder, ModelIdentity

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch
    from typing_extensions import Self

REMEMBERED = 10_000
"""Of how many askers it is kept in mind that they may read texts in other languages."""
ROUNDS = 5
"""How often something is begun again because generations changed under it."""

T = TypeVar("T")


def look(client: Elasticsearch, names: Names, families: Sequence[str] = EVIDENCE_FAMILIES) -> Told:
    """The indices of ``families``, and every generation of the evidence, with their aliases and
    ``_meta``: one request, served from the cluster state. Raises StoreNotInstalled."""
    patterns = [names.pattern(family) for family in EVIDENCE_FAMILIES]
    with translated("looking at the indices", client):
        # No ignore_unavailable: it would turn "not allowed" into "not there".
        told: Told = client.indices.get(
            index=[*names.aliases(*families), *patterns],
            features=["aliases", "mappings"],
            filter_path="*.aliases,*.mappings._meta",
        ).body
    return told


class GenerationsPart(StoreBase):
    """The store's knowledge of generations. ``embedders`` loads the model of one that was not
    built with this process's own; None where the caller's vectors fit whatever stands."""

    def __init__(
        self,
        client: Elasticsearch,
        settings: StoreSettings,
        embedders: EmbedderBook | None = None,
    ) -> None:
        super().__init__(client, settings)
        self.embedders = embedders
        self._held: Generation | None = None
        self._in_other_languages: set[tuple[object, ...]] = set()

    def generations(self) -> Generations:
        """As they stand now. Raises StoreNotInstalled, IndexMismatch."""
        return generations_from(self.names, look(self.client, self.names))

    def check(self, model: ModelIdentity) -> None:
        """Raises StoreNotInstalled, IndexMismatch, ClientTooNew before any work is done. A model
        that the answering generation replaced is let pass where the store can load the new one's:
        what is written is then embedded anew."""
        self._checked(model, reading=False)

    def pinned(self, embedder: Embedder) -> tuple[Self, Embedder]:
        """This store with its searches held to the generation that answers now, and the model
        that its vectors are of: both from one look. Raises as :meth:`check`, and
        ModelUnavailable. Its searches raise GenerationGone once that generation is dropped."""
        live = self._checked(embedder.identity, reading=True).live
        held = copy(self)
        held._held = live
        if self.embedders is None or same_model(live.model, embedder.identity):
            return held, embedder
        return held, self.embedders.embedder(live.meta)

    def second_encoder(self, principal: Principal) -> Embedder | None:
        """The encoder of the held generation's second vectors, where it has any that the
        principal may find: one small request, until there is one. Raises StoreError,
        GenerationGone as searches do, and IndexMismatch, ModelUnavailable where that encoder
        cannot be had."""
        if self._held is None or self.embedders is None or second_of(self._held.meta) is None:
            return None
        who = (self._held.name, principal.admin, *principal.terms)
        if who not in self._in_other_languages:
            body = any_body(address_filter(principal, Filters()))
            if not self._any(body, "looking for texts in other languages"):
                return None
            if len(self._in_other_languages) >= REMEMBERED:
                self._in_other_languages.clear()  # others hold the same set
            self._in_other_languages.add(who)
        return self.embedders.second(self._held.meta)

    def _any(self, body: Mapping[str, Any], doing: str) -> bool:
        """Whether a search over addresses finds anything."""
        try:
            with translated(doing, self.client):
                told = self.client.search(index=self._searched(), **body).body
            complete(told, doing)
        except StoreError as error:
            self._raise_gone(error)
            raise
        return bool(told["hits"]["total"]["value"])

    @property
    def generation(self) -> str:
        """Label of the generation that searches are held to; empty where to none."""
        return self._held.label if self._held else ""

    def _checked(self, model: ModelIdentity, *, reading: bool) -> Generations:
        told = look(self.client, self.names, FAMILIES)
        answering = {
            index: body
            for index, body in told.items()
            if any(name in self.names.aliases() for name in body.get("aliases", {}))
        }
        now = generations_from(self.names, told)
        settings, wanted = self.settings, model
        if self.embedders is not None and _may_follow(now, model):
            wanted = now.live.model
        if reading and _may_read(now, settings.statement_version):
            changed = {"statement_version": now.live.statement_version}
            settings = settings.model_copy(update=changed)
        refuse(self.names, answering, settings, wanted)
        return now

    def _searched(self) -> list[str]:
        """What a search over addresses names."""
        if self._held is None:
            return self.names.aliases(*ADDRESS_FAMILIES)
        return [self._held.indices[family] for family in ADDRESS_FAMILIES]

    def _raise_gone(self, error: StoreError) -> None:
        """Raise GenerationGone where the generation that was searched no longer answers: it was
        dropped, or is being so."""
        if self._held is not None and self.generations().live.name != self._held.name:
            raise GenerationGone(
                f"generation {self.generation} was replaced while it was searched.",
                hint="Ask again.",
            ) from error

    def _steady(self, work: Callable[[Generations], T]) -> T:
        """``work`` on the generations as they stand; again where it failed and they changed."""
        for _ in range(ROUNDS):
            now = self.generations()
            try:
                return work(now)
            except StoreError:
                if self.generations() == now:
                    raise
        raise unsteady()


def unsteady() -> StoreConflict:
    """Generations change faster than anything can be done."""
    return StoreConflict("the indices were replaced again and again.", hint="Run it again.")


def same_model(one: ModelIdentity, other: ModelIdentity) -> bool:
    """Whether vectors of one model may stand among those of the other."""
    return (one.name, one.dims) == (other.name, other.dims)


def _may_follow(now: Generations, model: ModelIdentity) -> bool:
    """Whether a process for ``model`` may work with the generation that answers: it was started
    for one that this replaced, or for the one that is about to replace this."""
    if now.live.follows(model):
        return True
    coming = now.next is not None and same_model(now.next.model, model)
    return coming and "embedder" in now.live.meta


def _may_read(now: Generations, statement_version: str) -> bool:
    """Statements are only searched, so that a reader may be older or newer than they are."""
    coming = now.next is not None and now.next.statement_version == statement_version
    return coming or now.live.replaced_statements(statement_version)
