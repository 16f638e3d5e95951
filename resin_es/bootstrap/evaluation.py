"""Evaluation on a store of its own: index the data set, run every system over its questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from resin_es.bootstrap.services import Services
from resin_es.bootstrap.stages import query_settings
from resin_es.evaluation.baselines import sentence_baselines
from resin_es.evaluation.datasets import EvalDataset, Span, load_holisqa
from resin_es.evaluation.run import BUDGETS, EvalResult, evaluate
from resin_es.evaluation.slices import sliced
from resin_es.index.filters import Filters
from resin_es.model import EVERYONE, Document, Principal
from resin_es.ports import Progress, UnitStore
from resin_es.query.engine import QueryEngine
from resin_es.settings import load_settings

EVAL_GROUP = Principal()
"""Evaluation documents are public: whoever asks may read them."""


class LastSearch:
    """A store that remembers the answers to its last question's searches and fetches, so that
    asking it at several budgets costs one search. Everything else is the store's own."""

    def __init__(self, store: UnitStore) -> None:
        self._store = store
        self._answers: dict[str, Any] = {}

    def forget(self) -> None:
        """A new question begins."""
        self._answers.clear()

    def search(self, addresses: Any, documents: Any) -> Any:
        key = json.dumps(["search", addresses, documents])
        return self._remembered(key, lambda: self._store.search(addresses, documents))

    def fetch(self, passage_ids: Any, keys: Any) -> Any:
        key = json.dumps(["fetch", passage_ids, keys])
        return self._remembered(key, lambda: self._store.fetch(passage_ids, keys))

    def _remembered(self, key: str, answer: Callable[[], Any]) -> Any:
        if key not in self._answers:
            self._answers[key] = answer()
        return self._answers[key]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class ResinSystem:
    """RESIN as a row of an evaluation."""

    def __init__(self, name: str, services: Services, sources: Sequence[str]) -> None:
        self.name = name
        self._store = LastSearch(services.store)
        self._engine = QueryEngine(
            cast(UnitStore, self._store),
            services.embedder,
            services.planner,
            services.composer,
            query_settings(services.settings),
        )
        self._filters = Filters(sources=tuple(sources))
        self._asked = ""

    def evidence(self, question: str, budget: int) -> list[Span]:
        """Spans of the buffer's sentences. Raises ResinError."""
        if question != self._asked:
            self._store.forget()
            self._asked = question
        found = self._engine.retrieve(question, EVAL_GROUP, self._filters, budget=budget)
        return [
            Span(document_id=passage.document_id, start=sentence.start, end=sentence.end)
            for passage in found.buffer.passages
            for sentence in passage.sentences
        ]


def evaluate_holisqa(
    folder: Path,
    *,
    limit: int | None = None,
    documents: int | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> list[EvalResult]:
    """Index every domain of ``folder`` (only what changed) and evaluate it.

    Raises InputError, StoreError, ModelError.
    """
    datasets = [sliced(one, questions=limit, documents=documents) for one in load_holisqa(folder)]
    settings = load_settings()
    services = Services(
        settings.model_copy(update={"prefix": f"{settings.prefix}-eval", "traces": False}),
        progress=progress,
    )
    services.ensure_installed(anywhere=True)
    results = []
    for dataset in datasets:
        source = f"holisqa-{dataset.name}" + (f"-{documents}" if documents else "")
        report = services.indexer.index(
            (_document(one.id, one.title, one.text, source) for one in dataset.documents),
            progress=progress,
            total=len(dataset.documents),
        )
        say(
            f"{dataset.name}: {report.documents} documents, {report.units} units read in "
            f"{report.seconds:.0f} s"
        )
        results.append(_evaluate(services, dataset, source, limit, progress))
    return results


def _document(external_id: str, title: str, text: str, source: str) -> Document:
    return Document(
        source=source, external_id=external_id, title=title, text=text, access=(EVERYONE,)
    )


def _evaluate(
    services: Services,
    dataset: EvalDataset,
    source: str,
    limit: int | None,
    progress: Progress | None,
) -> EvalResult:
    def embed(text: str) -> Sequence[float]:
        row: list[float] = services.embedder.embed([text])[0].tolist()
        return row

    baselines = sentence_baselines(services.store, embed, EVAL_GROUP, [source])
    system = ResinSystem("RESIN", services, [source])
    return evaluate(dataset, [*baselines, system], BUDGETS, limit, progress)
