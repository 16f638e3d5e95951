"""Draw units of a corpus for a blind judgement, and count what the reader reached.

    python benchmarks/units_sample.py DOCUMENTS.jsonl --out sample.jsonl \\
        --seed $(git rev-parse HEAD)

Reads every document as `resin-es index` does, with the syntax reader and without a store, and
draws units at random; the seed makes the draw repeatable. Each line holds what a judge needs:
the unit's fields, its quote, the sentences of its passage. `--passages` draws passages instead,
each with its document. `docs/quality.md` has the results.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from resin_es.adapters.syntax.reader import SyntaxReader
from resin_es.extract.read import Reading, read_many
from resin_es.model import EVERYONE, Document, Passage, Unit

BATCH = 64
SHOWN = (
    "kind", "subject", "entity_type", "surface_predicate", "object", "conditions", "conclusion",
    "source_state", "target_state", "modality", "polarity", "scope", "aliases",
)  # fmt: skip


def documents(path: Path) -> Iterator[Document]:
    """Documents of a JSONL file, as `resin-es convert` writes it."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield Document(
                source="sample",
                external_id=record["id"],
                title=record.get("title", ""),
                text=record["text"],
                access=(EVERYONE,),
            )


def readings(path: Path) -> Iterator[Reading]:
    """Read all documents, batch by batch."""
    reader = SyntaxReader()
    batch: list[Document] = []
    for document in documents(path):
        batch.append(document)
        if len(batch) == BATCH:
            yield from read_many([(one, None) for one in batch], reader)
            batch = []
    yield from read_many([(one, None) for one in batch], reader)


def judged(unit: Unit, reading: Reading) -> dict[str, Any]:
    """What a judge sees of a unit."""
    sentences = {sentence.id: sentence.text for sentence in reading.sentences}
    passage = next(one for one in reading.passages if one.id == unit.passage_id)
    claim = unit.claim.model_dump(mode="json")
    return {
        "unit": {name: claim[name] for name in SHOWN if claim.get(name)},
        "statement": unit.statement,
        "quote": unit.quote,
        "sentences": [sentences[one] for one in unit.sentence_ids],
        "passage": passage.text,
    }


def judged_passage(passage: Passage, reading: Reading) -> dict[str, Any]:
    """What a judge sees of a passage: its fields, and its neighbours' texts."""
    at = reading.passages.index(passage)
    return {
        "passage": passage.model_dump(
            mode="json", include={"text", "main_entity", "entity_type", "focus", "role"}
        ),
        "before": reading.passages[at - 1].text if at else "",
        "after": reading.passages[at + 1].text if at + 1 < len(reading.passages) else "",
    }


def summary(found: Sequence[Reading]) -> dict[str, Any]:
    """Reach: which share of the English sentences has a unit; units by kind; rejects."""
    english = [one for one in found if not one.unread_language]
    sentences = sum(len(one.sentences) for one in english)
    reached = sum(len({s for unit in one.new_units for s in unit.sentence_ids}) for one in english)
    units = [unit for one in found for unit in one.new_units]
    rejected: Counter[str] = Counter()
    for one in found:
        rejected.update(one.rejected)
    return {
        "documents": len(found),
        "documents_read": len(english),
        "sentences": sum(len(one.sentences) for one in found),
        "english_sentences": sentences,
        "reached": round(reached / sentences, 4),
        "units": len(units),
        "units_per_sentence": round(len(units) / sentences, 3),
        "kinds": dict(Counter(unit.kind for unit in units).most_common()),
        "rejected": dict(rejected.most_common()),
        "failures": sum(len(one.failures) for one in found),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--passages", action="store_true")
    given = parser.parse_args()
    found = list(readings(given.documents))
    rows: list[tuple[str, dict[str, Any]]] = []
    for one in found:
        if given.passages and not one.unread_language:
            rows += [(passage.id, judged_passage(passage, one)) for passage in one.passages]
        elif not given.passages:
            rows += [(unit.id, judged(unit, one)) for unit in one.new_units]
    drawn = random.Random(given.seed).sample(sorted(rows, key=lambda row: row[0]), given.n)
    with given.out.open("w", encoding="utf-8") as out:
        for _, row in drawn:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    json.dump(summary(found), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
