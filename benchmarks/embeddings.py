"""Texts per second of the embedding runtimes, side by side, in one run on one machine.

    python benchmarks/embeddings.py [--texts FILE.jsonl] [--limit 200] [--rounds 3] [--json]

FILE.jsonl holds objects with ``text``; without it, made-up sentences of 5 to 70 words serve. Every
runtime embeds the same texts, the runtimes take turns, and the best round of each counts.
``ratio`` is against ONNX with one batch at a time. CPU seconds stand beside the wall clock, since
on a busy machine only they compare. Runtimes that are not installed are left out, and named.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from resin_es.adapters.onnx import OnnxEmbedder
from resin_es.adapters.sentence_transformers import SentenceTransformersEmbedder
from resin_es.errors import ModelUnavailable
from resin_es.index.vectors import embed_cached

if TYPE_CHECKING:
    from resin_es.ports import Embedder

BASE = "onnx, 1 batch at a time"
WORDS = "the line station fare zone ticket snow bridge signal depot driver because unless".split()


class Cached:
    """A warm content cache before an embedder: what an unchanged corpus costs."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._cache: dict[str, bytes] = {}

    def embed(self, texts: Sequence[str]) -> object:
        cache = self._cache
        return embed_cached(
            texts,
            self._embedder,
            lambda keys: {key: cache[key] for key in keys if key in cache},
            cache.update,
        )


def runtimes() -> dict[str, Callable[[Sequence[str]], object]]:
    """Name to ``embed``. ONNX with large batches shows what bounding them brings."""
    return {
        BASE: OnnxEmbedder(threads=1).embed,
        "onnx, default": OnnxEmbedder().embed,
        "onnx, batches of 4096 tokens": OnnxEmbedder(max_tokens_per_batch=4096).embed,
        "onnx, warm cache": Cached(OnnxEmbedder()).embed,
        "sentence-transformers, default": SentenceTransformersEmbedder(device="cpu").embed,
        "sentence-transformers, batches of 512 tokens": SentenceTransformersEmbedder(
            device="cpu", max_tokens_per_batch=512
        ).embed,
    }


def measure(texts: Sequence[str], rounds: int) -> tuple[list[dict[str, object]], list[str]]:
    """(rows, names of runtimes left out)."""
    best: dict[str, tuple[float, float]] = {}
    usable, missing = runtimes(), []
    for name in list(usable):
        try:
            usable[name](texts if "cache" in name else texts[:2])
        except ModelUnavailable as error:
            missing.append(f"{name}: {error}")
            del usable[name]
    for _ in range(rounds):
        for name, embed in usable.items():
            wall, cpu = time.perf_counter(), time.process_time()
            embed(texts)
            spent = (time.perf_counter() - wall, time.process_time() - cpu)
            best[name] = min(spent, best.get(name, spent))
    rows: list[dict[str, object]] = [
        {
            "runtime": name,
            "texts_per_second": round(len(texts) / wall, 1),
            "texts_per_cpu_second": round(len(texts) / cpu, 1),
            "ratio": round(best[BASE][0] / wall, 2),
        }
        for name, (wall, cpu) in best.items()
    ]
    return rows, missing


def sentences(path: Path | None, limit: int) -> list[str]:
    """Distinct texts to embed."""
    if path is not None:
        with path.open(encoding="utf-8") as lines:
            return list(dict.fromkeys(json.loads(line)["text"] for line in islice(lines, limit)))
    dice = random.Random(7)
    return [" ".join(dice.choices(WORDS, k=dice.randint(5, 70))) for _ in range(limit)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows, missing = measure(sentences(options.texts, options.limit), options.rounds)
    for note in missing:
        print(f"left out: {note}", file=sys.stderr)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'runtime':<46} {'texts/s':>8} {'per CPU s':>10} {'ratio':>6}")
    for row in rows:
        print(
            f"{row['runtime']:<46} {row['texts_per_second']:>8} "
            f"{row['texts_per_cpu_second']:>10} {row['ratio']:>6}"
        )


if __name__ == "__main__":
    main()
