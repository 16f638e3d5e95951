"""Indices of a new generation made, templates put and put back, other mappings added to."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from resin_es import mappings
from resin_es.adapters.elasticsearch import templates as on_cluster
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.generations import look
from resin_es.errors import StoreRefused, StoreTimeout
from resin_es.index.generations import (
    Generation,
    Generations,
    building_actions,
    next_meta,
    schema_of,
)
from resin_es.index.names import EVIDENCE_FAMILIES, FAMILIES, Names
from resin_es.index.settings import StoreSettings
from resin_es.index.templates import OWNER, SCHEMA_VERSION, Schema, index_body

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch


def lay_out(client: Elasticsearch, names: Names, now: Generations, schema: Schema) -> None:
    """Make the indices of the next generation; only once all of them can be read and written do
    they get their tokens, in one call. Templates are put anew first, where any stand. Raises
    StoreError."""
    standing = templates_stand(client, names)
    if standing:
        on_cluster.put(client, names, schema)
    number = next_number(names, now)
    began = datetime.now(timezone.utc).isoformat(timespec="seconds")
    for family in EVIDENCE_FAMILIES:
        index = names.concrete(family, number)
        body = index_body(names, family, schema, inline=not standing, alias=False)
        body.setdefault("mappings", {})["_meta"] = next_meta(schema, family, now.live, began)
        body["aliases"] = {names.own(family, number): {}}
        with translated(f"creating index {index}", client):
            answer = client.indices.create(index=index, **body).body
        if not answer.get("shards_acknowledged"):
            raise StoreTimeout(f"index {index} did not start in time.", hint="Run it again.")
    with translated("opening the new indices", client):
        client.indices.update_aliases(actions=building_actions(names, number))


def next_number(names: Names, now: Generations) -> int:
    """Number of the generation to build: one above all that stand."""
    taken = (*now.live.indices.values(), *now.left)
    return 1 + max(names.generation(names.family(one) or "", one) or 0 for one in taken)


def put_templates_back(
    client: Elasticsearch, names: Names, live: Generation, settings: StoreSettings
) -> None:
    """The templates of the generation that answers, where any stand."""
    if templates_stand(client, names):
        on_cluster.put(client, names, schema_of(live, settings))


def templates_stand(client: Elasticsearch, names: Names) -> bool:
    """Whether templates of ours are to be kept up. Who may not look at any gets the mappings
    inline, as after ``install --index-only``."""
    try:
        return bool(on_cluster.standing(client, names))
    except StoreRefused:
        return False


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
