"""Generations of the evidence indices: which one answers, which one is under construction. Pure.

All of it is read from aliases and ``_meta``, in one look: there is no other record of a rebuild
that could contradict the indices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from resin_es.errors import IndexMismatch, StoreNotInstalled
from resin_es.index.multilingual import META, second_encoder_of, second_of
from resin_es.index.names import EVIDENCE_FAMILIES, Names
from resin_es.index.settings import StoreSettings
from resin_es.index.templates import OWNER, Schema, meta
from resin_es.model.base import Frozen
from resin_es.ports import ModelIdentity

Told = Mapping[str, Mapping[str, Any]]
"""Indices by name, each with ``aliases`` and ``mappings._meta``, as the server tells them."""

REPLACED = ("model", "dims", "statement_version")
"""What of a generation its successors remember."""


class Generation(Frozen):
    """One index of each evidence family. ``addresses`` are the aliases that writes name;
    ``metas`` hold what each mapping says it was built with."""

    indices: Mapping[str, str]
    addresses: Mapping[str, str]
    metas: Mapping[str, Mapping[str, Any]]

    @property
    def name(self) -> str:
        """Its indices; what tells it from every other generation."""
        return ",".join(self.indices[family] for family in EVIDENCE_FAMILIES)

    @property
    def label(self) -> str:
        """``v2``; the number of its units, where an old install numbers families apart."""
        return "v" + self.indices["units"].rpartition("-v")[2]

    @property
    def meta(self) -> Mapping[str, Any]:
        """What its addresses were built with."""
        return self.metas["units"]

    @property
    def model(self) -> ModelIdentity:
        return ModelIdentity(
            name=str(self.meta.get("model", "")), dims=int(self.meta.get("dims", 0))
        )

    @property
    def statement_version(self) -> str:
        return str(self.meta.get("statement_version", ""))

    @property
    def replaces(self) -> Sequence[Mapping[str, Any]]:
        """What earlier generations were built with, of which this one took the place."""
        found: Sequence[Mapping[str, Any]] = self.meta.get("rebuild", {}).get("replaces", ())
        return found

    def follows(self, model: ModelIdentity) -> bool:
        """Whether it took the place of one that ``model`` built, and tells how to load its own."""
        return "embedder" in self.meta and any(
            (one.get("model"), one.get("dims")) == (model.name, model.dims) for one in self.replaces
        )

    def replaced_statements(self, version: str) -> bool:
        """Whether it took the place of one whose statements were of that version."""
        return any(one.get("statement_version") == version for one in self.replaces)


class Generations(Frozen):
    """``live`` answers; ``next`` is under construction, complete with all its families.
    ``begun``: indices of one that is not complete yet. ``left``: ours, with no use any more."""

    live: Generation
    next: Generation | None = None
    begun: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def active(self) -> tuple[Generation, ...]:
        """Those that every write goes to, the answering one first."""
        return (self.live,) if self.next is None else (self.live, self.next)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.active)

    def addresses(self) -> dict[str, str]:
        """The alias for writing to each active index."""
        return {
            one.indices[family]: one.addresses[family]
            for one in self.active
            for family in EVIDENCE_FAMILIES
        }


class _Index(Frozen):
    family: str
    name: str
    number: int
    aliases: tuple[str, ...]
    meta: Mapping[str, Any]


def generations_from(names: Names, told: Told) -> Generations:
    """Raises StoreNotInstalled, IndexMismatch where an alias is missing, leads to several
    indices, or to one that is not ours."""
    found = list(_indices(names, told))
    live = {family: _live(names, family, found) for family in EVIDENCE_FAMILIES}
    ours = [one for one in found if one.meta.get("managed_by") == OWNER]
    building = [one for one in ours if names.building(one.family, one.number) in one.aliases]
    newest = max((one.number for one in building), default=0)
    upcoming = {one.family: one for one in building if one.number == newest}
    complete = len(upcoming) == len(EVIDENCE_FAMILIES)
    used = {one.name for one in (*live.values(), *building)}
    return Generations(
        live=_generation(names, live),
        next=_generation(names, upcoming) if complete else None,
        begun=tuple(one.name for one in building),
        left=tuple(one.name for one in ours if one.name not in used),
    )


def _indices(names: Names, told: Told) -> Iterator[_Index]:
    for name, body in sorted(told.items()):
        for family in EVIDENCE_FAMILIES:
            number = names.generation(family, name)
            aliases = tuple(body.get("aliases", {}))
            if number is None and names.alias(family) not in aliases:
                continue
            yield _Index(
                family=family,
                name=name,
                number=number or 0,
                aliases=aliases,
                meta=body.get("mappings", {}).get("_meta", {}).get("resin", {}),
            )


def _live(names: Names, family: str, found: Sequence[_Index]) -> _Index:
    alias = names.alias(family)
    here = [one for one in found if one.family == family and alias in one.aliases]
    if not here:
        raise StoreNotInstalled(
            f"resin-es is not installed here: alias {alias!r} is missing.",
            hint="Run `resin-es install`, or check RESIN_PREFIX.",
        )
    if len(here) > 1:
        raise IndexMismatch(
            f"alias {alias!r} leads to several indices: {', '.join(one.name for one in here)}.",
            hint="Leave it on one.",
        )
    if here[0].meta.get("managed_by") != OWNER or not here[0].number:
        raise IndexMismatch(
            f"index {here[0].name!r} was not made by resin-es.", hint="Choose another RESIN_PREFIX."
        )
    return here[0]


def _generation(names: Names, indices: Mapping[str, _Index]) -> Generation:
    return Generation(
        indices={family: one.name for family, one in indices.items()},
        addresses={family: _address(names, one) for family, one in indices.items()},
        metas={family: one.meta for family, one in indices.items()},
    )


def _address(names: Names, one: _Index) -> str:
    own = names.own(one.family, one.number)
    return own if own in one.aliases else names.alias(one.family)


# ---------------------------------------------------------------- requests


def next_meta(schema: Schema, family: str, live: Generation, began: str) -> dict[str, Any]:
    """The ``_meta`` of a new generation's index."""
    body = meta(schema, family)["resin"]
    body["rebuild"] = {"began": began, "replaces": _replaced(live, body)}
    return {"resin": body}


