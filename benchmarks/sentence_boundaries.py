"""Sentence boundaries against a data set's own, and how fast they are found.

    python benchmarks/sentence_boundaries.py FOLDER

FOLDER holds ``sentences.jsonl`` of HolisQA (objects with article_id, sent_idx, text). Each
article's sentences are joined by a space and split again; a boundary is the offset at which a
sentence ends. The data set splits after abbreviations and initials itself ("E." | "coli"), so
recall is told twice: against all its boundaries, and without those before a lower-case letter
or after an initial or one of a few abbreviations.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import defaultdict
from pathlib import Path

from resin_es.extract.sentences import split_sentences

_SLIP = re.compile(
    r"(?:^|[\s(\[>;])(?:[A-Z]\.?[A-Z]?|vs|i\.e|e\.g|et al|sp|spp|subsp|var|nov|syn|no|Dr|Prof|PT"
    r"|fam|comb|viz|cf|ca|approx|Fig|a\.e)\s?\.$"
)


def articles(path: Path) -> list[list[str]]:
    """The sentences of each article, in order."""
    held: dict[str, list[tuple[int, str]]] = defaultdict(list)
    with path.open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            held[record["article_id"]].append((record["sent_idx"], record["text"].strip()))
    return [[text for _, text in sorted(parts)] for parts in held.values()]


def main(folder: str) -> None:
    right = extra = missed = slips = count = 0
    seconds = 0.0
    split_sentences("Loads the library. Once.")
    for parts in articles(Path(folder) / "sentences.jsonl"):
        text = " ".join(parts)
        gold: set[int] = set()
        end = -1
        for part in parts[:-1]:
            end += 1 + len(part)
            gold.add(end)
        started = time.process_time()
        found = {end for _, end in split_sentences(text)[:-1]}
        seconds += time.process_time() - started
        count += len(parts)
        right += len(gold & found)
        extra += len(found - gold)
        for at in gold - found:
            slip = text[at:].lstrip()[:1].islower() or _SLIP.search(text[max(0, at - 12) : at])
            slips += bool(slip)
            missed += not slip
    print(f"precision {right / (right + extra):.4f}, {extra} of ours are not in the data set")
    print(f"recall    {right / (right + missed + slips):.4f} of all its boundaries,")
    print(f"          {right / (right + missed):.4f} without {slips} slips; {missed} missed")
    print(f"speed     {count / seconds:,.0f} sentences/s of processor time")


if __name__ == "__main__":
    main(sys.argv[1])
