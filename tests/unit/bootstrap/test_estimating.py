"""resin-es estimate: wired without a key, with and without an index."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from resin_es.bootstrap.estimating import check_priced, estimate_documents, estimate_paths
from resin_es.bootstrap.services import Services
from resin_es.cli.app import app
from resin_es.errors import InputError, SettingsError, StoreNotInstalled
from resin_es.extract.read import read_many
from resin_es.index.indexer import Indexer
from resin_es.llm.estimate import CountingReader
from resin_es.llm.outputs import keep_output
from resin_es.llm.passages import passages_call
from resin_es.llm.reader import ModelReader
from resin_es.model import Document, DocumentStatus, Guard, RegistryEntry
from resin_es.ports import PassageReading, ReadingWindow, StoredEntry
from resin_es.settings import load_settings
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted_language import MemoryCache, ScriptedLanguageModel


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("RESIN_", "ANTHROPIC_")):
            monkeypatch.delenv(name)


class Store(MemoryCache):
    """What an estimate may ask of a store: no write is among it."""

    def __init__(self, *entries: RegistryEntry, installed: bool = True) -> None:
        super().__init__()
        self._entries = {entry.key: entry for entry in entries}
        self._installed = installed

    def check(self, model: object) -> None:
        if not self._installed:
            raise StoreNotInstalled("There are no indices.")

    def entries(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        guard = Guard(seq_no=1, primary_term=1)
        return {
            key: StoredEntry(entry=self._entries[key], guard=guard)
            for key in keys
            if key in self._entries
        }


def services(store: object, **settings: Any) -> Services:
    made = SimpleNamespace(settings=load_settings(**settings), store=store, embedder=HashEmbedder())
    return cast(Services, made)


def document(name: str) -> Document:
    return Document(source="s", external_id=name, title=name, text="It is red.", access=("x",))


def read_by_claude(one: Document, model: str) -> RegistryEntry:
    """The entry of ``one`` after a run with RESIN_LLM=claude."""
    reader = ModelReader(ScriptedLanguageModel([]), MemoryCache(), name=model)
    pipeline = Indexer(Store(), HashEmbedder(), reader).pipeline  # type: ignore[arg-type]
    return RegistryEntry(
        key=one.key,
        source=one.source,
        external_id=one.external_id,
        status=DocumentStatus.INDEXED,
        version=one.version,
        committed_version=one.version,
        rights_hash=one.rights_hash,
        pipeline=pipeline,
    )


def test_unchanged_documents_cost_nothing_whatever_reads_at_the_moment() -> None:
    model = load_settings().llm_read_model
    store = Store(read_by_claude(document("a"), model))
    found = estimate_documents(services(store), [document("a"), document("b")])
    assert (found.documents, found.to_read) == (2, 1)
    assert [one.calls for one in found.stages] == [1, 1]
    other = estimate_documents(services(store, llm_read_model="m"), [document("a"), document("b")])
    assert other.to_read == 2, "another model reads again"
    afresh = estimate_documents(services(store), [document("a"), document("b")], afresh=True)
    assert afresh.to_read == 2


class Overheard(CountingReader):
    """Keeps the windows that it is asked for."""

    def passages(self, window: ReadingWindow) -> PassageReading:
        self.window = window
        return super().passages(window)


def test_cached_answers_are_looked_up_in_the_store() -> None:
    store, model = Store(), load_settings().llm_read_model
    reader = Overheard(model, {})
    read_many([(document("a"), None)], reader)
    told = {"first": "S1", "last": "S1", "main_entity": "", "entity_type": "", "focus": ""}
    answer = {"passages": [{**told, "role": "other"}]}
    keep_output(store, passages_call(reader.window, model), answer)
    found = estimate_documents(services(store), [document("a")])
    assert [(one.calls, one.cached) for one in found.stages] == [(0, 1), (1, 0)]


def test_without_indices_all_documents_are_new() -> None:
    found = estimate_documents(services(Store(installed=False)), [document("a")])
    assert (found.documents, found.to_read) == (1, 1)


def test_a_cap_needs_prices() -> None:
    check_priced(load_settings(), ["nobody-knows"])
    check_priced(load_settings(max_cost=1.0), ["claude-haiku-5-5"])
    check_priced(load_settings(max_cost=1.0, prices={"mine": (0, 0)}), ["mine"])
    with pytest.raises(SettingsError, match="no price known for nobody-knows"):
        check_priced(load_settings(max_cost=1.0), ["claude-haiku-5-5", "nobody-knows"])


def test_a_path_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="does not exist"):
        estimate_paths(services(None), ["nowhere.txt"], afresh=True)


def corpus(folder: Path) -> Path:
    path = folder / "docs.jsonl"
    lines = [
        {"id": "a", "text": "The bus leaves at nine. It is red.", "access": ["x"]},
        {"id": "b", "text": "Nobody says who may read this."},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_the_command_needs_neither_key_nor_index(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["estimate", str(corpus(tmp_path)), "--afresh", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["documents"], told["to_read"], told["calls"]) == (2, 2, 4)
    assert told["dollars"] == pytest.approx(sum(one["dollars"] for one in told["stages"]))
    assert told["batch_dollars"] == pytest.approx(told["dollars"] / 2)
    assert told["question"]["dollars"] > 0
    assert told["problems"] == told["unpriced"] == []


def test_the_command_for_people(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["estimate", str(corpus(tmp_path)), "--afresh"])
    assert done.exit_code == 0, done.output
    for words in ("2 documents, 2 of them", "passages", "units", "by batch", "per 1,000", "plan"):
        assert words in done.stdout
    assert "$" in done.stdout


def test_a_model_without_a_price_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESIN_LLM_READ_MODEL", "nobody-knows")
    done = CliRunner().invoke(app, ["estimate", str(corpus(tmp_path)), "--afresh"])
    assert done.exit_code == 0
    assert "no price known for nobody-knows: set RESIN_PRICES" in done.stderr
    row = next(line for line in done.stdout.splitlines() if line.split()[:1] == ["units"])
    assert "?" in row
    assert "$" not in row
    monkeypatch.setenv("RESIN_PRICES", '{"nobody-knows": [1, 2]}')
    done = CliRunner().invoke(app, ["estimate", str(corpus(tmp_path)), "--afresh"])
    assert "no price known" not in done.stderr


def test_records_that_cannot_be_taken_are_named_and_end_in_1(tmp_path: Path) -> None:
    path = corpus(tmp_path)
    path.write_text(path.read_text() + '{"id": "c"}\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["estimate", str(path), "--afresh", "--json"])
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["documents"] == 2
    assert "docs.jsonl" in told["problems"][0]["where"]


def test_a_missing_path_ends_in_2(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["estimate", str(tmp_path / "none.txt"), "--afresh"])
    assert done.exit_code == 2
    assert "does not exist" in done.stderr
