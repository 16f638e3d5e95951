"""Prometheus metrics of a worker, where ``RESIN_METRICS_PORT`` names a port (extra ``workers``).

Every process of the worker counts for itself, in files of one folder (the multiprocess mode of
prometheus_client); a process of its own, started before the worker forks, adds them up and shows
them, with what Elasticsearch and Redis say at that moment. So no thread runs where processes are
forked, and a worker that hangs is still seen.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from resin_es.errors import SettingsError
from resin_es.llm.metered import Spending, StageSpending
from resin_es.sync.reports import WorkReport

if TYPE_CHECKING:
    from resin_es.settings import Settings

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus_client reads it when it is imported."""
OUTCOMES = ("done", "deleted", "retried", "dead", "busy", "skipped")
BUCKETS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


class _Meters:
    """The metrics that processes count, made once and only where somebody shows them."""

    def __init__(self) -> None:
        from prometheus_client import Counter, Histogram

        self.seconds = Histogram(
            "resin_task_seconds", "Seconds of a task.", ["task", "outcome"], buckets=BUCKETS
        )
        self.documents = Counter(
            "resin_documents_handled", "Documents by what became of them.", ["source", "outcome"]
        )
        self.retries = Counter("resin_retries", "Documents that wait for another try.", ["source"])
        self.rejects = Counter("resin_rejected_units", "Units turned down.", ["reason"])
        self.tokens = Counter("resin_tokens", "Tokens of a language model.", ["stage", "kind"])
        self.dollars = Counter("resin_dollars", "US dollars for a language model.", ["stage"])
        self.calls = Counter("resin_model_calls", "Calls of a language model.", ["stage", "result"])


_made: _Meters | None = None


def _meters() -> _Meters | None:
    global _made
    if _made is None and FOLDER in os.environ:
        _made = _Meters()
    return _made


@contextmanager
def shown(settings: Settings) -> Iterator[None]:
    """Metrics are counted and shown meanwhile, if a port is set. Raises SettingsError where
    prometheus_client is missing."""
    if settings.metrics_port is None:
        yield
        return
    if importlib.util.find_spec("prometheus_client") is None:
        raise SettingsError(
            "RESIN_METRICS_PORT is set, and the package prometheus-client is missing.",
            hint="Install it with: pip install 'resin-es[workers]'",
        )
    folder = tempfile.mkdtemp(prefix="resin-metrics-")
    os.environ[FOLDER] = folder
    command = [sys.executable, "-m", "resin_es.workers.exporter", str(os.getpid())]
    exporter = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        exporter.terminate()
        exporter.wait()
        os.environ.pop(FOLDER, None)
        shutil.rmtree(folder, ignore_errors=True)


def count_task(task: str, outcome: str, seconds: float) -> None:
    meters = _meters()
    if meters is not None:
        meters.seconds.labels(task, outcome).observe(seconds)


def count_report(source: str, report: Any) -> None:
    """What a task did with its documents."""
    meters = _meters()
    if meters is None or not isinstance(report, WorkReport):
        return
    for outcome in OUTCOMES:
        if number := getattr(report, outcome):
            meters.documents.labels(source, outcome).inc(number)
    if report.retried:
        meters.retries.labels(source).inc(report.retried)
    for reason, number in report.index.rejected_units.items():
        meters.rejects.labels(reason).inc(number)


def count_spending(before: Spending, after: Spending) -> None:
    """What a language model took between two looks."""
    meters = _meters()
    if meters is None:
        return
    for stage, now in after.items():
        was = before.get(stage, StageSpending())
        for kind in type(now.usage).model_fields:
            more = getattr(now.usage, kind) - getattr(was.usage, kind)
            meters.tokens.labels(stage, kind.removesuffix("_tokens")).inc(max(more, 0))
        meters.dollars.labels(stage).inc(max(now.dollars - was.dollars, 0.0))
        meters.calls.labels(stage, "answered").inc(max(now.calls - was.calls, 0))
        meters.calls.labels(stage, "failed").inc(max(now.failed - was.failed, 0))
