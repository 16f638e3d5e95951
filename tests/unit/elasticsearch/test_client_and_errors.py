"""Options, what the server says of itself, and what each failure is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from elasticsearch import ConnectionError as WireError
from elasticsearch import ConnectionTimeout, SSLError
from pydantic import SecretStr, ValidationError

from resin_es.adapters.elasticsearch import ConnectionOptions, connect, doctor, server_info
from resin_es.adapters.elasticsearch.client import ServerInfo
from resin_es.adapters.elasticsearch.doctor import client_check, version_check
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.installed import mismatch
from resin_es.errors import (
    ClientTooNew,
    IndexMismatch,
    SettingsError,
    StoreConflict,
    StoreError,
    StoreNotInstalled,
    StoreRefused,
    StoreRejected,
    StoreTimeout,
    StoreUnavailable,
)
from resin_es.index.settings import StoreSettings
from resin_es.index.templates import SCHEMA_VERSION
from resin_es.ports import ModelIdentity
from resin_es.testing.wire import SETTINGS, Wire, failure

SECRET = SecretStr("sesame")


def test_plain_options() -> None:
    assert ConnectionOptions(url="http://a:9200, http://b:9200").arguments() == {
        "hosts": ["http://a:9200", "http://b:9200"],
        "request_timeout": 60.0,
        "max_retries": 3,
        "http_compress": False,
    }


def test_all_options(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    authority.touch()
    options = ConnectionOptions(
        url="https://a:9200",
        basic_auth=("ann", SECRET),
        ca_certs=str(authority),
        ssl_fingerprint="ab",
        verify_certs=False,
        request_timeout=5,
        retries=0,
        http_compress=True,
        headers={"x-a": SECRET},
        options={"retry_on_timeout": True},
    )
    assert options.arguments() == {
        "hosts": ["https://a:9200"],
        "basic_auth": ("ann", "sesame"),
        "ca_certs": str(authority),
        "ssl_assert_fingerprint": "ab",
        "verify_certs": False,
        "ssl_show_warn": False,
        "request_timeout": 5.0,
        "max_retries": 0,
        "http_compress": True,
        "headers": {"x-a": "sesame"},
        "retry_on_timeout": True,
    }
    cloud = ConnectionOptions(api_key=SECRET, options={"cloud_id": "x:y"}).arguments()
    assert (cloud["cloud_id"], cloud["api_key"]) == ("x:y", "sesame")
    assert "hosts" not in cloud


def test_no_secret_is_shown() -> None:
    options = ConnectionOptions(
        url="https://ann:sesame@a:9200",
        basic_auth=("ann", SECRET),
        headers={"x-a": SECRET},
        options={"client_key": "sesame"},
    )
    assert "sesame" not in repr(options)
    assert "sesame" not in str(options)
    assert options.hide("bad sesame in https://u:pw@host") == "bad *** in https://***@host"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ConnectionOptions(), "no Elasticsearch address"),
        (ConnectionOptions(url="http://a", api_key=SECRET, bearer_auth=SECRET), "two ways"),
        (ConnectionOptions(url="no-url"), "does not take its options"),
        (ConnectionOptions(url="http://a:9200", options={"bogus": "sesame"}), "bogus"),
        (ConnectionOptions(url="https://a:9200", ca_certs="/not/there.pem"), "CA_CERTS"),
        (ConnectionOptions(url="http://a:9200", api_key=SecretStr("“sesame”")), "api_key"),
        (ConnectionOptions(url="http://a:9200", headers={"x": SecretStr("é")}), "header x"),
    ],
)
def test_options_that_cannot_work(options: ConnectionOptions, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as told:
        connect(options)
    assert "sesame" not in str(told.value)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValidationError):
        ConnectionOptions.model_validate({"url": "http://a", "apikey": "x"})


TOO_NEW = failure(
    "media_type_header_exception",
    "Invalid media-type value on headers [Accept]",
    caused_by={
        "type": "status_exception",
        "reason": "Accept version must be either version 8 or 7, but found 9. "
        "Accept=application/vnd.elasticsearch+json; compatible-with=9",
    },
)


@pytest.mark.parametrize(
    ("answer", "error", "told"),
    [
        (WireError("connection refused"), StoreUnavailable, "cannot be reached"),
        (SSLError("self-signed"), StoreUnavailable, "TLS"),
        (ConnectionTimeout("slow"), StoreTimeout, "did not answer in time"),
        (failure("security_exception", "bad key", 401), StoreRefused, "credentials"),
        (failure("security_exception", "not you", 403), StoreRefused, "refused looking"),
        (
            failure("index_not_found_exception", "no such index", 404),
            StoreNotInstalled,
            "installed",
        ),
        (failure("resource_not_found_exception", "no such", 404), StoreRejected, "no such"),
        (failure("version_conflict_engine_exception", "newer", 409), StoreConflict, "newer"),
        (failure("circuit_breaking_exception", "big", 429), StoreRejected, "big"),
        (failure("no_shard_available_action_exception", "down", 503), StoreUnavailable, "down"),
        (failure("timeout_exception", "late", 504), StoreTimeout, "late"),
        (TOO_NEW, ClientTooNew, "too new"),
        ((400, {"error": "no handler found for uri [/x]"}), StoreRejected, "no handler"),
    ],
)
def test_what_each_failure_is_called(answer: Any, error: type[StoreError], told: str) -> None:
    client = Wire(answer).client
    with pytest.raises(error, match=told) as caught, translated("looking", client):
        client.indices.refresh(index="x")
    assert type(caught.value) is error
    assert caught.value.__cause__ is not None


def test_our_own_errors_pass_through() -> None:
    with pytest.raises(StoreConflict, match="mine"), translated("x"):
        raise StoreConflict("mine")


def test_the_version_by_the_root_or_else_by_the_node() -> None:
    root = {"cluster_name": "c", "version": {"number": "9.5.3", "build_flavor": "default"}}
    assert server_info(Wire((200, root)).client) == ServerInfo(
        version="9.5.3", flavor="default", cluster="c"
    )
    missing = (405, {"error": "Incorrect HTTP method for uri [/]", "status": 405})
    node = {"cluster_name": "dev", "nodes": {"x": {"version": "8.19.21"}}}
    info = server_info(Wire(missing, (200, node)).client)
    assert (info.version, info.major) == ("8.19.21", 8)
    denied = failure("security_exception", "no", 403)
    assert server_info(Wire(denied, denied).client) == ServerInfo()
    with pytest.raises(StoreRefused):
        server_info(Wire(failure("security_exception", "no", 401)).client)


@pytest.mark.parametrize(
    ("version", "ok"),
    [("8.16.9", False), ("8.17.0", True), ("9.5.3", True), ("10.0.0", True), ("", None)],
)
def test_the_oldest_server(version: str, ok: bool | None) -> None:
    assert version_check(ServerInfo(version=version)).ok is ok


@pytest.mark.parametrize(
    ("client", "server", "ok"),
    [
        ("8.19.3", "8.17.4", True),
        ("8.19.3", "9.5.3", True),
        ("9.2.0", "8.19.21", False),
        ("9.2.0", "9.5.3", True),
        ("9.2.0", "", None),
    ],
)
def test_client_against_server(client: str, server: str, ok: bool | None) -> None:
    assert client_check(ServerInfo(version=server), client).ok is ok


def test_doctor_names_a_client_too_new() -> None:
    rows = {row.name: row for row in doctor(Wire(TOO_NEW).client, SETTINGS)}
    assert rows["client"].ok is False
    assert "es8" in rows["client"].hint


def test_an_index_of_an_older_schema_is_refused_and_told_what_to_do() -> None:
    settings, model = StoreSettings(), ModelIdentity(name="mini", dims=4)
    meta = {
        "schema": 1,
        "model": "mini",
        "dims": 4,
        "statement_version": settings.statement_version,
    }
    with pytest.raises(IndexMismatch, match=f"schema 1, .* needs {SCHEMA_VERSION}") as told:
        mismatch("units", meta, settings, model)
    assert "resin-es rebuild" in (told.value.hint or "")
    mismatch("units", {**meta, "schema": SCHEMA_VERSION}, settings, model)
