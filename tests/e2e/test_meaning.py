"""Found by meaning alone, found by its word alone. The real model, so the corpus is tiny."""

from __future__ import annotations

import json
from typing import Any

import pytest

from resin_es.testing.command import CommandLine

DOCUMENTS = {
    "physician": "The physician cured the feverish child.",
    "code": "Form KX-4417b is pale green.",
    "tram": "The tram leaves the depot at noon.",
    "bread": "The baker sells rye bread.",
    "bridge": "Workers painted the bridge last spring.",
    "tax": "The council raised the property tax.",
    "form": "Form PZ-2083c is light blue.",
    "film": "The cinema shows an old film.",
}
UNLIKE = "Doctors healing ill youngsters"
"""Shares no word, and no stem of one, with the sentence it means."""


@pytest.fixture(scope="module")
def meaning(cli: CommandLine, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    pytest.importorskip("onnxruntime")
    real = cli.under(RESIN_EMBEDDER="onnx", RESIN_PREFIX=f"{cli.environ['RESIN_PREFIX']}-real")
    path = tmp_path_factory.mktemp("corpus") / "a.jsonl"
    records = ({"id": key, "text": text} for key, text in DOCUMENTS.items())
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    real.run("install")
    real.run("index", path, "--public")
    return real


@pytest.fixture(scope="module", autouse=True)
def _taken_away(cli: CommandLine, meaning: CommandLine) -> Any:
    yield
    meaning.run("uninstall", "--yes")


def words(text: str) -> set[str]:
    return {word.strip(".").casefold()[:4] for word in text.split()}


def test_a_unit_that_shares_no_word_with_the_question(meaning: CommandLine) -> None:
    assert not words(UNLIKE) & words(DOCUMENTS["physician"])
    hits = meaning.run("search", UNLIKE, "--json").json["hits"]
    units = [hit["candidate"] for hit in hits if hit["candidate"]["kind"] != "sentence"]
    assert units[0]["document_id"] == "physician"
    assert all(hit["candidate"]["lexical"] is None for hit in hits), "only the vectors know it"
    found = meaning.run("retrieve", UNLIKE, "--k", "1", "--json").json
    assert found["evidence"][0]["document_id"] == "physician"
    answer = meaning.run("ask", UNLIKE, "--json").json
    assert answer["evidence"][0]["document_id"] == "physician"


@pytest.mark.parametrize(("word", "document"), [("KX-4417b", "code"), ("PZ-2083c", "form")])
def test_a_word_that_only_bm25_knows(meaning: CommandLine, word: str, document: str) -> None:
    """A code means nothing to the model: the vectors alone see two forms that look alike."""
    hits = meaning.run("search", word, "--json").json["hits"]
    first = hits[0]["candidate"]
    assert first["document_id"] == document
    assert first["lexical"] > 0
    assert {h["candidate"]["document_id"] for h in hits if h["candidate"]["lexical"]} == {document}
    answer = meaning.run("ask", f"How does form {word} look?", "--json").json
    assert answer["evidence"][0]["document_id"] == document