def _replaced(live: Generation, new: Mapping[str, Any]) -> list[dict[str, Any]]:
    latest = {name: live.meta.get(name) for name in REPLACED}
    kept: list[dict[str, Any]] = []
    for one in (latest, *live.replaces):
        if dict(one) not in kept:
            kept.append(dict(one))
    return kept


def fits(live: Generation, schema: Schema) -> bool:
    """Whether the generation is what ``schema`` would build."""
    return all(built_as(live.metas[family], schema, family) for family in EVIDENCE_FAMILIES)


def built_as(has: Mapping[str, Any], schema: Schema, family: str) -> bool:
    """Whether an index's ``_meta`` is what ``schema`` gives it; how its models are loaded does not
    count: one model may lie in several places."""
    wanted = meta(schema, family)["resin"]
    same = all(has.get(name) == value for name, value in wanted.items() if name not in _LOADED)
    return same and _second_model(has) == _second_model(wanted)


_LOADED = ("embedder", META)


def _second_model(told: Mapping[str, Any]) -> tuple[Any, Any] | None:
    second = second_of(told)
    return None if second is None else (second.get("model"), second.get("dims"))


def building_actions(names: Names, number: int) -> list[dict[str, Any]]:
    """From this call on a generation is under construction, and written to by everybody."""
    return [
        {
            "add": {
                "index": names.concrete(family, number),
                "alias": names.building(family, number),
            }
        }
        for family in EVIDENCE_FAMILIES
    ]


def swap_actions(names: Names, now: Generations) -> list[dict[str, Any]]:
    """One ``_aliases`` call, all or nothing. It requires that the new generation is still under
    construction, so that it loses against a cancel that came first, and wins against a later one.
    """
    if now.next is None:
        raise ValueError("nothing is under construction")
    actions: list[dict[str, Any]] = []
    for family in EVIDENCE_FAMILIES:
        old, new, alias = now.live.indices[family], now.next.indices[family], names.alias(family)
        number = names.generation(family, new) or 0
        token = names.building(family, number)
        actions += [
            {"remove": {"index": old, "alias": alias, "must_exist": True}},
            {"add": {"index": new, "alias": alias}},
            {"remove": {"index": new, "alias": token, "must_exist": True}},
        ]
    return actions


def cancel_actions(names: Names, begun: Sequence[str]) -> list[dict[str, Any]]:
    """Takes the tokens of all indices under construction away; the counterpart of a swap."""
    actions = []
    for index in begun:
        family = names.family(index)
        number = names.generation(family, index) if family else None
        if family is not None and number is not None:
            token = names.building(family, number)
            actions.append({"remove": {"index": index, "alias": token, "must_exist": True}})
    return actions


def own_actions(names: Names, live: Generation) -> list[dict[str, Any]]:
    """Give the answering generation its own alias, where it has none yet."""
    return [
        {"add": {"index": index, "alias": names.own(family, names.generation(family, index) or 0)}}
        for family, index in live.indices.items()
        if live.addresses[family] == names.alias(family)
    ]


def unmark_actions(names: Names, live: Generation) -> list[dict[str, Any]]:
    """Take away what :func:`own_actions` gave; not from one that was built with it."""
    return [
        {"remove": {"index": live.indices[family], "alias": alias}}
        for family, alias in live.addresses.items()
        if alias != names.alias(family) and not live.replaces
    ]


def schema_of(live: Generation, settings: StoreSettings) -> Schema:
    """The schema that a generation was built with, for putting its templates back."""
    has = live.meta
    changed = {
        "vector_index": has.get("vector_index", settings.vector_index),
        "statement_version": live.statement_version,
        "language": has.get("language", settings.language),
    }
    return Schema(
        model=live.model,
        settings=settings.model_copy(update=changed),
        stemming=bool(has.get("stemming", True)),
        embedder=has.get("embedder"),
        second=second_encoder_of(has),
    )
