"""What a model folder says about its texts, and that the runtimes do it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resin_es.adapters.encoder import Encoder, described, pooling_of, prefixes
from resin_es.adapters.onnx import OnnxEmbedder, pooled
from resin_es.errors import ModelUnavailable

WORDS = ["[PAD]", "[UNK]", "[CLS]", "query", "passage", ":", "bus", "tram", "fare"]
MODULES = [
    {"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
]


def put(folder: Path, files: Mapping[str, Any]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


class TestPrefixes:
    def test_a_model_s_own(self) -> None:
        told = {"prompts": {"query": "ask: ", "document": "read: "}}
        assert prefixes(told, "anything") == ("ask: ", "read: ")
        assert prefixes({"prompts": {"query": "q: ", "passage": "p: "}}, "x") == ("q: ", "p: ")

    def test_a_default_holds_for_both(self) -> None:
        told = {"prompts": {"both": "text: "}, "default_prompt_name": "both"}
        assert prefixes(told, "x") == ("text: ", "text: ")

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("multilingual-e5-small-q4", ("query: ", "passage: ")),
            ("multilingual-e5-large-instruct", ("", "")),
            ("snowflake-arctic-embed-m-v2.0", ("query: ", "")),
            ("nomic-embed-text-v1.5", ("search_query: ", "search_document: ")),
            ("all-MiniLM-L12-v2", ("", "")),
            ("gte-small", ("", "")),
        ],
    )
    def test_a_family_s_where_the_files_name_none(
        self, name: str, expected: tuple[str, str]
    ) -> None:
        assert prefixes({}, name) == expected
        assert prefixes({"prompts": {"query": "", "document": ""}}, name) == expected

    @pytest.mark.parametrize("name", ["bge-small-en-v1.5", "snowflake-arctic-embed-xs"])
    def test_an_instruction_before_questions_alone(self, name: str) -> None:
        query, passage = prefixes({}, name)
        assert query.endswith(": ")
        assert passage == ""


class TestDescribed:
    def test_an_empty_folder_is_as_minilm(self, tmp_path: Path) -> None:
        assert described(tmp_path, "mine") == Encoder()
        assert described(tmp_path, "mine").named("mine") == "mine"

    def test_pooling_from_the_module_s_folder(self, tmp_path: Path) -> None:
        modules = [dict(MODULES[0]), {**MODULES[1], "path": "elsewhere"}]
        put(tmp_path, {"modules.json": modules})
        put(tmp_path, {"elsewhere/config.json": {"pooling_mode_cls_token": True}})
        assert described(tmp_path, "x").pooling == "cls"

    def test_pooling_old_and_new(self) -> None:
        assert pooling_of({"pooling_mode": "lasttoken"}) == "lasttoken"
        assert pooling_of({"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}) == (
            "cls+max"
        )
        assert pooling_of({"pooling_mode_mean_tokens": True}) == "mean"

    @pytest.mark.parametrize(
        ("files", "expected"),
        [
            ({"sentence_bert_config.json": {"max_seq_length": 128}}, 128),
            ({"tokenizer_config.json": {"model_max_length": 512}}, 512),
            ({"tokenizer_config.json": {"model_max_length": 10**30}}, 256),
            ({"config.json": {"max_position_embeddings": 514, "model_type": "xlm-roberta"}}, 512),
            (
                {
                    "sentence_bert_config.json": {"max_seq_length": 8192},
                    "config.json": {"max_position_embeddings": 512},
                },
                512,
            ),
        ],
    )
    def test_length(self, tmp_path: Path, files: dict[str, Any], expected: int) -> None:
        assert described(put(tmp_path, files), "x").max_length == expected

    def test_a_broken_file_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "modules.json").write_text("{")
        with pytest.raises(ModelUnavailable, match=r"modules\.json cannot be read"):
            described(tmp_path, "x")

    def test_another_treatment_is_another_name(self) -> None:
        names = {
            Encoder(**change).named("m")
            for change in (
                {},
                {"query_prefix": "q"},
                {"passage_prefix": "q"},
                {"pooling": "cls"},
                {"max_length": 512},
            )
        }
        assert len(names) == 5
        assert all(name.startswith("m") for name in names)


def test_pooling_of_states() -> None:
    states = np.array([[[4, 0], [0, 2], [9, 9]], [[0, 3], [9, 9], [9, 9]]], dtype=np.float32)
    mask = np.array([[1, 1, 0], [1, 0, 0]], dtype=np.int64)
    assert np.allclose(pooled(states, mask, "cls"), [[1, 0], [0, 1]])
    assert np.allclose(pooled(states, mask, "lasttoken"), [[0, 1], [0, 1]])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model whose word pieces are unit vectors, one dimension a word."""
    onnx = pytest.importorskip("onnx")
    tokenizers = pytest.importorskip("tokenizers")
    pytest.importorskip("onnxruntime")
    made = tmp_path / "tiny"
    made.mkdir()
    helper, kind = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [helper.make_node("Gather", ["words", "input_ids"], ["states"])],
        "tiny",
        [helper.make_tensor_value_info("input_ids", kind.INT64, ["texts", "pieces"])],
        [helper.make_tensor_value_info("states", kind.FLOAT, ["texts", "pieces", len(WORDS)])],
        [onnx.numpy_helper.from_array(np.eye(len(WORDS), dtype=np.float32), "words")],
    )
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    (made / "model.onnx").write_bytes(model.SerializeToString())
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", 2)]
    )
    tokenizer.save(str(made / "tokenizer.json"))
    return put(made, {"modules.json": MODULES})


