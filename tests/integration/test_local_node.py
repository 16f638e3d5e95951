"""The local node for real: three versions, each on a Java of this machine, and roles from files."""

from __future__ import annotations

import os

import psutil
import pytest
from elasticsearch import ApiError, Elasticsearch

from resin_es.errors import JavaNotFound
from resin_es.local import LocalUser, default_settings, down, status, up
from resin_es.testing.nodes import TemporaryNode, temporary_node

MAPPING = {
    "properties": {
        "text": {"type": "text"},
        "vector": {"type": "dense_vector", "dims": 3, "similarity": "cosine"},
    }
}


def client_for(node: TemporaryNode, auth: tuple[str, str] | None = None) -> Elasticsearch:
    return Elasticsearch(node.url, basic_auth=auth, request_timeout=60)


@pytest.mark.parametrize("version", ["9.5.3", "8.19.21"])
def test_each_version_serves_hybrid_search(version: str) -> None:
    try:
        with temporary_node(version) as node:
            assert node.status.version == version
            fill(node)
            assert search(node) == ["near", "word"]
            lives_apart(node)
    except JavaNotFound as error:
        pytest.skip(f"no Java for {version}: {error}")


def test_without_any_java_the_packaged_one_serves_and_data_are_kept() -> None:
    bare = {"java_home": None, "search_path": os.devnull, "version": None}
    with temporary_node(base=default_settings().model_copy(update=bare)) as node:
        assert node.status.version == "8.17.4"
        assert node.settings.cache_dir == default_settings().cache_dir
        fill(node)
        assert search(node) == ["near", "word"]
        lives_apart(node)

        assert down(node.settings)
        assert not status(node.settings).running
        again = up(node.settings)
        assert again.pid != node.status.pid
        assert again.version == "8.17.4"
        assert search(node) == ["near", "word"]
    assert not node.settings.data_dir.parent.exists()


def fill(node: TemporaryNode) -> None:
    with client_for(node) as client:
        client.indices.create(index="trial", mappings=MAPPING)
        client.index(index="trial", id="near", document={"text": "ferry", "vector": [1, 0, 0]})
        client.index(index="trial", id="word", document={"text": "metro", "vector": [0, 1, 0]})
        client.indices.refresh(index="trial")


def search(node: TemporaryNode) -> list[str]:
    with client_for(node) as client:
        found = client.search(
            index="trial",
            knn={"field": "vector", "query_vector": [1, 0.1, 0], "k": 1, "num_candidates": 10},
            query={"match": {"text": "metro"}},
        )
        return sorted(hit["_id"] for hit in found["hits"]["hits"])


def lives_apart(node: TemporaryNode) -> None:
    """Loopback only, in a session of its own, never as root, and not stopped by a full disk."""
    assert node.status.pid is not None
    server = psutil.Process(node.status.pid)
    assert server.uids().effective != 0
    assert os.getsid(server.pid) != os.getsid(0)
    listening = {c.laddr.ip for c in server.net_connections() if c.status == psutil.CONN_LISTEN}
    assert listening <= {"127.0.0.1", "::ffff:127.0.0.1"}
    with client_for(node) as client:
        disk = client.cluster.get_settings(include_defaults=True, flat_settings=True)
        threshold = "cluster.routing.allocation.disk.threshold_enabled"
        assert {**disk["defaults"], **disk["persistent"]}[threshold] == "false"


def test_users_and_roles_come_from_files() -> None:
    users = [
        LocalUser(name="ann", password="secret-ann", roles=("reader",)),
        LocalUser(name="eve", password="secret-eve"),
    ]
    roles = {"reader": {"indices": [{"names": ["open-*"], "privileges": ["read"]}]}}
    with temporary_node(security=True, users=users, roles=roles) as node:
        with client_for(node, node.admin) as admin:
            for index in ("open-1", "closed-1"):
                admin.index(index=index, document={"text": "x"}, refresh=True)
        with client_for(node, ("ann", "secret-ann")) as ann:
            assert ann.count(index="open-1")["count"] == 1
            refused(ann, "closed-1", 403)
        with client_for(node, ("eve", "secret-eve")) as eve:
            refused(eve, "open-1", 403)
        with client_for(node, ("ann", "wrong")) as stranger:
            refused(stranger, "open-1", 401)


def refused(client: Elasticsearch, index: str, code: int) -> None:
    with pytest.raises(ApiError) as caught:
        client.count(index=index)
    assert caught.value.status_code == code
