"""Settings of the environment arrive at the stage that they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from resin_es.bootstrap.stages import connection_options, local_settings, query_settings
from resin_es.bootstrap.stages import store_settings as for_store
from resin_es.errors import SettingsError
from resin_es.settings import load_settings, setting_rows, unknown_variables


def test_the_local_node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {
        "PORT": "9333",
        "HEAP": "700m",
        "VERSION": "9.5.3",
        "DIR": str(tmp_path),
        "REPOSITORY": "https://mirror.invalid/maven2",
    }.items():
        monkeypatch.setenv(f"RESIN_LOCAL_{name}", value)
    monkeypatch.setenv("JAVA_HOME", "/java")
    found = local_settings(load_settings())
    assert (found.port, found.heap, found.version) == (9333, "700m", "9.5.3")
    assert found.repository == "https://mirror.invalid/maven2"
    assert found.java_home == "/java"
    assert found.data_dir.is_relative_to(tmp_path)


def test_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESIN_ES_BASIC_AUTH", "me:pass:word")
    monkeypatch.setenv("RESIN_ES_OPTIONS", '{"retry_on_timeout": true}')
    options = connection_options(load_settings(), "https://es.invalid:9200")
    arguments = options.arguments()
    assert arguments["basic_auth"] == ("me", "pass:word")
    assert arguments["retry_on_timeout"] is True
    assert "pass" not in repr(options)
    monkeypatch.setenv("RESIN_ES_BASIC_AUTH", "me")
    with pytest.raises(SettingsError, match="user:password"):
        connection_options(load_settings(), "https://es.invalid:9200")


def test_a_prefix_that_cannot_be_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESIN_PREFIX", "No Upper")
    with pytest.raises(SettingsError, match="RESIN_PREFIX is 'No Upper'"):
        for_store(load_settings())


@pytest.mark.parametrize(("name", "value"), [("K", "0"), ("K", "20000"), ("BUDGET", "0")])
def test_bounds_of_a_question(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"RESIN_{name}", value)
    with pytest.raises(SettingsError, match=name.lower() if name == "K" else "RESIN_BUDGET"):
        query_settings(load_settings())


def test_a_k_that_somebody_names_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESIN_BUDGET", "700")
    assert query_settings(load_settings()).fill_on
    monkeypatch.setenv("RESIN_K", "10")
    assert not query_settings(load_settings()).fill_on


def test_a_misspelt_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESIN_BUGDET", "5")
    assert unknown_variables() == ["RESIN_BUGDET"]


def test_a_file_of_settings_and_its_origin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "resin.toml"
    path.write_text('budget = 700\nes_api_key = "very secret"\n')
    monkeypatch.setenv("RESIN_SETTINGS", str(path))
    monkeypatch.setenv("RESIN_K", "3")
    rows = {row.name: row for row in setting_rows(load_settings())}
    assert (rows["budget"].value, rows["budget"].origin) == ("700", f"file {path}")
    assert (rows["k"].value, rows["k"].origin) == ("3", "environment RESIN_K")
    assert rows["max_hops"].origin == "default (RESIN_MAX_HOPS)"
    assert rows["es_api_key"].value == "********"
    path.write_text("bugdet = 1\n")
    with pytest.raises(SettingsError, match="did you mean 'budget'"):
        load_settings()


@pytest.mark.parametrize(
    "value",
    ['{"a": [1]}', '{"a": [1, 2, 3]}', '{"a": 5}', '{"a": [-1, 2]}', '{"a": [NaN, 2]}', "[1, 2]"],
)
def test_a_price_that_no_cap_would_hold_under_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("RESIN_PRICES", value)
    with pytest.raises(SettingsError, match="cache write") as caught:
        load_settings()
    assert caught.value.message.count("RESIN_PRICES") == 1


def test_prices_are_two_or_four_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESIN_PRICES", '{"a": [0, 0], "b": [1, 2, 3, 0.5]}')
    assert load_settings().prices == {"a": (0, 0), "b": (1, 2, 3, 0.5)}


@pytest.mark.parametrize("name", ["RESIN_PRICES", "RESIN_ANTHROPIC_OPTIONS", "RESIN_ES_HEADERS"])
def test_what_is_no_json_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "{hidden-word: 1}")
    with pytest.raises(SettingsError, match=f"{name} is not JSON") as caught:
        load_settings()
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("name", ["record", "replay"])
def test_an_empty_folder_is_none_and_not_the_one_somebody_is_in(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(f"RESIN_{name.upper()}", "")
    assert getattr(load_settings(), name) is None
