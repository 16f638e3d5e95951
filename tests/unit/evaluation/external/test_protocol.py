"""What passes between us and a runner: the job, the replies, the vectors."""

from __future__ import annotations

import base64
import importlib.util
import json
import struct
import urllib.error
import urllib.request
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from resin_es.errors import ModelError
from resin_es.evaluation.systems.external.embedding import LentEmbedder
from resin_es.evaluation.systems.external.jobs import (
    KEY,
    EmbeddingEndpoint,
    Job,
    job_json,
    question_id,
    read_replies,
)
from resin_es.evaluation.systems.external.packages import PACKAGES, ROWS
from resin_es.evaluation.systems.external.running import RUNNERS, child_environment
from resin_es.testing.hash_embedder import HashEmbedder


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, RUNNERS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_row_has_a_package_and_every_package_a_runner() -> None:
    assert {row.package for row in ROWS.values()} == set(PACKAGES)
    for package in PACKAGES.values():
        assert (RUNNERS / package.runner).is_file()
        assert any(package.version in part for step in package.steps for part in step)


def test_runners_import_nothing_of_ours() -> None:
    for path in RUNNERS.glob("*.py"):
        assert "import resin_es" not in path.read_text("utf-8")
        assert "from resin_es" not in path.read_text("utf-8")


def test_later_lines_replace_earlier_ones_and_torn_lines_are_left_out() -> None:
    lines = [
        '{"kind": "indexed", "documents": 3, "calls": 2, "seconds": 1.5}',
        '{"kind": "failed", "question": "a", "reason": "busy"}',
        '{"kind": "answered", "question": "a", "chunks": [{"text": "x", "of_tomorrow": 1}]}',
        '{"kind": "failed", "question": "b", "reason": "busy"}',
        '{"kind": "progress", "done": 1, "total": 2}',
        '{"kind": "of_tomorrow"}',
        "[]",
        '{"kind": "answered", "question": "c", "chu',
    ]
    replies = read_replies(lines)
    assert set(replies.answered) == {"a"}
    assert replies.answered["a"].chunks[0].text == "x"
    assert replies.failed == {"b": "busy"}
    assert replies.indexed[0].documents == 3
    assert replies.progress is not None
    assert replies.progress.done == 1
    assert replies.fatal == ""
    assert read_replies(['{"kind": "failed", "reason": "no"}']).fatal == "no"


def test_a_job_holds_questions_and_documents_and_no_key() -> None:
    job = Job(
        system="s",
        work="w",
        replies="r",
        documents=(),
        questions=(),
        model={"url": "u", "name": "n"},
        embeddings=EmbeddingEndpoint(url="e", model="m", dims=3),
    )
    assert set(json.loads(job_json(job))) == {
        "version",
        "system",
        "work",
        "replies",
        "documents",
        "questions",
        "model",
        "embeddings",
        "options",
        "answers",
        "max_tokens",
    }
    assert json.loads(job_json(job))["model"] == {"url": "u", "name": "n"}


def test_a_question_keeps_its_id() -> None:
    assert question_id("why?") == question_id("why?") != question_id("why")


def test_the_child_inherits_what_it_needs_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    child = child_environment(tmp_path, SecretStr("ours"))
    assert "OPENAI_API_KEY" not in child
    assert child["HTTPS_PROXY"] == "http://proxy"
    assert child["HOME"] == str(tmp_path)
    assert child[KEY] == "ours"
    assert KEY not in child_environment(tmp_path, None)


@given(st.text())
def test_four_characters_are_a_token_and_back(text: str) -> None:
    tokens = FOUR.encode(text)
    assert len(tokens) == -(-len(text) // 4)
    assert FOUR.decode(tokens) == text
    assert FOUR.decode(tokens[:2]) == text[:8]


FOUR = script("protocol").FourCharacters()


def test_hipporags_neighbours_without_torch() -> None:
    neighbours = script("run_hipporag").neighbours
    found = neighbours(["a", "b"], ["x", "y", "z"], [[1, 0], [0, 2]], [[2, 0], [0, 1], [1, 1]], k=2)
    assert found["a"][0] == ["x", "z"]
    assert found["b"][0] == ["y", "z"]
    assert found["a"][1] == pytest.approx([1.0, 0.5**0.5])
    assert neighbours(["a"], [], [[1, 0]], []) == {}


def post(url: str, body: object) -> tuple[int, dict[str, Any]]:
    request = urllib.request.Request(url, json.dumps(body).encode(), method="POST")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_lent_vectors_are_our_encoders_own() -> None:
    embedder = HashEmbedder(8)
    with LentEmbedder(embedder) as lent:
        url = f"{lent.endpoint.url}/embeddings"
        status, plain = post(url, {"input": ["otters eat", "moss"], "model": "any"})
        _, coded = post(url, {"input": "otters eat", "encoding_format": "base64"})
    assert status == 200
    rows = [item["embedding"] for item in plain["data"]]
    assert rows == embedder.embed(["otters eat", "moss"]).tolist()
    raw = base64.b64decode(coded["data"][0]["embedding"])
    assert struct.unpack("<8f", raw) == pytest.approx(rows[0])
    assert lent.texts == 3
    assert lent.endpoint.dims == 8
    assert "text-embedding" in lent.endpoint.model


def test_what_cannot_be_embedded_is_refused() -> None:
    class Broken(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            raise ModelError("out of memory")

    with LentEmbedder(Broken()) as lent:
        url = f"{lent.endpoint.url}/embeddings"
        assert post(url, {"input": [[1, 2]]})[0] == 400
        assert post(url, {"input": []})[0] == 400
        assert post(url, {})[0] == 400
        assert post(url.replace("/v1", "/v2"), {"input": "x"})[0] == 404
        assert post(url, {"input": "x"}) == (
            500,
            {"error": {"message": "out of memory", "type": "invalid_request_error"}},
        )
