"""Install, uninstall and doctor on a real Elasticsearch."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from resin_es.adapters.elasticsearch import (
    Check,
    ElasticsearchStore,
    doctor,
    install,
    status,
    uninstall,
)
from resin_es.errors import IndexMismatch, StoreRejected
from resin_es.index.filters import address_filter
from resin_es.index.names import COMPONENTS, FAMILIES, Names
from resin_es.index.settings import StoreSettings
from resin_es.index.templates import Schema, index_body
from resin_es.model import Principal
from resin_es.ports import ModelIdentity
from resin_es.testing.records import DIMS, sample
from resin_es.testing.store_contract_reads import found, store_samples

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

MODEL = ModelIdentity(name="fake", dims=DIMS)


def standing(es: Elasticsearch, prefix: str) -> set[str]:
    """Every index and template whose name starts so."""
    lenient = es.options(ignore_status=404)
    templates = lenient.indices.get_index_template(name=f"{prefix}*").body
    parts = lenient.cluster.get_component_template(name=f"{prefix}*").body
    return {
        *es.indices.get(index=f"{prefix}*"),
        *(one["name"] for one in templates.get("index_templates", ())),
        *(one["name"] for one in parts.get("component_templates", ())),
    }


def mapping(es: Elasticsearch, index: str) -> object:
    body = next(iter(es.indices.get_mapping(index=index).body.values()))
    return body["mappings"]


def by_name(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}


@pytest.fixture(scope="module")
def whole(es: Elasticsearch) -> Iterator[StoreSettings]:
    """A full install that the tests below only look at: laying out nine indices takes longer
    than looking at them. Its end is a test of uninstall."""
    settings = StoreSettings(prefix=f"t-{uuid.uuid4().hex[:10]}")
    bare = by_name(doctor(es, settings, MODEL))
    assert bare["indices"].ok is False
    assert "resin-es install" in bare["indices"].hint
    assert "model" not in bare
    dry = install(es, settings, MODEL, dry_run=True)
    assert standing(es, settings.prefix) == set()
    report = install(es, settings, MODEL)
    lines = {
        *(f"PUT /{name}" for name in report.created),
        *(f"PUT /_component_template/{settings.prefix}-schema-{name}" for name in COMPONENTS),
        *(f"PUT /_index_template/{settings.prefix}-{family}" for family in FAMILIES),
    }
    assert set(dry.bodies) == lines
    yield settings
    gone = uninstall(es, settings)
    assert gone.indices == report.created
    assert set(gone.templates) == set(report.templates)
    assert gone.kept == ()
    assert standing(es, settings.prefix) == set()
    assert uninstall(es, settings).indices == ()


def test_installing_again_makes_nothing(es: Elasticsearch, whole: StoreSettings) -> None:
    names = Names(prefix=whole.prefix)
    ElasticsearchStore(es, whole).check(MODEL)
    before = standing(es, whole.prefix)
    again = install(es, whole, MODEL)
    assert again.created == ()
    assert again.existing == tuple(names.concrete(family, 1) for family in FAMILIES)
    assert len(again.templates) == len(FAMILIES) + len(COMPONENTS)
    assert standing(es, whole.prefix) == before
    rows = status(es, whole)
    assert [(row.family, row.records) for row in rows] == [(family, 0) for family in FAMILIES]


@pytest.mark.parametrize("index_only", [False, True])
def test_another_model_is_refused_before_anything_changes(
    es: Elasticsearch, whole: StoreSettings, index_only: bool
) -> None:
    before = standing(es, whole.prefix)
    with pytest.raises(IndexMismatch, match="model fake, dims 4; asked for is model big, dims 8"):
        install(es, whole, ModelIdentity(name="big", dims=8), index_only=index_only)
    assert standing(es, whole.prefix) == before


def test_doctor_on_an_installed_prefix(es: Elasticsearch, whole: StoreSettings) -> None:
    extra = Check(name="redis", ok=None, detail="not set")
    rows = doctor(es, whole, MODEL, extra=[extra])
    assert rows[-1] == extra
    checks = by_name(rows)
    assert not [check for check in rows if check.ok is False]
    for name in ("reachable", "version", "client", "templates", "indices", "schema", "model"):
        assert checks[name].ok is True, checks[name]
    assert checks["vectors"].detail == "int8_hnsw, 4 dims, cosine"
    other = by_name(doctor(es, whole, ModelIdentity(name="other", dims=DIMS)))
    assert other["model"].ok is False
    assert "fake" in other["model"].detail
    flat = whole.model_copy(update={"vector_index": "flat"})
    assert by_name(doctor(es, flat, MODEL))["vectors"].ok is None


def test_without_templates_the_mappings_come_out_the_same(
    es: Elasticsearch, whole: StoreSettings, prefix: str
) -> None:
    bare = StoreSettings(prefix=prefix)
    report = install(es, bare, MODEL, index_only=True)
    assert report.templates == ()
    assert standing(es, bare.prefix) == set(report.created)
    for family in FAMILIES:
        assert mapping(es, f"{whole.prefix}-{family}") == mapping(es, f"{bare.prefix}-{family}")
    store = ElasticsearchStore(es, bare)
    store.check(MODEL)
    store_samples(store, sample("d1"))
    assert found(store, 0, address_filter(Principal())) == {"d1"}


def test_uninstall_leaves_other_prefixes_and_strangers_alone(
    es: Elasticsearch, prefix: str
) -> None:
    strangers = {f"{prefix}-units-v7", f"{prefix}-notes"}
    for name in strangers:
        es.indices.create(index=name)
    mine, other = StoreSettings(prefix=prefix), StoreSettings(prefix=f"{prefix}-other")
    report = install(es, mine, MODEL, index_only=True)
    assert f"{prefix}-units-v8" in report.created
    theirs = install(es, other, MODEL, index_only=True)
    gone = uninstall(es, mine)
    assert gone.indices == report.created
    assert gone.kept == (f"{prefix}-units-v7",)
    assert standing(es, prefix) == {*strangers, *theirs.created}
    ElasticsearchStore(es, other).check(MODEL)


def test_what_is_missing_is_made_again_and_no_generation_joins_by_itself(
    es: Elasticsearch, prefix: str
) -> None:
    settings = StoreSettings(prefix=prefix)
    install(es, settings, MODEL)
    es.indices.delete(index=f"{prefix}-cache-v1")
    assert by_name(doctor(es, settings, MODEL))["indices"].ok is False
    assert install(es, settings, MODEL).created == (f"{prefix}-cache-v1",)
    es.indices.create(index=f"{prefix}-units-v2")
    assert list(es.indices.get_alias(name=f"{prefix}-units")) == [f"{prefix}-units-v1"]
    assert by_name(doctor(es, settings, MODEL))["indices"].ok is True


def test_an_index_where_the_alias_should_be(es: Elasticsearch, prefix: str) -> None:
    es.indices.create(index=f"{prefix}-units")
    with pytest.raises(StoreRejected, match=f"{prefix}-units"):
        install(es, StoreSettings(prefix=prefix), MODEL, index_only=True)


def test_a_template_with_our_name_that_is_not_ours_is_refused_and_stays(
    es: Elasticsearch, prefix: str
) -> None:
    es.indices.put_index_template(name=f"{prefix}-units", index_patterns=[f"{prefix}-zzz*"])
    with pytest.raises(StoreRejected, match="is not ours"):
        install(es, StoreSettings(prefix=prefix), MODEL)
    assert standing(es, prefix) == {f"{prefix}-units"}
    assert uninstall(es, StoreSettings(prefix=prefix)).kept == (f"index template {prefix}-units",)
    assert standing(es, prefix) == {f"{prefix}-units"}


@pytest.mark.parametrize("kind", ["hnsw", "int4_hnsw", "flat", "int8_flat", "bbq_hnsw", "bbq_flat"])
def test_every_vector_type_is_taken(es: Elasticsearch, prefix: str, kind: str) -> None:
    settings = StoreSettings.model_validate({"prefix": prefix, "vector_index": kind})
    schema = Schema(model=ModelIdentity(name="m", dims=64), settings=settings, stemming=False)
    body = index_body(Names(prefix=prefix), "units", schema, inline=True)
    es.indices.create(index=f"{prefix}-units-v1", **body)


def test_doctor_without_a_server(prefix: str) -> None:
    from elasticsearch import Elasticsearch

    client = Elasticsearch("http://127.0.0.1:9", max_retries=0)
    (row,) = doctor(client, StoreSettings(prefix=prefix), MODEL)
    assert (row.name, row.ok) == ("reachable", False)
