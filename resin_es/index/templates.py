"""Settings → template, index and role bodies. Pure; the mappings themselves are JSON files.

Elasticsearch merges component templates left to right, then the index template's own part. An
``--index-only`` install has no templates, so :func:`index_body` merges the same files itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resin_es import mappings
from resin_es.errors import SettingsError
from resin_es.index import multilingual, packed
from resin_es.index.multilingual import SecondEncoder
from resin_es.index.names import ADDRESS_FAMILIES, COMPONENTS, FAMILIES, Names
from resin_es.index.settings import StoreSettings
from resin_es.model.base import Frozen
from resin_es.ports import ModelIdentity

SCHEMA_VERSION = 2
"""Raised with every change of a mapping that old indices cannot follow. 2: every record carries
its document's title, which bridged hops search."""

OWNER = "resin-es"
PRIORITY = 500
"""Above Elasticsearch's built-in templates (100), which would otherwise win on a shared name."""

MIN_BBQ_DIMS = 64
MAX_DIMS = 4096
MAX_KEYWORD = 8191
"""Longest keyword in characters (``ignore_above``): 32,766 bytes hold that many in any script.
Longer document ids, sources and group names must be refused where they enter."""


class Schema(Frozen):
    """What decides the bodies. ``stemming`` is false where the cluster lacks the language's
    analyzer; text is then split, lower-cased and freed of the language's stop words.
    ``embedder`` says how the model is loaded, where that is known. ``second`` is the encoder of
    what is in another language, if there is one."""

    model: ModelIdentity
    settings: StoreSettings
    stemming: bool = True
    embedder: Mapping[str, Any] | None = None
    second: SecondEncoder | None = None

    def check(self) -> None:
        """Raises SettingsError where the vector type cannot hold a model's dims."""
        for model in (self.model, *([self.second.model] if self.second else [])):
            self._check(model)

    def _check(self, model: ModelIdentity) -> None:
        dims, kind = model.dims, self.settings.vector_index
        if not 1 <= dims <= MAX_DIMS:
            raise SettingsError(f"{dims} dims: Elasticsearch holds vectors of 1 to {MAX_DIMS}.")
        if kind.startswith("bbq") and dims < MIN_BBQ_DIMS:
            raise SettingsError(
                f"vector index {kind} needs at least {MIN_BBQ_DIMS} dims, {model.name} has {dims}.",
                hint="Choose int8_hnsw.",
            )
        if kind == "int4_hnsw" and dims % 2:
            raise SettingsError(f"vector index {kind} needs an even number of dims, not {dims}.")


def meta(schema: Schema, family: str) -> dict[str, Any]:
    """The ``_meta`` of an index: whose it is, and what it was built with."""
    settings = schema.settings
    told: dict[str, Any] = {"managed_by": OWNER, "family": family, "schema": SCHEMA_VERSION}
    if family in ADDRESS_FAMILIES:
        told |= {
            "model": schema.model.name,
            "dims": schema.model.dims,
            "vector_index": settings.vector_index,
            "statement_version": settings.statement_version,
            packed.FIELD: packed.VERSION,
        }
        if schema.embedder is not None:
            told["embedder"] = dict(schema.embedder)
        if schema.second is not None:
            told[multilingual.META] = schema.second.meta
    if "text" in mappings.load("index", family)["composed_of"]:
        told |= {"language": settings.language, "stemming": schema.stemming}
    return {"resin": told}


def analysis(settings: StoreSettings, stemming: bool) -> dict[str, Any]:
    """The analysis settings: ``resin_text`` by language, ``resin_lower`` as the file has it."""
    body: dict[str, Any] = mappings.load("component", "text")["settings"]["analysis"]
    if settings.language == "standard":
        body["analyzer"]["resin_text"] = {"type": "standard"}
    elif stemming:
        body["analyzer"]["resin_text"] = {"type": settings.language}
    else:
        body["filter"] = {"resin_stop": {"type": "stop", "stopwords": f"_{settings.language}_"}}
        body["analyzer"]["resin_text"] = {
            "type": "custom",
            "tokenizer": "standard",
            "filter": ["lowercase", "resin_stop"],
        }
    return body


def component(name: str, schema: Schema) -> dict[str, Any]:
    """The ``template`` part of one component template."""
    body = mappings.load("component", name)
    if name == "text":
        body["settings"]["analysis"] = analysis(schema.settings, schema.stemming)
    if name == "address":
        fields = body["mappings"]["properties"]
        models = {"vector": schema.model}
        if schema.second is not None:
            models[multilingual.FIELD] = schema.second.model
        else:
            del fields[multilingual.FIELD]
        for field, model in models.items():
            fields[field]["dims"] = model.dims
            fields[field]["index_options"] = {"type": schema.settings.vector_index}
    if name != "text":
        # A component template is checked by itself, so the analyzer it names must stand in it.
        _merge(body, component("text", schema))
    return body


def component_templates(names: Names, schema: Schema) -> dict[str, dict[str, Any]]:
    """Bodies of ``PUT _component_template/…``, by name."""
    return {
        names.component(name): {
            "template": component(name, schema),
            "version": SCHEMA_VERSION,
            "_meta": {"managed_by": OWNER},
        }
        for name in COMPONENTS
    }


def index_templates(names: Names, schema: Schema) -> dict[str, dict[str, Any]]:
    """Bodies of ``PUT _index_template/…``, by name. No aliases: every index that a template
    matches would join them, a second generation among them."""
    bodies = {}
    for family in FAMILIES:
        own = mappings.load("index", family)
        bodies[names.template(family)] = {
            "index_patterns": [names.pattern(family)],
            "composed_of": [names.component(name) for name in own["composed_of"]],
            "priority": PRIORITY,
            "version": SCHEMA_VERSION,
            "template": {"mappings": {**own["mappings"], "_meta": meta(schema, family)}},
            "_meta": {"managed_by": OWNER},
        }
    return bodies


def _merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def index_body(
    names: Names, family: str, schema: Schema, *, inline: bool, alias: bool = True
) -> dict[str, Any]:
    """Body of ``PUT /<concrete index>``. With ``inline`` it holds settings and mappings, as an
    install without templates needs; without, only the alias (the template has the rest)."""
    body: dict[str, Any] = {}
    if inline:
        own = mappings.load("index", family)
        for name in own["composed_of"]:
            _merge(body, component(name, schema))
        _merge(body, {"mappings": {**own["mappings"], "_meta": meta(schema, family)}})
    if alias:
        body["aliases"] = {names.alias(family): {}}
    return body


def role_body(names: Names, name: str) -> dict[str, Any]:
    """A role for this prefix's own names only: a wildcard over the prefix would also cover
    ``<prefix>-other-…``, which may be somebody else's."""
    body = mappings.load("roles", name)
    own = [one for family in FAMILIES for one in (names.alias(family), names.pattern(family))]
    for privileges in body["indices"]:
        privileges["names"] = own
    return body
