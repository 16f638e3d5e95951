"""Component and index templates on the cluster: put, list, delete; ours only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch.errors import translated
from resin_es.errors import StoreRefused, StoreRejected
from resin_es.index.names import COMPONENTS, FAMILIES, Names
from resin_es.index.templates import OWNER, Schema, component_templates, index_templates

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

OURS = {"managed_by": OWNER}

_HINT = "`resin-es install --index-only` needs no cluster privilege."


def has_analyzer(client: Elasticsearch, language: str) -> bool | None:
    """Whether the cluster has the language's analyzer; None where it won't be asked."""
    try:
        with translated("asking for the analyzer", client):
            client.indices.analyze(analyzer=language, text="x")
    except StoreRejected as error:
        return False if "analyzer" in error.message else None
    except StoreRefused:
        return None
    return True


def requests(names: Names, schema: Schema) -> dict[str, dict[str, Any]]:
    """Bodies of all template requests, by request line, in order."""
    parts = component_templates(names, schema)
    wholes = index_templates(names, schema)
    return {
        **{f"PUT /_component_template/{name}": body for name, body in parts.items()},
        **{f"PUT /_index_template/{name}": body for name, body in wholes.items()},
    }


def put(client: Elasticsearch, names: Names, schema: Schema) -> tuple[str, ...]:
    """Put all of them; returns their names. Raises StoreRejected before the first one if a
    template of that name is somebody else's, StoreRefused without the privilege."""
    try:
        parts, wholes = _standing(client, names)
        for kind, standing in (("component", parts), ("index", wholes)):
            for name, meta in standing.items():
                if meta.get("managed_by") != OWNER:
                    raise StoreRejected(
                        f"{kind} template {name!r} stands already and is not ours.",
                        hint="Choose another RESIN_PREFIX.",
                    )
        with translated("putting templates", client):
            for name, body in component_templates(names, schema).items():
                client.cluster.put_component_template(
                    name=name,
                    template=body["template"],
                    version=body["version"],
                    meta=body["_meta"],
                )
            for name, body in index_templates(names, schema).items():
                client.indices.put_index_template(
                    name=name, **{**_without(body, "_meta"), "meta": body["_meta"]}
                )
    except StoreRefused as error:
        raise StoreRefused(error.message, hint=_HINT) from error
    return (*component_templates(names, schema), *index_templates(names, schema))


def _without(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


def standing(client: Elasticsearch, names: Names) -> tuple[str, ...]:
    """Names of our templates that stand."""
    parts, wholes = _standing(client, names)
    return tuple(n for n, meta in {**parts, **wholes}.items() if meta.get("managed_by") == OWNER)


Metas = dict[str, Mapping[str, Any]]


def _standing(client: Elasticsearch, names: Names) -> tuple[Metas, Metas]:
    """Component and index templates with exactly our names, each with its ``_meta``. Asked for
    by wildcard, since a name that is missing would be an error; then matched exactly."""
    wanted_parts = {names.component(name) for name in COMPONENTS}
    wanted_wholes = {names.template(family) for family in FAMILIES}
    with translated("looking for templates", client):
        lenient = client.options(ignore_status=404)  # no match is a 404 for some versions
        parts = lenient.cluster.get_component_template(name=f"{names.prefix}-*").body
        wholes = lenient.indices.get_index_template(name=f"{names.prefix}-*").body
    return (
        {
            one["name"]: one["component_template"].get("_meta") or {}
            for one in parts.get("component_templates", ())
            if one["name"] in wanted_parts
        },
        {
            one["name"]: one["index_template"].get("_meta") or {}
            for one in wholes.get("index_templates", ())
            if one["name"] in wanted_wholes
        },
    )


def delete(client: Elasticsearch, names: Names) -> tuple[tuple[str, ...], list[str]]:
    """Delete ours; returns their names, and those that stay because they are not ours."""
    parts, wholes = _standing(client, names)
    gone: list[str] = []
    kept: list[str] = []
    with translated("deleting templates", client):
        for name, meta in wholes.items():
            if meta.get("managed_by") != OWNER:
                kept.append(f"index template {name}")
                continue
            client.options(ignore_status=404).indices.delete_index_template(name=name)
            gone.append(name)
        for name, meta in parts.items():
            if meta.get("managed_by") != OWNER:
                kept.append(f"component template {name}")
                continue
            client.options(ignore_status=404).cluster.delete_component_template(name=name)
            gone.append(name)
    return tuple(gone), kept