def words_of(vector: Any) -> dict[str, float]:
    return {WORDS[at]: round(float(vector[at] ** 2), 3) for at in np.flatnonzero(vector > 1e-6)}


class TestFolder:
    def test_prefixes_go_before_questions_and_passages(self, folder: Path) -> None:
        put(
            folder,
            {
                "config_sentence_transformers.json": {
                    "prompts": {"query": "query: ", "document": "passage: "}
                }
            },
        )
        embedder = OnnxEmbedder(folder)
        each = 0.25
        assert words_of(embedder.embed(["bus"])[0]) == {
            "[CLS]": each, "passage": each, ":": each, "bus": each,
        }  # fmt: skip
        assert words_of(embedder.embed_queries(["bus"])[0]) == {
            "[CLS]": each, "query": each, ":": each, "bus": each,
        }  # fmt: skip
        assert embedder.identity.name.startswith("tiny+")
        assert embedder.identity.dims == len(WORDS)

    def test_without_prefixes_the_two_are_the_same(self, folder: Path) -> None:
        embedder = OnnxEmbedder(folder)
        texts = ["bus fare", "tram"]
        assert (embedder.embed(texts) == embedder.embed_queries(texts)).all()
        assert embedder.identity.name == "tiny"

    def test_cls(self, folder: Path) -> None:
        put(folder, {"1_Pooling/config.json": {"pooling_mode_cls_token": True}})
        assert words_of(OnnxEmbedder(folder).embed(["bus fare"])[0]) == {"[CLS]": 1}

    def test_length_counts_markers_and_prefix(self, folder: Path) -> None:
        put(folder, {"sentence_bert_config.json": {"max_seq_length": 3}})
        assert set(words_of(OnnxEmbedder(folder).embed(["bus fare tram"])[0])) == {
            "[CLS]", "bus", "fare",
        }  # fmt: skip

    def test_a_graph_in_its_own_folder_is_described_above(self, folder: Path) -> None:
        put(folder, {"1_Pooling/config.json": {"pooling_mode": "cls"}})
        (folder / "onnx").mkdir()
        (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
        assert words_of(OnnxEmbedder(folder).embed(["bus"])[0]) == {"[CLS]": 1}

    @pytest.mark.parametrize(
        ("files", "lacking"),
        [
            ({"1_Pooling/config.json": {"pooling_mode_max_tokens": True}}, "pooling by max"),
            (
                {"modules.json": [*MODULES, {"type": "sentence_transformers.models.Dense"}]},
                "Dense",
            ),
        ],
    )
    def test_what_this_runtime_lacks_is_refused(
        self, folder: Path, files: dict[str, Any], lacking: str
    ) -> None:
        with pytest.raises(ModelUnavailable, match=lacking) as caught:
            OnnxEmbedder(put(folder, files)).embed(["bus"])
        assert "RESIN_EMBEDDER=sentence-transformers" in caught.value.hint
