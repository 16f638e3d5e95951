"""Which encoder reads other languages, by the settings; and what ``doctor`` says of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from resin_es.adapters.elasticsearch import Check
from resin_es.adapters.multilingual import encoder
from resin_es.bootstrap import Services
from resin_es.bootstrap.embedding import second_encoder, second_spec
from resin_es.bootstrap.language_check import other_languages
from resin_es.errors import ModelUnavailable, SettingsError
from resin_es.index.embedders import EmbedderBook
from resin_es.settings import load_settings
from resin_es.testing.hash_embedder import HashEmbedder

FIRST = HashEmbedder()


@pytest.fixture(params=[True, False], ids=["installed", "not installed"])
def package(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    def loaded() -> Path:
        raise AssertionError("nothing here needs the model itself")

    monkeypatch.setattr(encoder, "installed", lambda: request.param)
    monkeypatch.setattr(encoder.folder, "ready", loaded)
    return bool(request.param)


def test_by_default_the_one_in_a_package_if_it_is_there(package: bool) -> None:
    wanted = {"kind": "multilingual-e5"} if package else None
    assert second_spec(load_settings()) == wanted
    made = second_encoder(load_settings(), FIRST)
    assert (made is not None) is package
    if made is not None:
        assert made.model == encoder.IDENTITY, "known without loading it"
        assert made.embedder == {"kind": "multilingual-e5"}


@pytest.mark.parametrize(
    "named",
    [
        {"multilingual": "off"},
        {"embedder": "hash"},
        {"embedder_model": "/models/of-ones-own"},
    ],
)
def test_none_where_none_is_wanted_or_the_first_one_may_do(package: bool, named: Any) -> None:
    assert second_spec(load_settings(**named)) is None
    assert second_encoder(load_settings(**named), FIRST) is None


def test_a_folder_stands_beside_any_and_is_told_from_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "many").mkdir()
    monkeypatch.chdir(tmp_path)
    for more in ({}, {"embedder_model": "/models/of-ones-own"}):
        spec = second_spec(load_settings(multilingual="many", **more))
        assert spec == {"kind": "onnx", "model": str(tmp_path / "many")}
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = load_settings(multilingual="~/many", embedder="sentence-transformers")
    assert second_spec(settings) == {
        "kind": "sentence-transformers",
        "model": str(tmp_path / "many"),
    }
    hub = "someone/many"
    assert second_spec(load_settings(multilingual=hub)) == {"kind": "onnx", "model": hub}


@pytest.mark.parametrize("named", ["of", "Auto", "/nowhere/at/all", ""])
def test_what_is_no_encoder_is_refused_by_the_name_of_its_setting(named: str) -> None:
    with pytest.raises(SettingsError, match=f"RESIN_MULTILINGUAL '{named}'") as error:
        second_encoder(load_settings(multilingual=named), FIRST)
    assert "auto, off, or the folder" in error.value.hint


def test_an_empty_folder_is_refused_before_a_server_is_asked(tmp_path: Path) -> None:
    services = Services(
        load_settings(es_url="http://127.0.0.1:9", multilingual=str(tmp_path), prefix="t-none")
    )
    services.__dict__["client"] = None  # whoever asked it for anything would fail otherwise
    with pytest.raises(SettingsError, match="RESIN_MULTILINGUAL"):
        services.install()


def test_the_first_model_is_no_second_one() -> None:
    settings = load_settings(embedder="hash", multilingual="64")
    with pytest.raises(SettingsError, match="hash-64, which makes the vectors of all"):
        second_encoder(settings, HashEmbedder(64))
    made = second_encoder(settings, HashEmbedder(32))
    assert made is not None
    assert made.model.name == "hash-64"


def test_services_of_another_prefix_load_no_model_again() -> None:
    services = Services(load_settings(es_url="http://127.0.0.1:9", embedder="hash"))
    services.__dict__["client"] = None
    other = services.under("t-other")
    assert other.embedders is services.embedders
    assert other.embedder is services.embedder


# ---------------------------------------------------------------- what doctor says

MANY = {"multilingual": {"model": "hash-32", "dims": 32, "embedder": {"kind": "hash"}}}


class Broken(HashEmbedder):
    def embed(self, texts: Any) -> Any:
        raise ModelUnavailable("it is not installed", hint="pip install it")


def row(meta: Any, make: Callable[[Any], HashEmbedder], **settings: Any) -> Check:
    given = load_settings(**settings)
    book = EmbedderBook(lambda: FIRST, make)
    made = second_encoder(given, FIRST)
    services: Any = SimpleNamespace(settings=given, embedders=book, second=made)
    return other_languages(meta, services)


def works(spec: Any) -> HashEmbedder:
    return HashEmbedder(32)


def never(spec: Any) -> HashEmbedder:
    raise AssertionError("there is nothing to load")


def test_an_index_with_one_that_runs() -> None:
    found = row(MANY, works, embedder="hash", multilingual="32")
    assert found == Check(
        name="other languages", ok=True, detail="second vectors by hash-32, 32 dims, which runs"
    )
    off = row(MANY, works, multilingual="off")
    assert (off.ok, off.hint) == (
        True,
        "RESIN_MULTILINGUAL=off counts at install and rebuild only.",
    )
    other = row(MANY, works, embedder="hash", multilingual="16")
    assert (other.ok, other.hint) == (True, "`resin-es rebuild` makes them by hash-16.")


def test_an_index_with_one_that_does_not_run_is_wrong() -> None:
    found = row(MANY, lambda spec: Broken(32), embedder="hash")
    assert (found.ok, found.detail, found.hint) == (
        False,
        "it is not installed",
        "pip install it",
    )
    moved = row(MANY, lambda spec: HashEmbedder(16), embedder="hash")
    assert moved.ok is False
    assert "hash-16" in moved.detail


def test_an_index_without_one_is_nothing_wrong(package: bool) -> None:
    found = row({}, never)
    assert found.ok is None
    assert "by words mostly" in found.detail
    assert ("pip install 'resin-es[multilingual]'" in found.hint) is not package
    assert "resin-es rebuild" in found.hint
    off = row({}, never, multilingual="off")
    assert (off.ok, off.detail, off.hint) == (
        None,
        "no second vectors (RESIN_MULTILINGUAL=off)",
        "",
    )
    own = row({}, never, embedder="hash")
    assert (own.ok, own.detail) == (None, "no second vectors beside a model of your own")
    assert "RESIN_MULTILINGUAL=FOLDER" in own.hint
    asked = row({}, never, embedder="hash", multilingual="32")
    assert (asked.ok, asked.hint) == (None, "`resin-es rebuild` makes them by hash-32.")
