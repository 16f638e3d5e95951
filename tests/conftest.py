"""What all tests share: a real Elasticsearch, a prefix of one's own, the data sets.

A service or data set that is missing skips its tests on a laptop and fails them in CI (``CI``
set), so that a green CI never means that nothing was looked at.

Environment: ``RESIN_TEST_ES_URL`` (a node that runs already), else ``RESIN_TEST_ES_VERSION``
(the version of the temporary node; default: what this machine's Java runs);
``RESIN_SHARED_DATA`` (folder of the data sets; default: ``../shared`` beside the repository);
``RESIN_TEST_CLIENT`` (major version that the Elasticsearch client has to have).
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from hypothesis import HealthCheck, settings

from resin_es.errors import DownloadError, JavaNotFound

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

    from resin_es.testing.redis_server import TemporaryRedis

ROOT = Path(__file__).resolve().parent.parent

# A shell starts what runs in its background with Ctrl-C ignored, and processes inherit that; then
# tests of an interrupted run would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "resin",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("resin")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark by folder, and whatever asks for the node as integration."""
    for item in items:
        parts = item.path.relative_to(ROOT / "tests").parts
        if parts[0] == "e2e":
            item.add_marker(pytest.mark.e2e)
        if parts[0] == "integration" or "es_url" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.integration)


def missing(what: str) -> NoReturn:
    """Skip on a laptop, fail in CI."""
    if os.environ.get("CI"):
        pytest.fail(f"CI needs {what}")
    pytest.skip(f"needs {what}")


@pytest.fixture(autouse=True)
def _no_outer_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Keep the developer's own RESIN_* settings and settings file out of every test."""
    for name in list(os.environ):
        if name.startswith("RESIN_") and not name.startswith(("RESIN_TEST_", "RESIN_SHARED_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "no-config"))


@pytest.fixture(scope="session")
def es_url() -> Iterator[str]:
    """URL of a real Elasticsearch without security; one node for the whole run."""
    if url := os.environ.get("RESIN_TEST_ES_URL"):
        yield url
        return
    from resin_es.testing.nodes import temporary_node

    with contextlib.ExitStack() as stack:
        try:
            node = stack.enter_context(
                temporary_node(version=os.environ.get("RESIN_TEST_ES_VERSION"))
            )
        except (DownloadError, JavaNotFound) as error:
            missing(f"an Elasticsearch node: {error}")
        yield node.url


@pytest.fixture(scope="session")
def es(es_url: str) -> Iterator[Elasticsearch]:
    """A raw client on the node, for looking behind the product's back."""
    from elasticsearch import Elasticsearch, __version__

    wanted = os.environ.get("RESIN_TEST_CLIENT")
    assert wanted in (None, str(__version__[0])), f"client {__version__} is not the one to test"
    with Elasticsearch(es_url, request_timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def redis_server() -> Iterator[TemporaryRedis]:
    """A real Redis with a password; one for the whole run. Every index prefix has keys of its
    own in it; who restarts or floods it starts another one."""
    if importlib.util.find_spec("celery") is None:
        missing("resin-es[workers]")
    from resin_es.testing.redis_server import RedisMissing, temporary_redis

    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(temporary_redis("a-redis-password"))
        except RedisMissing as error:
            missing(f"Redis: {error}")
        yield server


@pytest.fixture
def prefix(es: Elasticsearch) -> Iterator[str]:
    """An index prefix of this test's own; whatever was made below it is deleted afterwards."""
    name = f"t-{uuid.uuid4().hex[:10]}"
    yield name
    delete_below(es, name)


def delete_below(es: Elasticsearch, prefix: str) -> None:
    """Delete indices, index templates and component templates whose name starts so.

    By name, since servers refuse wildcards in destructive calls.
    """
    if indices := list(es.indices.get(index=f"{prefix}*", expand_wildcards="all")):
        es.indices.delete(index=indices)
    lenient = es.options(ignore_status=404)  # a pattern that matches no template is a 404
    found = lenient.indices.get_index_template(name=f"{prefix}*").body
    for template in found.get("index_templates", ()):
        es.indices.delete_index_template(name=template["name"])
    parts = lenient.cluster.get_component_template(name=f"{prefix}*").body
    for part in parts.get("component_templates", ()):
        es.cluster.delete_component_template(name=part["name"])


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the data sets (HolisQA, HotpotQA), which are no part of this repository."""
    folder = Path(os.environ.get("RESIN_SHARED_DATA") or ROOT.parent / "shared")
    if not (folder / "holisqa").is_dir():
        missing(f"the data sets in {folder}, or elsewhere by RESIN_SHARED_DATA")
    return folder
