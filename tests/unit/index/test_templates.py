"""Bodies made of the JSON files, and the JSON files against the model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, get_args

import pytest

from resin_es import mappings
from resin_es.errors import SettingsError
from resin_es.index.multilingual import SecondEncoder
from resin_es.index.names import ADDRESS_FAMILIES, COMPONENTS, FAMILIES, Names
from resin_es.index.records import MAX_DEPTH, MAX_FILTERABLE, entry_record, passage_record
from resin_es.index.records import sentence_record as make_sentence
from resin_es.index.records import unit_record as make_unit
from resin_es.index.settings import Language, StoreSettings, VectorIndex
from resin_es.index.templates import (
    MAX_KEYWORD,
    Schema,
    component_templates,
    index_body,
    index_templates,
    role_body,
)
from resin_es.model import (
    CausalEdge,
    Claim,
    Passage,
    RegistryEntry,
    Rule,
    Sentence,
    StageError,
    Trace,
    Unit,
)
from resin_es.ports import ModelIdentity
from resin_es.testing.records import sample, vector

NAMES = Names(prefix="resin")
SCHEMA = Schema(model=ModelIdentity(name="mini", dims=384), settings=StoreSettings())


def properties(family: str) -> dict[str, Any]:
    body = index_body(NAMES, family, SCHEMA, inline=True)
    found: dict[str, Any] = body["mappings"]["properties"]
    return found


# ---------------------------------------------------------------- mapping against model


CLAIMS = get_args(get_args(Claim)[0])
OWNER = {"document_key", "document_id", "source", "title", "access", "metadata", "updated_at"}


def test_every_field_of_a_unit_has_its_mapping_and_the_other_way_round() -> None:
    claim_fields = {name for kind in CLAIMS for name in kind.model_fields}
    unit_fields = set(Unit.model_fields) - {"id", "claim"}
    assert set(properties("units")) == claim_fields | unit_fields | OWNER | {"vector", "packed"}
    reader = Unit.model_fields["reader"].annotation
    assert reader is not None
    assert set(properties("units")["reader"]["properties"]) == set(reader.model_fields)


def test_every_field_of_a_sentence() -> None:
    # `text` is the statement; spans stand in what every commit rewrites, so not here.
    kept = set(Sentence.model_fields) - {"id", "text", "start", "end"}
    address = {"kind", "statement", "passage_id", "sentence_ids", "vector", "packed"}
    assert set(properties("sentences")) == kept | address | OWNER


def test_every_field_of_a_passage() -> None:
    assert set(properties("passages")) == set(Passage.model_fields) - {"id"} | OWNER


def test_every_field_of_a_registry_entry() -> None:
    kept = set(RegistryEntry.model_fields) - {"external_id"}
    extra = {"document_id", "metadata_keys", "metadata_full"}
    assert set(properties("documents")) == kept | extra
    error = properties("documents")["error"]["properties"]
    assert set(error) == set(StageError.model_fields)


def test_every_field_of_a_trace() -> None:
    assert set(properties("traces")) == set(Trace.model_fields)


def undeclared(record: Mapping[str, Any], declared: Mapping[str, Any]) -> set[str]:
    """Dotted names of ``record`` that strict mappings would reject."""
    found = set()
    for name, value in record.items():
        mapping = declared.get(name)
        if mapping is None:
            found.add(name)
        elif isinstance(value, Mapping) and "properties" in mapping:
            found |= {f"{name}.{inner}" for inner in undeclared(value, mapping["properties"])}
    return found


def test_the_records_fit_their_mappings() -> None:
    one = sample(metadata={"a": 1})
    claims: list[Any] = [
        one.unit.claim,
        CausalEdge(subject="s", source_state="a", target_state="b", scope="c", aliases=("x",)),
        Rule(subject="s", conditions=("a",), conclusion="b", entity_type="t"),
    ]
    for claim in claims:
        unit = one.unit.model_copy(update={"claim": claim})
        body = make_unit(unit, one.entry, vector(0)).body
        assert undeclared(body, properties("units")) == set()
    sentence = make_sentence(one.sentences[0], one.passage, one.entry, vector(0)).body
    assert undeclared(sentence, properties("sentences")) == set()
    assert undeclared(passage_record(one.passage, one.entry).body, properties("passages")) == set()
    failed = one.entry.model_copy(
        update={
            "error": StageError(stage="a", type="b", message="c"),
            "heartbeat": datetime.now(timezone.utc),
        }
    )
    assert undeclared(entry_record(failed), properties("documents")) == set()


# ---------------------------------------------------------------- what every mapping keeps to


def leaves(properties: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for mapping in properties.values():
        found += leaves(mapping["properties"]) if "properties" in mapping else [mapping]
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_strict_and_safe_from_long_values(family: str) -> None:
    body = index_body(NAMES, family, SCHEMA, inline=True)
    assert body["mappings"]["dynamic"] == "strict"
    for mapping in leaves(body["mappings"]["properties"]):
        if mapping["type"] == "keyword" and mapping.get("index", True):
            assert mapping["ignore_above"] == MAX_KEYWORD
        if mapping["type"] == "flattened":
            assert mapping["ignore_above"] == MAX_FILTERABLE
            assert mapping["depth_limit"] == MAX_DEPTH


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_that_serverless_refuses(family: str) -> None:
    body = index_body(NAMES, family, SCHEMA, inline=True)
    assert set(body.get("settings", {})) <= {"analysis"}


def test_entities_are_exact_without_case_and_searchable_by_word() -> None:
    for name in ("subject", "aliases", "object", "entity_type"):
        mapping = properties("units")[name]
        assert mapping["normalizer"] == "resin_lower"
        assert mapping["fields"]["text"] == {"type": "text", "analyzer": "resin_text"}


def test_every_record_carries_its_document_title_as_text_for_bridged_hops() -> None:
    text = {"type": "text", "analyzer": "resin_text"}
    assert properties("passages")["title"] == text
    for family in ("units", "sentences"):
        exact = {"exact": {"type": "keyword", "index": False, "ignore_above": 8191}}
        assert properties(family)["title"] == {**text, "fields": exact}


def test_units_and_sentences_share_what_a_search_over_both_needs() -> None:
    units, sentences = properties("units"), properties("sentences")
    assert {name: units[name] for name in sentences} == sentences


# ---------------------------------------------------------------- bodies


def test_the_vector_field() -> None:
    settings = StoreSettings(vector_index="bbq_hnsw")
    schema = SCHEMA.model_copy(update={"settings": settings})
    for family in ("units", "sentences"):
        body = index_body(NAMES, family, schema, inline=True)
        assert body["mappings"]["properties"]["vector"] == {
            "type": "dense_vector",
            "dims": 384,
            "index": True,
            "similarity": "cosine",
            "index_options": {"type": "bbq_hnsw"},
        }


SECOND = SecondEncoder(model=ModelIdentity(name="many", dims=32), embedder={"kind": "k"})


def test_the_second_vector_field_stands_only_where_there_is_an_encoder() -> None:
    settings = StoreSettings(vector_index="int8_flat")
    without = SCHEMA.model_copy(update={"settings": settings})
    schema = without.model_copy(update={"second": SECOND})
    for family in FAMILIES:
        plain, body = (index_body(NAMES, family, one, inline=True) for one in (without, schema))
        assert "multilingual" not in json.dumps(plain)
        if family in ADDRESS_FAMILIES:
            assert body["mappings"]["properties"].pop("multilingual_vector") == {
                "type": "dense_vector",
                "dims": 32,
                "index": True,
                "similarity": "cosine",
                "index_options": {"type": "int8_flat"},
            }
            assert body["mappings"]["_meta"]["resin"].pop("multilingual") == {
                "model": "many",
                "dims": 32,
                "embedder": {"kind": "k"},
            }
        assert body == plain, "nothing else changes"


def test_templates_have_the_second_vector_field_as_inline_mappings_do() -> None:
    schema = SCHEMA.model_copy(update={"second": SECOND})
    for family in FAMILIES:
        template = index_templates(NAMES, schema)[NAMES.template(family)]
        parts = component_templates(NAMES, schema)
        composed = merged(
            *(parts[name]["template"] for name in template["composed_of"]), template["template"]
        )
        assert composed == index_body(NAMES, family, schema, inline=True, alias=False)


@pytest.mark.parametrize(
    ("kind", "dims"), [("bbq_hnsw", 32), ("int4_hnsw", 7), ("flat", 5000), ("flat", 0)]
)
def test_a_vector_type_that_cannot_hold_the_second_is_refused(kind: Any, dims: int) -> None:
    second = SecondEncoder(model=ModelIdentity(name="many", dims=dims), embedder={})
    settings = StoreSettings(vector_index=kind)
    schema = SCHEMA.model_copy(update={"settings": settings})
    schema.check()
    with pytest.raises(SettingsError, match=str(dims)):
        schema.model_copy(update={"second": second}).check()


@pytest.mark.parametrize("kind", get_args(VectorIndex))
def test_vector_types_that_fit(kind: Any) -> None:
    SCHEMA.model_copy(update={"settings": StoreSettings(vector_index=kind)}).check()


@pytest.mark.parametrize(
    ("kind", "dims"), [("bbq_hnsw", 32), ("bbq_flat", 63), ("int4_hnsw", 7), ("flat", 5000)]
)
def test_vector_types_that_do_not_fit(kind: Any, dims: int) -> None:
    schema = Schema(
        model=ModelIdentity(name="m", dims=dims), settings=StoreSettings(vector_index=kind)
    )
    with pytest.raises(SettingsError, match=str(dims)):
        schema.check()


def analyzer(language: Any, stemming: bool) -> dict[str, Any]:
    schema = SCHEMA.model_copy(
        update={"settings": StoreSettings(language=language), "stemming": stemming}
    )
    body = index_body(NAMES, "units", schema, inline=True)
    found: dict[str, Any] = body["settings"]["analysis"]
    return found


def test_the_analyzer_by_language_and_cluster() -> None:
    normalizer = {"resin_lower": {"type": "custom", "filter": ["lowercase"]}}
    assert analyzer("english", True) == {
        "analyzer": {"resin_text": {"type": "english"}},
        "normalizer": normalizer,
    }
    assert analyzer("german", False) == {
        "analyzer": {
            "resin_text": {
                "type": "custom",
                "tokenizer": "standard",
                "filter": ["lowercase", "resin_stop"],
            }
        },
        "filter": {"resin_stop": {"type": "stop", "stopwords": "_german_"}},
        "normalizer": normalizer,
    }
    assert analyzer("standard", False)["analyzer"] == {"resin_text": {"type": "standard"}}
    assert "standard" in get_args(Language)


def test_meta_tells_what_the_index_was_built_with() -> None:
    body = index_body(NAMES, "units", SCHEMA, inline=True)
    assert body["mappings"]["_meta"]["resin"] == {
        "managed_by": "resin-es",
        "family": "units",
        "schema": 2,
        "model": "mini",
        "dims": 384,
        "vector_index": "int8_hnsw",
        "statement_version": StoreSettings().statement_version,
        "packed": 1,
        "language": "english",
        "stemming": True,
    }
    cache = index_body(NAMES, "cache", SCHEMA, inline=True)["mappings"]["_meta"]["resin"]
    assert cache == {"managed_by": "resin-es", "family": "cache", "schema": 2}


def test_templates_never_carry_aliases_and_match_their_own_generations_only() -> None:
    bodies = index_templates(NAMES, SCHEMA)
    assert list(bodies) == [f"resin-{family}" for family in FAMILIES]
    for name, body in bodies.items():
        assert body["index_patterns"] == [f"{name}-v*"]
        assert "aliases" not in body["template"]
        assert body["_meta"] == {"managed_by": "resin-es"}
    parts = component_templates(NAMES, SCHEMA)
    used = {one for body in bodies.values() for one in body["composed_of"]}
    assert used == set(parts) == {f"resin-schema-{name}" for name in COMPONENTS}
    assert all("aliases" not in body["template"] for body in parts.values())


def test_an_index_behind_a_template_brings_its_alias_alone() -> None:
    assert index_body(NAMES, "units", SCHEMA, inline=False) == {"aliases": {"resin-units": {}}}
    assert index_body(NAMES, "units", SCHEMA, inline=False, alias=False) == {}


def merged(*bodies: Mapping[str, Any]) -> dict[str, Any]:
    """As Elasticsearch composes an index template: later ones win."""
    found: dict[str, Any] = {}
    for body in bodies:
        for name, value in body.items():
            old = found.get(name)
            both = isinstance(old, dict) and isinstance(value, Mapping)
            found[name] = merged(old, value) if both and isinstance(old, dict) else value
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_inline_and_composed_come_to_the_same(family: str) -> None:
    template = index_templates(NAMES, SCHEMA)[NAMES.template(family)]
    parts = component_templates(NAMES, SCHEMA)
    composed = merged(
        *(parts[name]["template"] for name in template["composed_of"]), template["template"]
    )
    assert composed == index_body(NAMES, family, SCHEMA, inline=True, alias=False)


def test_bodies_are_json_and_independent_of_each_other() -> None:
    before = json.dumps(index_templates(NAMES, SCHEMA), sort_keys=True)
    index_body(NAMES, "units", SCHEMA, inline=True)["mappings"]["properties"].clear()
    assert json.dumps(index_templates(NAMES, SCHEMA), sort_keys=True) == before


def test_the_run_time_role_asks_for_the_least_and_for_this_prefix_alone() -> None:
    body = role_body(NAMES, "runtime")
    assert body["cluster"] == []
    (privileges,) = body["indices"]
    assert privileges["privileges"] == ["read", "write", "view_index_metadata", "maintenance"]
    assert "resin-units" in privileges["names"]
    assert "resin-units-v*" in privileges["names"]
    assert len(privileges["names"]) == 2 * len(FAMILIES)
    assert not any(name.startswith("resin-*") for name in privileges["names"])


def test_roles() -> None:
    assert mappings.names("roles") == ("index-only", "install", "runtime")
    assert role_body(NAMES, "index-only")["cluster"] == []
    assert "manage" in role_body(NAMES, "index-only")["indices"][0]["privileges"]
    assert "manage_index_templates" in role_body(NAMES, "install")["cluster"]


def test_every_file_is_used() -> None:
    assert set(mappings.names("index")) == set(FAMILIES)
    assert set(mappings.names("component")) == set(COMPONENTS)
