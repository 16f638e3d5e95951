"""MuSiQue (Trivedi et al., 2022): one question a line with its paragraphs.

``id`` (begins with the kind: ``2hop``, ``3hop1``, …), ``question``, ``answer``,
``answer_aliases``, ``answerable``, ``paragraphs`` (idx, title, paragraph_text, is_supporting),
``question_decomposition``. https://github.com/StonyBrookNLP/musique

Gold is marked by paragraph, so a gold sentence here is a whole paragraph, and half of its
characters must be in evidence; what a sentence-wise system should be judged by is document
recall. The decomposition is gold too and not read. Questions of the full set that are marked
unanswerable have neither answer nor gold.
"""

from __future__ import annotations

from pathlib import Path

from resin_es.evaluation.datasets.building import Corpus, dataset, whole
from resin_es.evaluation.datasets.lines import Row, files_in, read_jsonl
from resin_es.evaluation.values import EvalDataset, EvalDocument, EvalQuestion, GoldSentence


def find(path: Path) -> tuple[Path, ...]:
    """Raises InputError."""
    return files_in(path, "*.jsonl", what="MuSiQue files (*.jsonl)")


def load_documents(path: Path) -> tuple[EvalDocument, ...]:
    """Raises InputError, RecordError."""
    return _read(path)[0]


def load(path: Path, *, max_bytes: int | None = None) -> EvalDataset:
    """One file. Raises InputError, RecordError."""
    documents, questions = _read(path, max_bytes)
    return dataset(path.stem, documents, questions, str(path), max_bytes=max_bytes)


def _read(
    path: Path, max_bytes: int | None = None
) -> tuple[tuple[EvalDocument, ...], list[EvalQuestion]]:
    corpus = Corpus(max_bytes)
    rows = read_jsonl(path, "id", "question", "paragraphs")
    questions = [_question(row, corpus) for row in rows]
    return corpus.documents, questions


def _question(row: Row, corpus: Corpus) -> EvalQuestion:
    answerable = row.fields.get("answerable") is not False
    gold: dict[str, GoldSentence] = {}
    for paragraph in row.rows("paragraphs"):
        text = paragraph.text("paragraph_text")
        document = corpus.add_text(paragraph.text("title", ""), text)
        if answerable and paragraph.fields.get("is_supporting") is True and text.strip():
            gold[document.id] = GoldSentence(id=document.id, places=(whole(document),))
    return EvalQuestion(
        id=row.key("id"),
        question=row.text("question"),
        answer=row.text("answer", "") if answerable else "",
        aliases=row.strings("answer_aliases") if answerable else (),
        kind=row.key("id").partition("__")[0] if "__" in row.key("id") else "",
        gold=tuple(gold.values()),
    )
