"""Figures that others published, to stand beside our own rows and labelled so.

The RESIN paper's tables 3 and 4 hold its own row and those that it took from CausalRAG2's paper;
LeanRAG, CausalRAG and CausalRAG2 are known to us by these figures alone. They come from another
judge, other embeddings and, for MS MARCO and QASC, other questions, so they are no rows of a run.
The numbers themselves stand in ``published.json``; a test reads them again from the paper.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from resin_es.evaluation.values import PublishedRow
from resin_es.model.base import Frozen

Study = Literal["k", "kind", "decomposition"]


class PublishedAblation(Frozen):
    """One variant of an ablation of the paper [4.5], in percent; None where the paper prints no
    number. ``variant`` is the k, the kind of unit (``all``: the mixed index), or whether the
    question was decomposed (``full``, ``none``)."""

    study: Study
    variant: str
    context_recall: float | None = None
    answer_relevancy: float | None = None
    source: str


def published_rows(scope: str | None = None) -> tuple[PublishedRow, ...]:
    """The rows of one scope in the paper's order, or of all.

    ``scope`` is a domain (``biology``), a data set (``ms_marco``, ``qasc``) or ``holisqa`` for
    all its questions, of which the paper prints only its own row. The name of a data set
    serves too: ``holisqa/biology`` and ``MS MARCO`` are found. A scope without figures gives
    none.
    """
    wanted = None if scope is None else _key(scope)
    return tuple(
        PublishedRow(
            system=system,
            scope=named,
            f1=f1,
            context_recall=recall,
            answer_relevancy=relevancy,
            source=table["source"],
        )
        for table in _figures()["tables"]
        for system, scopes in table["rows"].items()
        for named, (f1, recall, relevancy) in scopes.items()
        if wanted is None or _key(named) == wanted
    )


def published_ablations(study: Study | None = None) -> tuple[PublishedAblation, ...]:
    """The paper's ablations (figure 2 and table 5) over a part of HolisQA."""
    return tuple(
        PublishedAblation(
            study=part["study"],
            variant=variant,
            context_recall=recall,
            answer_relevancy=relevancy,
            source=part["source"],
        )
        for part in _figures()["ablations"]
        if study in (None, part["study"])
        for variant, (recall, relevancy) in part["variants"].items()
    )


def _key(scope: str) -> str:
    last = scope.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].lower()
    return "".join(letter for letter in last if letter.isalnum())


@lru_cache(maxsize=1)
def _figures() -> dict[str, Any]:
    text = (files(__package__) / "published.json").read_text("utf-8")
    figures: dict[str, Any] = json.loads(text)
    return figures


PAPER_ABLATIONS = published_ablations()
