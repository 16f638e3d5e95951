"""What of ours stands on a cluster, and whether it fits what is asked. Only looks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch.errors import not_installed, translated
from resin_es.errors import IndexMismatch
from resin_es.index.names import ADDRESS_FAMILIES, FAMILIES, Names
from resin_es.index.settings import StoreSettings
from resin_es.index.templates import OWNER, SCHEMA_VERSION
from resin_es.model.base import Frozen
from resin_es.ports import ModelIdentity

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch


class InstalledIndex(Frozen):
    """A concrete index with one of our names. ``meta`` is what its mapping says it was built
    with, empty where it is not ours; ``live`` is whether the family's alias leads to it."""

    family: str
    name: str
    generation: int
    live: bool
    meta: Mapping[str, Any]

    @property
    def ours(self) -> bool:
        return self.meta.get("managed_by") == OWNER


def installed(client: Elasticsearch, names: Names) -> list[InstalledIndex]:
    """All indices whose name is exactly one of ours, by family and generation."""
    with translated("looking for the indices", client):
        told = client.indices.get(
            index=[names.pattern(family) for family in FAMILIES],
            expand_wildcards="all",
            features=["aliases", "mappings"],
        ).body
    found = []
    for name, body in told.items():
        for family in FAMILIES:
            generation = names.generation(family, name)
            if generation is not None:
                found.append(
                    InstalledIndex(
                        family=family,
                        name=name,
                        generation=generation,
                        live=names.alias(family) in body.get("aliases", {}),
                        meta=body.get("mappings", {}).get("_meta", {}).get("resin", {}),
                    )
                )
    return sorted(found, key=lambda one: (FAMILIES.index(one.family), one.generation))


def prefixes(client: Elasticsearch, root: str) -> list[str]:
    """Prefixes that are ``root`` or begin with ``root-`` and have a registry of ours, sorted.
    Raises StoreError."""
    tail = "-documents-v"
    with translated("looking for installed prefixes", client):
        told = client.indices.get_mapping(
            index=[f"{root}{tail}*", f"{root}-*{tail}*"],
            filter_path="*.mappings._meta",
            expand_wildcards="all",
        ).body
    found = set()
    for name, body in told.items():
        meta = body.get("mappings", {}).get("_meta", {}).get("resin", {})
        prefix = name.rpartition(tail)[0]
        if meta.get("managed_by") == OWNER and Names(prefix=prefix).family(name) == "documents":
            found.add(prefix)
    return sorted(found)


def refuse_mismatch(client: Elasticsearch, settings: StoreSettings, model: ModelIdentity) -> None:
    """Raises StoreNotInstalled, IndexMismatch, ClientTooNew, StoreRefused."""
    names = Names(prefix=settings.prefix)
    # No ignore_unavailable: it would turn "not allowed" into "not there".
    with translated("looking at the mappings", client):
        told = client.indices.get_mapping(
            index=names.aliases(),
            filter_path="*.mappings.dynamic,*.mappings._meta",
        ).body
    refuse(names, told, settings, model)


def refuse(
    names: Names,
    told: Mapping[str, Mapping[str, Any]],
    settings: StoreSettings,
    model: ModelIdentity,
) -> None:
    """Judge the indices behind the aliases, with their ``mappings._meta``. Raises
    StoreNotInstalled, IndexMismatch."""
    by_family: dict[str, list[tuple[str, Mapping[str, Any]]]] = {one: [] for one in FAMILIES}
    for index, body in told.items():
        family = names.family(index)
        meta = body.get("mappings", {}).get("_meta", {}).get("resin", {})
        if family is None or meta.get("managed_by") != OWNER:
            raise IndexMismatch(
                f"index {index!r} was not made by resin-es.", hint="Choose another RESIN_PREFIX."
            )
        by_family[family].append((index, meta))
    for family, indices in by_family.items():
        _one_index(names, family, [index for index, _ in indices])
        mismatch(family, indices[0][1], settings, model)


def _one_index(names: Names, family: str, indices: list[str]) -> None:
    if not indices:
        raise not_installed(f"alias {names.alias(family)!r} is missing")
    if len(indices) > 1:
        raise IndexMismatch(
            f"alias {names.alias(family)!r} leads to several indices: {', '.join(indices)}.",
            hint="Leave it on one.",
        )


def mismatch(
    family: str, meta: Mapping[str, Any], settings: StoreSettings, model: ModelIdentity
) -> None:
    """Raises IndexMismatch that names what the index has against what is asked."""
    if meta.get("schema") != SCHEMA_VERSION:
        raise IndexMismatch(
            f"the {family} index has schema {meta.get('schema')}, this version of resin-es needs "
            f"{SCHEMA_VERSION}.",
            hint="`resin-es rebuild` brings an older one up to date; a newer one needs a newer "
            "resin-es.",
        )
    if family not in ADDRESS_FAMILIES:
        return
    wanted = {
        "model": model.name,
        "dims": model.dims,
        "statement_version": settings.statement_version,
    }
    differing = [name for name, value in wanted.items() if meta.get(name) != value]
    if differing:
        has = ", ".join(f"{name.replace('_', ' ')} {meta.get(name)}" for name in differing)
        asked = ", ".join(f"{name.replace('_', ' ')} {wanted[name]}" for name in differing)
        raise IndexMismatch(
            f"the {family} index was built with {has}; asked for is {asked}.",
            hint="Use that model (RESIN_EMBEDDER, RESIN_EMBEDDER_MODEL), or have the index built "
            "anew for what you ask: `resin-es rebuild`.",
        )
