"""The package's file of weights, read.

It holds the published model with every matrix in blocks of 32 four-bit numbers and one float16
scale each, a vocabulary, and named float32 vectors.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

BLOCK = 32
MAGIC = b"E5S1"


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
