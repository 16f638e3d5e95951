"""Indices of a new generation made, templates put and put back, other mappings added to."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from resin_es import mappings
from resin_es.adapters.elasticsearch import templates as on_cluster
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.generations import look
from resin_es.errors import StoreRejected
from resin_es.index.generations import Generation, Generations, next_meta, schema_of
from resin_es.index.names import EVIDENCE_FAMILIES, FAMILIES, Names
from resin_es.index.settings import StoreSettings
from resin_es.index.templates import OWNER, SCHEMA_VERSION, Schema, index_body

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch


def lay_out(client: Elasticsearch, names: Names, now: Generations, schema: Schema) -> None:
    """Make the indices of the next generation, each with its token from the start; those that
    stand already are left. Templates are put anew first, where any stand. Raises StoreError."""
    standing = bool(on_cluster.standing(client, names))
    if standing:
        on_cluster.put(client, names, schema)
    number = next_number(names, now)
    began = datetime.now(timezone.utc).isoformat(timespec="seconds")
    for family in EVIDENCE_FAMILIES:
        index = names.concrete(family, number)
        if index in now.begun:
            continue
        body = index_body(names, family, schema, inline=not standing, alias=False)
        told = next_meta(schema, family, now.live, began)
        body.setdefault("mappings", {})["_meta"] = told
        body["aliases"] = {names.own(family, number): {}, names.building(family, number): {}}
        try:
            with translated(f"creating index {index}", client):
                client.indices.create(index=index, **body)
        except StoreRejected as error:  # somebody else may be at it
            if "already exists" not in error.message:
                raise


def next_number(names: Names, now: Generations) -> int:
    """Number of the generation to build: that of what is begun, else one that was never used."""
    taken = now.begun or (*now.live.indices.values(), *now.left)
    highest = max(names.generation(names.family(one) or "", one) or 0 for one in taken)
    return highest if now.begun else highest + 1


def put_templates_back(
    client: Elasticsearch, names: Names, live: Generation, settings: StoreSettings
) -> None:
    """The templates of the generation that answers, where any stand."""
    if on_cluster.standing(client, names):
        on_cluster.put(client, names, schema_of(live, settings))


def bring_up_others(client: Elasticsearch, names: Names) -> None:
    """The families that are not rebuilt, where an older schema made them: their mappings change
    by addition only. Raises StoreRejected where that does not do."""
    for name, body in look(client, names, FAMILIES).items():
        family = names.family(name)
        has = body.get("mappings", {}).get("_meta", {}).get("resin", {})
        if family in EVIDENCE_FAMILIES or family is None or has.get("managed_by") != OWNER:
            continue
        if has.get("schema") == SCHEMA_VERSION:
            continue
        added = mappings.load("index", family)["mappings"]
        with translated(f"bringing {name} up to date", client):
            client.indices.put_mapping(
                index=name,
                properties=added.get("properties", {}),
                meta={"resin": {**has, "schema": SCHEMA_VERSION}},
            )
