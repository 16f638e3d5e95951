"""Metrics: counted by processes, added up, with what services say at the moment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from resin_es.errors import QueueUnavailable, SettingsError, StoreUnavailable
from resin_es.settings import Settings
from resin_es.workers import metrics, tracing
from resin_es.workers.exporter import Looking

COUNTING = """
import os
from collections import Counter
from resin_es.index.report import IndexReport
from resin_es.llm.metered import StageSpending
from resin_es.ports.language import Usage
from resin_es.sync.reports import WorkReport, SyncReport
from resin_es.workers import metrics

def work():
    index = IndexReport(rejected_units=Counter({"quote": 3}))
    metrics.count_report("kb", WorkReport(source="kb", done=5, retried=2, dead=1, index=index))
    metrics.count_report("kb", SyncReport(source="kb", new=9))
    metrics.count_task("read_document", "done", 2.0)
    before = {"units": StageSpending(calls=1, usage=Usage(input_tokens=100), dollars=1.0)}
    usage = Usage(input_tokens=150, output_tokens=7)
    now = {"units": StageSpending(calls=3, failed=1, usage=usage, dollars=1.5)}
    metrics.count_spending(before, now)

if os.fork() == 0:
    work()
    os._exit(0)
os.wait()
work()
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
registry = CollectorRegistry()
MultiProcessCollector(registry)
print(generate_latest(registry).decode())
"""


def shown(folder: Path) -> dict[str, float]:
    environ = {"PROMETHEUS_MULTIPROC_DIR": str(folder), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", COUNTING], env=environ, capture_output=True, text=True, check=True
    )
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_every_process_counts_and_all_are_added_up(tmp_path: Path) -> None:
    found = shown(tmp_path)
    assert {name: value for name, value in found.items() if "bucket" not in name} == {
        'resin_documents_handled_total{outcome="done",source="kb"}': 10,
        'resin_documents_handled_total{outcome="retried",source="kb"}': 4,
        'resin_documents_handled_total{outcome="dead",source="kb"}': 2,
        'resin_retries_total{source="kb"}': 4,
        'resin_rejected_units_total{reason="quote"}': 6,
        'resin_task_seconds_count{outcome="done",task="read_document"}': 2,
        'resin_task_seconds_sum{outcome="done",task="read_document"}': 4.0,
        'resin_tokens_total{kind="input",stage="units"}': 100,
        'resin_tokens_total{kind="output",stage="units"}': 14,
        'resin_tokens_total{kind="cache_write",stage="units"}': 0,
        'resin_tokens_total{kind="cache_read",stage="units"}': 0,
        'resin_dollars_total{stage="units"}': 1.0,
        'resin_model_calls_total{result="answered",stage="units"}': 4,
        'resin_model_calls_total{result="failed",stage="units"}': 2,
    }


def samples(looking: Looking) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in looking.collect()
        for sample in family.samples
    }


def away(error: Exception) -> Any:
    def asked() -> Any:
        raise error

    return asked


def test_what_services_say_at_the_moment() -> None:
    looking = Looking(lambda: [("kb", "indexed", 7)], lambda: [("read", 3, 12.5)])
    assert samples(looking) == {
        ("resin_up", "elasticsearch"): 1,
        ("resin_up", "redis"): 1,
        ("resin_documents", "kb", "indexed"): 7,
        ("resin_queue_depth", "read"): 3,
        ("resin_queue_age_seconds", "read"): 12.5,
    }


def test_a_service_that_is_away_hides_no_other() -> None:
    found = samples(Looking(away(StoreUnavailable("down")), lambda: [("read", 3, 1.0)]))
    assert found[("resin_up", "elasticsearch")] == 0
    assert found[("resin_queue_depth", "read")] == 3
    found = samples(Looking(lambda: [("kb", "indexed", 7)], away(QueueUnavailable("gone"))))
    assert found[("resin_up", "redis")] == 0
    assert found[("resin_documents", "kb", "indexed")] == 7


def test_nothing_is_counted_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(metrics.FOLDER, raising=False)
    with metrics.shown(Settings()):
        metrics.count_task("read_document", "done", 1.0)
    assert metrics._meters() is None


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match="prometheus"), metrics.shown(Settings(metrics_port=9)):
        pass


# ---------------------------------------------------------------- spans


def test_a_span_tells_task_documents_and_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(tracing, "_made", lambda: provider)
    monkeypatch.setattr(tracing._Provider, "pid", 0)
    told = {"task": "read_document", "source": "kb", "documents": 2}
    with tracing.span(Settings(otel=True), "read_document", told) as span:
        span.failed(StoreUnavailable("down"))
        span.ended("StoreUnavailable")
    [one] = kept.get_finished_spans()
    assert one.name == "resin_es.read_document"
    assert dict(one.attributes or {}) == {
        "resin.task": "read_document",
        "resin.source": "kb",
        "resin.documents": 2,
        "resin.outcome": "StoreUnavailable",
    }
    assert (one.status.description, [event.name for event in one.events]) == (
        "StoreUnavailable",
        ["exception"],
    )


def test_no_span_where_nobody_asks() -> None:
    with tracing.span(Settings(), "read_document", {}) as span:
        assert isinstance(span, tracing.NoSpan)
