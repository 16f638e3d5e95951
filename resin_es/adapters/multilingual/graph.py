"""The encoder's folder written: an ONNX graph of standard operators, a ``tokenizer.json`` and the
files that say how texts are treated. Word vectors stay packed, matrices become float32.

Change ``folder.CONVERTER`` with whatever changes what is written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from resin_es.adapters.multilingual.weights import Weights, blocks, unpacked

FILES: dict[str, Any] = {
    "modules.json": [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {
            "idx": 1,
            "name": "1",
            "path": "1_Pooling",
            "type": "sentence_transformers.models.Pooling",
        },
        {
            "idx": 2,
            "name": "2",
            "path": "2_Normalize",
            "type": "sentence_transformers.models.Normalize",
        },
    ],
    "1_Pooling/config.json": {"pooling_mode_mean_tokens": True},
    "config_sentence_transformers.json": {"prompts": {"query": "query: ", "document": "passage: "}},
}


class Graph:
    """Collects the nodes and constants of the encoder (BERT's architecture)."""

    def __init__(self, weights: Weights) -> None:
        self.weights, self.tensors = weights, weights.tensors
        self.constants: set[str] = set()
        # Filled in place: whatever takes finished parts copies them, 140 MB each time.
        opset = [helper.make_opsetid("", 20)]
        empty = helper.make_graph([], "e5", [], [])
        self.made = helper.make_model(empty, opset_imports=opset, ir_version=9)

    def const(self, name: str, value: Any, kind: Any = None) -> str:
        if name not in self.constants:
            self.constants.add(name)
            array = np.ascontiguousarray(np.asarray(value, dtype=kind))
            self.made.graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        nodes = self.made.graph.node
        name = f"v{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def model(self) -> Any:
        """input_ids and attention_mask (texts, pieces) to states (texts, pieces, width)."""
        states = self.embedded()
        seen = self.op("Cast", "attention_mask", to=TensorProto.FLOAT)
        seen = self.op("Sub", seen, self.const("one", 1, np.float32))
        seen = self.op("Mul", seen, self.const("far", 1e4, np.float32))
        mask = self.op("Unsqueeze", seen, self.const("axes", [1, 2], np.int64))
        for layer in range(self.weights.layers):
            states = self.layer(states, mask, f"l{layer}.")
        info, both = helper.make_tensor_value_info, ["texts", "pieces"]
        for name in ("input_ids", "attention_mask"):
            self.made.graph.input.append(info(name, TensorProto.INT64, both))
        self.made.graph.output.append(info(states, TensorProto.FLOAT, [*both, self.weights.width]))
        return self.made

    def embedded(self) -> str:
        """Word vectors, unpacked row by row as they are needed, and places."""
        scales, numbers = blocks(self.tensors["emb.word"], self.weights.words)
        packed = self.op("Gather", self.const("word.numbers", numbers), "input_ids")
        low = self.op("BitwiseAnd", packed, self.const("low", 15, np.uint8))
        high = self.op("BitShift", packed, self.const("four", 4, np.uint8), direction="RIGHT")
        whole = self.op("Concat", low, high, axis=-1)
        whole = self.op("Cast", whole, to=TensorProto.FLOAT)
        whole = self.op("Sub", whole, self.const("eight", 8, np.float32))
        scale = self.op("Gather", self.const("word.scales", scales), "input_ids")
        scale = self.op("Cast", scale, to=TensorProto.FLOAT)
        scale = self.op("Unsqueeze", scale, self.const("last", [-1], np.int64))
        words = self.op("Reshape", self.op("Mul", whole, scale), self._flat())
        kinds = self.tensors["emb.type"].reshape(-1, self.weights.width)[0]
        places = self.tensors["emb.pos"].reshape(-1, self.weights.width) + kinds
        zero = self.const("zero", [0], np.int64)
        length = self.op("Shape", "input_ids", start=1, end=2)
        places_used = self.op("Slice", self.const("places", places), zero, length, zero)
        return self.norm(self.op("Add", words, places_used), "emb.ln")

    def layer(self, states: str, mask: str, at: str) -> str:
        attended = self.linear(self.attention(states, mask, at), at + "ao")
        states = self.norm(self.op("Add", states, attended), at + "aln")
        wide = self.op("Gelu", self.linear(states, at + "fi"))
        return self.norm(self.op("Add", states, self.linear(wide, at + "fo")), at + "oln")

    def attention(self, states: str, mask: str, at: str) -> str:
        each = self.weights.width // self.weights.heads
        heads = self.const("heads", [0, 0, self.weights.heads, each], np.int64)
        query, key, value = (
            self.op("Reshape", self.linear(states, at + name), heads) for name in "qkv"
        )
        query = self.op("Mul", query, self.const("scale", each**-0.5, np.float32))
        query = self.op("Transpose", query, perm=[0, 2, 1, 3])
        key = self.op("Transpose", key, perm=[0, 2, 3, 1])
        value = self.op("Transpose", value, perm=[0, 2, 1, 3])
        scores = self.op("Add", self.op("MatMul", query, key), mask)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), value)
        return self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self._flat())

    def linear(self, states: str, name: str) -> str:
        bias = self.tensors[name + ".b"]
        matrix = unpacked(self.tensors[name + ".w"], len(bias)).T
        product = self.op("MatMul", states, self.const(name + ".w", matrix))
        return self.op("Add", product, self.const(name + ".b", bias))

    def norm(self, states: str, name: str) -> str:
        scale, bias = (self.const(f"{name}.{x}", self.tensors[f"{name}.{x}"]) for x in "wb")
        epsilon = self.weights.epsilon
        return self.op("LayerNormalization", states, scale, bias, axis=-1, epsilon=epsilon)

    def _flat(self) -> str:
        return self.const("flat", [0, 0, self.weights.width], np.int64)


def tokenizer(vocabulary: list[tuple[str, float]]) -> Any:
    """XLM-RoBERTa's: its normalisation is NFKC, but for controls (dropped) and odd spaces."""
    made = Tokenizer(models.Unigram(vocabulary, unk_id=3, byte_fallback=False))
    made.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex("[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"), ""),
            normalizers.Replace(
                Regex("[\t\n\x0c\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"), " "
            ),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always"),
        ]
    )
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return made


def write(weights: Weights, folder: Path) -> None:
    """``folder`` with everything the ONNX runtime reads."""
    folder.mkdir(parents=True, exist_ok=True)
    # Constants in a file of their own are mapped: processes share what they read of it.
    onnx.save_model(
        Graph(weights).model(),
        folder / "model.onnx",
        save_as_external_data=True,
        location="model.onnx.data",
        size_threshold=4096,
    )
    tokenizer(weights.vocabulary).save(str(folder / "tokenizer.json"))
    length = {"sentence_bert_config.json": {"max_seq_length": weights.positions}}
    for name, content in {**FILES, **length}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
