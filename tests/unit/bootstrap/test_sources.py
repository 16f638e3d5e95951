"""Clusters by name, and sources from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from resin_es.bootstrap import Services
from resin_es.bootstrap.clusters import cluster_client, cluster_options
from resin_es.bootstrap.sources import specs_from_file
from resin_es.errors import InputError, SettingsError
from resin_es.settings import load_settings

SECRET = "very-secret"


def test_an_entry_of_clusters_says_how_it_is_reached() -> None:
    entry = {"url": "https://other:9200", "basic_auth": f"user:{SECRET}", "verify_certs": False}
    found = cluster_options({"other": entry}, "other")
    assert found.url == "https://other:9200"
    assert found.arguments()["basic_auth"] == ("user", SECRET)
    assert SECRET not in repr(found)


def test_a_cluster_that_is_not_named_in_the_settings_is_told_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"no cluster 'x' in RESIN_CLUSTERS \(known: a, b\)"):
        cluster_options({"b": {}, "a": {}}, "x")


@pytest.mark.parametrize(
    "entry",
    [
        {"url": "http://h", "api_kee": SECRET},
        {"url": "http://h", "api_key": {"nested": SECRET}},
        {"url": "http://h", "basic_auth": [SECRET]},
        {"url": ["http://h", SECRET]},
    ],
)
def test_no_value_of_an_entry_is_shown(entry: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as told:
        cluster_options({"other": entry}, "other")
    assert "RESIN_CLUSTERS, 'other'" in told.value.message
    assert SECRET not in str(told.value)
    assert told.value.__cause__ is None
    assert told.value.__suppress_context__


def test_each_cluster_has_one_client_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESIN_CLUSTERS", '{"a": {"url": "http://a:1"}, "b": {"url": "http://b:1"}}')
    services = Services(load_settings(es_url="http://own:1"))
    a, b = cluster_client(services, "a"), cluster_client(services, "b")
    assert cluster_client(services, "a") is a
    assert cluster_client(services, "") is services.client
    assert len({id(one) for one in (a, b, services.client)}) == 3


# ------------------------------------------------------------------ files

ONE = "index: kb-*\ntext_fields: body\naccess: field\naccess_field: groups\n"


def written(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "sources.yml"
    path.write_text(content, encoding="utf-8")
    return path


def test_one_source_of_a_file(tmp_path: Path) -> None:
    [found] = specs_from_file(written(tmp_path, f"name: kb\n{ONE}"))
    assert (found.name, found.text_fields, found.access_field) == ("kb", ("body",), "groups")


def test_a_source_without_a_name_gets_the_given_one(tmp_path: Path) -> None:
    [found] = specs_from_file(written(tmp_path, ONE), "given")
    assert found.name == "given"


def test_one_of_several_is_chosen_by_name(tmp_path: Path) -> None:
    several = "".join(f"- name: {name}\n  index: i\n  text_fields: [t]\n  access: public\n"
                      for name in ("a", "b"))  # fmt: skip
    path = written(tmp_path, several)
    assert [spec.name for spec in specs_from_file(path)] == ["a", "b"]
    assert [spec.name for spec in specs_from_file(path, "b")] == ["b"]
    with pytest.raises(InputError, match=r"holds no source 'bb'.*did you mean 'b'"):
        specs_from_file(path, "bb")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a: [", "is not YAML"),
        ("", "holds neither a source nor a list"),
        ("[]", "holds neither a source nor a list"),
        ("- 1", "holds neither a source nor a list"),
        (f"name: kb\n{ONE}bodies: x", "there is no field 'bodies'"),
        (f"- name: a\n- name: kb\n  {ONE.splitlines()[0]}", "source 1: index: Field required"),
        ("!!python/object/apply:os.system ['true']", "is not YAML"),
        ("name: no", "name: Input should be a valid string"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_what_is_wrong(
    tmp_path: Path, content: str, told: str
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError) as raised:
        specs_from_file(path)
    assert raised.value.message.startswith(str(path))
    assert told in raised.value.message


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        specs_from_file(tmp_path / "none.yml")
    (tmp_path / "bytes.yml").write_bytes(b"\xff\xfe\xfa\x00\x80")
    with pytest.raises(InputError, match="is not YAML"):
        specs_from_file(tmp_path / "bytes.yml")
