"""QASC (Khot et al., 2020): multiple-choice questions, each composed of two facts.

One question a line: ``id``, ``question`` (``stem``, ``choices`` with ``label`` and ``text``),
``answerKey``, ``fact1``, ``fact2``, ``combinedfact``; the corpus is a text file of one fact a
line. https://allenai.org/data/qasc

A fact is a document of one sentence without title. Facts of questions that the corpus file lacks
are added to it; without a corpus file they are the corpus. A question is asked with its choices,
as ``stem (A) … (B) …``: few stems can be answered without. Right are the choice's text, its
label, and both together. ``combinedfact`` is the answer in other words and not read.
"""

from __future__ import annotations

from pathlib import Path

from resin_es.evaluation.datasets.building import dataset, joined_document, whole
from resin_es.evaluation.datasets.lines import Row, as_row, files_in, read_jsonl, read_lines
from resin_es.evaluation.values import EvalDataset, EvalDocument, EvalQuestion, GoldSentence
from resin_es.model.base import content_id

FACTS = ("fact1", "fact2")


def find(path: Path) -> tuple[Path, ...]:
    """Raises InputError."""
    return files_in(path, "*.jsonl", what="QASC files (*.jsonl)")


def load_documents(path: Path) -> tuple[EvalDocument, ...]:
    """Raises InputError, RecordError."""
    return tuple(_facts(path, list(read_jsonl(path, "id", "question"))).values())


def load(path: Path, *, max_bytes: int | None = None) -> EvalDataset:
    """One file, with the ``*.txt`` files beside it as corpus. Raises InputError, RecordError."""
    rows = list(read_jsonl(path, "id", "question"))
    facts = _facts(path, rows)
    questions = [_question(row, facts) for row in rows]
    return dataset(path.stem, tuple(facts.values()), questions, str(path), max_bytes=max_bytes)


def _facts(path: Path, rows: list[Row]) -> dict[str, EvalDocument]:
    """Facts by id, the corpus files' first."""
    facts: dict[str, EvalDocument] = {}
    for corpus in sorted(path.parent.glob("*.txt")):
        for _, line in read_lines(corpus):
            _add(facts, line)
    for row in rows:
        for name in FACTS:
            _add(facts, row.text(name, ""))
    return facts


def _fact_id(text: str) -> str:
    return content_id(" ".join(text.split()), length=20)


def _add(facts: dict[str, EvalDocument], text: str) -> None:
    key = _fact_id(text)
    if text.strip() and key not in facts:
        facts[key] = joined_document(key, "", [(f"{key}#0", text.strip())])


def _question(row: Row, facts: dict[str, EvalDocument]) -> EvalQuestion:
    asked = as_row(row.fields["question"], f"{row.where}, question")
    choices = {choice.text("label"): choice.text("text") for choice in asked.rows("choices")}
    label = row.text("answerKey", "")
    if label and label not in choices:
        raise row.error(f"answerKey {label!r} is none of its choices.")
    gold = dict.fromkeys(_fact_id(text) for name in FACTS if (text := row.text(name, "")).strip())
    return EvalQuestion(
        id=row.key("id"),
        question=" ".join(
            [asked.text("stem"), *(f"({key}) {text}" for key, text in choices.items())]
        ),
        answer=choices.get(label, ""),
        aliases=(label, f"({label}) {choices[label]}") if label else (),
        gold=tuple(GoldSentence(id=key, places=(whole(facts[key]),)) for key in gold),
    )
