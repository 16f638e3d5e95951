"""A made-up file of packed weights, small enough to be built in no time."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

WIDTH, HEADS, WIDE, POSITIONS = 32, 2, 64, 24
PIECES = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁bus", -1.0), ("▁", -2.0)]
PIECES += [(letter, -3.0) for letter in "query:pasgx"]


def packed(matrix: Any) -> tuple[bytes, Any]:
    """(blocks, the matrix they hold)."""
    parts = matrix.reshape(len(matrix), -1, 32)
    scales = (np.abs(parts).max(axis=-1) / 7).astype(np.float16)
    numbers = np.round(parts / scales[..., None]).clip(-8, 7)
    bytes_ = (numbers + 8).astype(np.uint8)
    halves = bytes_[..., :16] | (bytes_[..., 16:] << 4)
    rows = np.concatenate([scales[..., None].view(np.uint8), halves], axis=-1)
    held = (numbers * scales[..., None].astype(np.float32)).reshape(matrix.shape)
    return rows.tobytes(), held.astype(np.float32)


def tensors() -> dict[str, Any]:
    dice = np.random.default_rng(7)
    shapes = {"emb.word": (len(PIECES), WIDTH)}
    for name, rows, columns in (
        *((x, WIDTH, WIDTH) for x in ("q", "k", "v", "ao")),
        ("fi", WIDE, WIDTH),
        ("fo", WIDTH, WIDE),
    ):
        shapes[f"l0.{name}.w"], shapes[f"l0.{name}.b"] = (rows, columns), (rows,)
    for name in ("emb.ln", "l0.aln", "l0.oln"):
        shapes[f"{name}.w"] = shapes[f"{name}.b"] = (WIDTH,)
    shapes["emb.pos"], shapes["emb.type"] = (POSITIONS * WIDTH,), (2 * WIDTH,)
    return {name: dice.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def written() -> tuple[bytes, dict[str, Any]]:
    """(a file, the values that it holds)."""
    held: dict[str, Any] = {}
    pieces = [text.encode() for text, _ in PIECES]
    data = b"E5S1" + struct.pack("<I7i", 1, WIDTH, 1, HEADS, WIDE, len(PIECES), POSITIONS, 2)
    data += struct.pack("<f6i", 1e-12, 32, len(PIECES), 0, 2, 1, 3)
    data += struct.pack("<Q", sum(map(len, pieces)))
    data += struct.pack(f"<{len(pieces) + 1}I", *np.cumsum([0, *map(len, pieces)]))
    data += struct.pack(f"<{len(pieces)}f", *(score for _, score in PIECES))
    data += b"".join(pieces) + struct.pack("<iI", 0, 3) + b"map"
    content: dict[str, tuple[int, int, bytes]] = {}
    for name, values in tensors().items():
        if values.ndim == 2:
            raw, held[name] = packed(values)
            content[name] = (1, values.size, raw)
        else:
            held[name], raw = values, values.tobytes()
            content[name] = (0, values.size, raw)
    at = len(data) + 4 + sum(2 + len(name) + 21 for name in content)
    directory, bodies = struct.pack("<i", len(content)), b""
    for name, (kind, count, raw) in content.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, count, at + len(bodies), len(raw))
        bodies += raw
    return data + directory + bodies, held
