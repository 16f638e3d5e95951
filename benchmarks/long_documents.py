"""Make a data set of long documents out of one of short ones, for `resin-es eval own`.

    python benchmarks/long_documents.py HOLISQA/biology --out biology-long
    resin-es eval own --data biology-long --systems baselines,known,resin,one-hop

Most sets of questions come with abstracts, which an evidence budget holds whole; what a team has
is mostly longer. Here documents drawn at random are put one after the other, four to a document,
under the title of the first. The questions and their gold sentences stay the same, so the recall
of the short documents is what can be reached. `docs/quality.md` has the results.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from resin_es.evaluation.datasets import load
from resin_es.evaluation.values import EvalDataset, EvalDocument

BREAK = "\n\n"


def glued(
    documents: Sequence[EvalDocument], parts: int, seed: int
) -> tuple[list[dict[str, Any]], dict[str, tuple[str, int]]]:
    """Records of ``parts`` documents each, and where a document went: (record id, offset)."""
    shuffled = sorted(documents, key=lambda document: document.id)
    random.Random(seed).shuffle(shuffled)
    records: list[dict[str, Any]] = []
    places: dict[str, tuple[str, int]] = {}
    for start in range(0, len(shuffled), parts):
        members, name, offset = shuffled[start : start + parts], f"long-{start // parts}", 0
        for member in members:
            places[member.id] = (name, offset)
            offset += len(member.text) + len(BREAK)
        text = BREAK.join(member.text for member in members)
        records.append({"id": name, "title": members[0].title, "text": text})
    return records, places


def questions(data: EvalDataset, places: dict[str, tuple[str, int]]) -> Iterator[dict[str, Any]]:
    """Every question, its gold moved to where its documents went."""
    for question in data.questions:
        gold = []
        for sentence in question.gold:
            own = sentence.places[0]  # the loader finds those of the same words again
            name, offset = places[own.document_id]
            gold.append({"document": name, "start": offset + own.start, "end": offset + own.end})
        yield {
            "id": question.id,
            "question": question.question,
            "answer": question.answer,
            "gold": gold,
        }


def write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="folder of one HolisQA domain")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--parts", type=int, default=4, help="documents in a long one")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    [data] = load("holisqa", given.data)
    records, places = glued(data.documents, given.parts, given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out / "documents.jsonl", records)
    write(given.out / "questions.jsonl", list(questions(data, places)))
    print(f"{len(records)} documents of {len(data.documents)}, {len(data.questions)} questions")


if __name__ == "__main__":
    main()
