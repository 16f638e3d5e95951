"""Index, rows, run, report: one data set after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from resin_es.bootstrap.evaluation.indexing import (
    READER_OF_ROWS,
    SOURCE,
    evaluation_services,
    facts,
    index_dataset,
    prefix_of,
)
from resin_es.bootstrap.evaluation.request import EvalRequest
from resin_es.bootstrap.evaluation.rows import Rows, catalogue, make_lanes
from resin_es.bootstrap.services import Services
from resin_es.errors import InputError, UsageError
from resin_es.evaluation.datasets import load
from resin_es.evaluation.failures import FailureDiagnosis, IndexedDocuments
from resin_es.evaluation.judging import Judge
from resin_es.evaluation.report import Report, as_dict, as_page, build_report
from resin_es.evaluation.runner.fingerprint import run_fingerprint
from resin_es.evaluation.runner.folder import RunFolder, writable
from resin_es.evaluation.runner.runner import RunOptions, evaluate
from resin_es.evaluation.slices import sliced
from resin_es.evaluation.systems.published import published_rows
from resin_es.evaluation.systems.selection import Entry, selected
from resin_es.evaluation.values import EvalDataset, EvalResult, SystemResult
from resin_es.model.base import Frozen
from resin_es.ports import Progress
from resin_es.settings import load_settings

GOES_ON = "The same command, without --fresh, goes on from there."
RESULTS, PAGE = "results.json", "report.html"


class EvalOutcome(Frozen):
    """What a run found, as a report, and the files that were written."""

    report: Report
    files: tuple[Path, ...] = ()


def run_evaluation(
    request: EvalRequest,
    *,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> EvalOutcome:
    """Raises InputError, SettingsError, StoreError, ModelError."""
    wanted = selected(request.systems, catalogue())
    writable(request.out)
    settings = load_settings()
    datasets = [
        sliced(one, questions=request.limit, documents=request.documents)
        for one in load(request.dataset, request.data, max_bytes=settings.max_document_bytes)
    ]
    for reason in (reason for dataset in datasets for reason in dataset.left_out):
        say(f"Left out of every row: {reason}")
    services = Services(settings, progress=progress)
    with _judge(services, request) as judge:
        prepared = []
        for dataset in datasets:
            prefix = prefix_of(services.settings, dataset, request.dataset, request.data)
            prepared.append(evaluation_services(services, prefix))
            index_dataset(prepared[-1], dataset, progress, say)
        results = [
            _evaluated(own, dataset, request, wanted, judge, progress, say)
            for own, dataset in zip(prepared, datasets, strict=True)
        ]
    report = build_report(results, seed=request.seed)
    return EvalOutcome(report=report, files=_written(report, results, request.out, say))


def _written(
    report: Report, results: Sequence[EvalResult], out: Path, say: Callable[[str], None]
) -> tuple[Path, ...]:
    """``results.json`` with every finding, and the page, where the libraries for it are there."""
    document = as_dict(report, results)
    texts = {RESULTS: json.dumps(document, ensure_ascii=False, indent=1)}
    try:
        texts[PAGE] = as_page(report)
    except UsageError as error:
        say(f"No {PAGE}: {error.message} {error.hint}")
    try:
        for name, text in texts.items():
            (out / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror}.") from error
    return tuple(out / name for name in texts)


@contextmanager
def _judge(services: Services, request: EvalRequest) -> Iterator[Judge | None]:
    """The judge, tried before anything is indexed; None where nothing is to be judged."""
    if not request.judge:
        yield None
        return
    from resin_es.bootstrap.models import make_judge

    judge = make_judge(services.settings, services.embedder)
    with closing(judge):
        judge.check()
        yield judge


def _evaluated(
    services: Services,
    dataset: EvalDataset,
    request: EvalRequest,
    wanted: Sequence[Entry],
    judge: Judge | None,
    progress: Progress | None,
    say: Callable[[str], None],
) -> EvalResult:
    told = facts(services, dataset) | {"seed": str(request.seed)}
    if dataset.left_out:
        told["left out"] = f"{len(dataset.left_out):,} over RESIN_MAX_DOCUMENT_BYTES"
    if judge is not None:
        told["judge"] = judge.name
    folder = RunFolder(
        request.out / dataset.name, run_fingerprint(dataset, told), fresh=request.fresh
    )
    lanes = make_lanes(services, dataset, wanted, folder.path, progress, lanes=request.lanes)
    rows = lanes[0]
    without = sum(not question.gold for question in dataset.questions)
    if without:
        say(
            f"{dataset.name}: {without} of {len(dataset.questions)} questions have no gold; "
            "they count in no recall."
        )
    for row in rows.skipped:
        say(f"{row.label}: not run. {row.skipped}")
    composes = request.answers or request.judge
    options = RunOptions(
        budgets=tuple(sorted(set(request.budgets))),
        composer=services.composer if composes else None,
        judge=judge,
        diagnose=FailureDiagnosis(IndexedDocuments(services.store, SOURCE, READER_OF_ROWS)),
    )
    try:
        result = evaluate(
            dataset, [lane.lane for lane in lanes], options, folder=folder, progress=progress
        )
    except KeyboardInterrupt:
        say(f"{dataset.name}: what was found is in {folder.path}. {GOES_ON}")
        raise
    return result.model_copy(
        update={
            "systems": _ordered(result, rows, wanted),
            "published": published_rows(dataset.name),
            "facts": {**told, **_spent(judge), "command": request.command},
        }
    )


def _spent(judge: Judge | None) -> dict[str, str]:
    """What judging has cost so far."""
    if judge is None:
        return {}
    spent = judge.spent()
    tokens = spent.input_tokens + spent.output_tokens
    return {"judging": f"{spent.calls:,} calls, {tokens:,} tokens, ${spent.dollars:.2f}"}


def _ordered(result: EvalResult, rows: Rows, wanted: Sequence[Entry]) -> tuple[SystemResult, ...]:
    held = {row.system: row for row in (*result.systems, *rows.skipped)}
    return tuple(held[entry.name] for entry in wanted if entry.name in held)
