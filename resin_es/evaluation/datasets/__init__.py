"""Evaluation sets: questions whose gold evidence is known as character spans of documents.

Each format is a module; ``load`` reads any of them by name. Gold stays on this side: nothing of
it goes into an index, a plan or a query but the question's own words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from resin_es.errors import InputError
from resin_es.evaluation.datasets import holisqa, hotpotqa, msmarco, musique, own, qasc
from resin_es.evaluation.datasets.holisqa import domain_folders, load_documents, load_holisqa
from resin_es.evaluation.values import (
    EvalDataset,
    EvalDocument,
    EvalQuestion,
    GoldSentence,
    SourceSentence,
    Span,
)

__all__ = [
    "DATASETS",
    "DatasetFormat",
    "EvalDataset",
    "EvalDocument",
    "EvalQuestion",
    "GoldSentence",
    "SourceSentence",
    "Span",
    "dataset_format",
    "domain_folders",
    "load",
    "load_documents",
    "load_holisqa",
]


def _as_recorded(document: EvalDocument) -> dict[str, Any]:
    return dict(document.record)


class Loader(Protocol):
    """Reads one data set, without documents over ``max_bytes`` (None: no limit)."""

    def __call__(self, path: Path, /, *, max_bytes: int | None = None) -> EvalDataset: ...


@dataclass(frozen=True)
class DatasetFormat:
    """How one format is read. ``find`` gives the data sets at a path (folders or files),
    ``documents`` the corpus of one of them, ``load`` all of it; ``index_fields`` what of a
    document goes into an index beside id, title and text."""

    about: str
    find: Callable[[Path], tuple[Path, ...]]
    documents: Callable[[Path], Sequence[EvalDocument]]
    load: Loader
    index_fields: Callable[[EvalDocument], dict[str, Any]] = _as_recorded


DATASETS: Mapping[str, DatasetFormat] = {
    "holisqa": DatasetFormat(
        "HolisQA: scientific abstracts by domain, gold by sentence.",
        domain_folders,
        holisqa.load_documents,
        holisqa.load_domain,
        holisqa.index_fields,
    ),
    "hotpotqa": DatasetFormat(
        "HotpotQA: Wikipedia paragraphs, two documents a question, gold by sentence.",
        hotpotqa.find,
        hotpotqa.load_documents,
        hotpotqa.load,
    ),
    "musique": DatasetFormat(
        "MuSiQue: Wikipedia paragraphs, chains of two to four, gold by paragraph.",
        musique.find,
        musique.load_documents,
        musique.load,
    ),
    "qasc": DatasetFormat(
        "QASC: school science, multiple choice, two facts a question.",
        qasc.find,
        qasc.load_documents,
        qasc.load,
    ),
    "msmarco": DatasetFormat(
        "MS MARCO QnA: web passages, one or more selected a question, gold by passage.",
        msmarco.find,
        msmarco.load_documents,
        msmarco.load,
    ),
    "own": DatasetFormat(
        "Your own documents.jsonl and questions.jsonl.",
        own.find,
        own.load_documents,
        own.load,
    ),
}
"""The formats by name, in the order in which they are listed."""


def dataset_format(name: str) -> DatasetFormat:
    """Raises InputError where no format has that name."""
    if name not in DATASETS:
        raise InputError(f"unknown data set {name!r}.", hint=f"Known: {', '.join(DATASETS)}.")
    return DATASETS[name]


def load(name: str, folder: Path, *, max_bytes: int | None = None) -> tuple[EvalDataset, ...]:
    """Every data set of format ``name`` in ``folder`` (or the one file that it is), by name.
    A document over ``max_bytes`` is left out (``EvalDataset.left_out`` says so), as it would be
    on the way into an index.

    Raises InputError (unknown format, nothing of it there, unreadable), RecordError (a broken
    line or field, or gold that is in no document).
    """
    known = dataset_format(name)
    return tuple(known.load(path, max_bytes=max_bytes) for path in known.find(folder))
