"""The printed roles are enough, and no more than that, on a node with security."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from resin_es.adapters.elasticsearch import (
    ConnectionOptions,
    ElasticsearchStore,
    connect,
    doctor,
    install,
    role,
    uninstall,
)
from resin_es.adapters.elasticsearch.rebuild import Rebuild
from resin_es.errors import LocalNodeError, StoreRefused
from resin_es.index.embedders import EmbedderBook
from resin_es.index.filters import address_filter
from resin_es.index.records import rights_fields
from resin_es.index.settings import StoreSettings
from resin_es.model import Principal
from resin_es.ports import ModelIdentity
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.records import DIMS, entry, sample
from resin_es.testing.store_contract_reads import found, store_samples

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

    from resin_es.testing.nodes import TemporaryNode

MODEL = ModelIdentity(name="fake", dims=DIMS)
SETTINGS = StoreSettings(prefix="role")
OTHER = StoreSettings(prefix="role-other")
INLINE = StoreSettings(prefix="inline")
PASSWORD = "only-for-this-node-1"


@pytest.fixture(scope="module")
def node() -> Iterator[TemporaryNode]:
    from resin_es.local.settings import LocalUser
    from resin_es.testing.nodes import temporary_node

    roles = {
        "runtime": role(SETTINGS),
        "index-only": role(INLINE, "index-only"),
        "install": role(SETTINGS, "install"),
    }
    users = [LocalUser(name=name, password=PASSWORD, roles=(name,)) for name in roles]
    users.append(LocalUser(name="nobody", password=PASSWORD, roles=("none",)))
    try:
        with temporary_node(
            version=os.environ.get("RESIN_TEST_ES_VERSION"),
            security=True,
            users=users,
            roles={**roles, "none": {"cluster": [], "indices": []}},
        ) as node:
            yield node
    except LocalNodeError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"needs a node with security: {error}")


def as_user(node: TemporaryNode, name: str, password: str = PASSWORD) -> Elasticsearch:
    return connect(ConnectionOptions(url=node.url, basic_auth=(name, SecretStr(password))))


@pytest.fixture(scope="module")
def laid_out(node: TemporaryNode) -> TemporaryNode:
    """Installed by the install role, which needs no more; another prefix by an admin."""
    install(as_user(node, "install"), SETTINGS, MODEL)
    assert node.admin is not None
    install(as_user(node, *node.admin), OTHER, MODEL, index_only=True)
    return node


def test_run_time_can_do_all_that_run_time_does(laid_out: TemporaryNode) -> None:
    client = as_user(laid_out, "runtime")
    store = ElasticsearchStore(client, SETTINGS)
    store.check(MODEL)
    one = sample("d1", access=("red",))
    store_samples(store, one)
    assert store.entries([one.entry.key])
    assert [stored.entry.key for stored in store.scan_entries("files")] == [one.entry.key]
    new = one.entry.model_copy(update={"access": ("*",)})
    assert store.update_rights([new.key], {new.key: rights_fields(new)}).written == 4
    assert found(store, 0, address_filter(Principal())) == {"d1"}
    assert store.fetch([one.passage.id], [one.entry.key]).passages
    assert store.kind_counts(Principal(), ()) == {"entity-fact": 1, "sentence": 2}
    assert [c.documents for c in store.coverage(Principal(admin=True), ())] == [1]
    store.cache_put({"k": b"v"})
    assert store.cache_get(["k"]) == {"k": b"v"}
    assert store.purge(store.records([one.entry.key])) == 4


def test_run_time_can_do_no_more(laid_out: TemporaryNode) -> None:
    client = as_user(laid_out, "runtime")
    with pytest.raises(StoreRefused):
        ElasticsearchStore(client, OTHER).check(MODEL)
    with pytest.raises(StoreRefused):
        ElasticsearchStore(client, OTHER).entries([entry().key])
    with pytest.raises(StoreRefused):
        ElasticsearchStore(client, OTHER).put_entry(entry(), None)
    with pytest.raises(StoreRefused):
        ElasticsearchStore(client, OTHER).write(sample().addresses, [])
    with pytest.raises(StoreRefused):
        ElasticsearchStore(client, OTHER).search([{"query": {"match_all": {}}}], None)
    with pytest.raises(StoreRefused):
        install(client, SETTINGS, MODEL)
    with pytest.raises(StoreRefused):
        uninstall(client, SETTINGS)
    ElasticsearchStore(client, SETTINGS).check(MODEL)


def test_doctor_of_run_time_finds_nothing_wrong(laid_out: TemporaryNode) -> None:
    checks = {row.name: row for row in doctor(as_user(laid_out, "runtime"), SETTINGS, MODEL)}
    assert not [row for row in checks.values() if row.ok is False]
    assert checks["templates"].ok is None
    assert checks["templates"].detail == "not allowed to look"
    for name in ("reachable", "indices", "schema", "model"):
        assert checks[name].ok is True, checks[name]


def test_an_install_without_cluster_privileges(node: TemporaryNode) -> None:
    client = as_user(node, "index-only")
    with pytest.raises(StoreRefused, match="--index-only"):
        install(client, INLINE, MODEL)
    report = install(client, INLINE, MODEL, index_only=True)
    assert len(report.created) == 9
    store = ElasticsearchStore(client, INLINE)
    store_samples(store, sample("d1"))
    assert found(store, 0, address_filter(Principal())) == {"d1"}
    book = EmbedderBook(lambda: HashEmbedder(8), lambda spec: HashEmbedder(8))
    assert Rebuild(client, INLINE, book, {}).run().records["units"] == 1
    assert len(uninstall(client, INLINE).indices) == 9


class Fake(HashEmbedder):
    """Calls itself the model that the indices here were made for."""

    def __init__(self) -> None:
        super().__init__(DIMS)
        self._identity = MODEL


def test_who_installs_may_rebuild_and_run_time_goes_on(laid_out: TemporaryNode) -> None:
    fake, new = Fake(), HashEmbedder(8)
    models = {"fake": fake, "new": new}
    book = EmbedderBook(lambda: fake, lambda spec: models[spec["name"]])
    running = ElasticsearchStore(as_user(laid_out, "runtime"), SETTINGS, book)
    operator = as_user(laid_out, "install")
    store_samples(running, sample("before"))
    for model, name in ((new, "new"), (fake, "fake")):
        own = EmbedderBook(partial(models.__getitem__, name), lambda spec: models[spec["name"]])
        rebuild = Rebuild(operator, SETTINGS, own, {"name": name})
        now = rebuild.begin()
        one = sample(f"during-{name}", access=("red",))
        store_samples(running, one)
        open_to_all = one.entry.model_copy(update={"access": ("*",)})
        running.update_rights([one.entry.key], {one.entry.key: rights_fields(open_to_all)})
        assert running.purge(list(running.records([sample("before").entry.key]))[:0]) == 0
        rebuild.catch_up(now)
        rebuild.swap(now)
        pinned, held = running.pinned(fake)
        assert held is model
        assert pinned.search([{"query": {"match_all": {}}}], None)[0][0].hits
        assert rebuild.finish()
        refs = list(running.records([one.entry.key]))
        assert len(refs) == 4
        assert running.purge(refs) == 4
    keys = [sample(n).entry.key for n in ("before", "during-new", "during-fake")]
    assert running.purge(running.records(keys)) == 4
    ElasticsearchStore(operator, SETTINGS).check(MODEL)


def test_run_time_may_not_rebuild(laid_out: TemporaryNode) -> None:
    client = as_user(laid_out, "runtime")
    book = EmbedderBook(lambda: HashEmbedder(8), lambda spec: HashEmbedder(8))
    with pytest.raises(StoreRefused):
        Rebuild(client, SETTINGS, book, {}).run()
    assert Rebuild(client, SETTINGS, book, {}).status().state == "none"


def test_a_role_that_may_not_be_made_is_told_and_stops_nothing(laid_out: TemporaryNode) -> None:
    report = install(as_user(laid_out, "install"), SETTINGS, MODEL, create_role=True)
    assert report.role.startswith("role-runtime not created")


def test_nobody_is_refused_and_doctor_still_answers(laid_out: TemporaryNode) -> None:
    client = as_user(laid_out, "nobody")
    with pytest.raises(StoreRefused):
        ElasticsearchStore(client, SETTINGS).check(MODEL)
    rows = {row.name: row for row in doctor(client, SETTINGS, MODEL)}
    assert rows["reachable"].ok is True
    assert rows["indices"].ok is not True


def test_a_wrong_password_is_refused_and_never_shown(laid_out: TemporaryNode) -> None:
    client = as_user(laid_out, "runtime", "my-secret-guess")
    with pytest.raises(StoreRefused) as told:
        ElasticsearchStore(client, SETTINGS).check(MODEL)
    assert "credentials" in told.value.message
    assert "my-secret-guess" not in str(told.value)
    (row,) = doctor(client, SETTINGS, MODEL)
    assert row.ok is False
