"""Tasks: thin, by ids alone, each handed on to the service; what is around them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from resin_es.errors import (
    BudgetSpent,
    IndexMismatch,
    InputError,
    ModelUnavailable,
    QueueUnavailable,
    ReadingError,
    ResinError,
    StoreConflict,
    StoreRejected,
    StoreTimeout,
    StoreUnavailable,
)
from resin_es.model.source import SourceSpec
from resin_es.settings import Settings
from resin_es.sync.reports import WorkReport
from resin_es.workers import running, tasks
from resin_es.workers.beat import timetable
from resin_es.workers.running import Brake, run


class Service:
    """Notes what it is asked."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.error = error

    def __getattr__(self, name: str) -> Any:
        def asked(*arguments: Any) -> WorkReport:
            self.asked.append((name, *arguments))
            if self.error:
                raise self.error
            return WorkReport(source="s", done=1)

        return asked


class Queue:
    def __init__(self) -> None:
        self.put_tasks: list[tuple[str, str, Sequence[str]]] = []

    def put(self, task: str, source: str = "", keys: Sequence[str] = ()) -> None:
        self.put_tasks.append((task, source, keys))


def spec(name: str) -> SourceSpec:
    return SourceSpec(name=name, index=f"{name}-*", text_fields=("body",), access="public")


def tools(service: Service | None = None, **sources: bool) -> Any:
    """Tools with sources by name: paused or not."""
    stored = [
        SimpleNamespace(
            source=SimpleNamespace(spec=spec(name), state=SimpleNamespace(paused=paused))
        )
        for name, paused in sources.items()
    ]
    return SimpleNamespace(
        settings=Settings(),
        service=service or Service(),
        queue=Queue(),
        book=SimpleNamespace(sources=lambda: stored),
        spending={},
        services=SimpleNamespace(ready_to_read=lambda: None),
    )


def site(made: Any) -> Any:
    return SimpleNamespace(settings=Settings(), tools=made)


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(running, "brake", Brake(slept.append, lambda: 1.0))
    return slept


@pytest.mark.parametrize("name", ["embed_and_commit", "read_document", "purge_document"])
def test_work_on_documents_goes_by_source_and_keys(name: str) -> None:
    service = Service()
    tasks.WORK[name](tools(service), "kb", ["k1", "k2"])
    assert service.asked == [(name, "kb", ["k1", "k2"])]


def test_a_sync_is_of_one_source() -> None:
    service = Service()
    made = tools(service, kb=False)
    tasks.sync_source(made, "kb", [])
    assert (service.asked, made.queue.put_tasks) == ([("sync_source", "kb")], [])


def test_a_sync_of_no_source_in_particular_is_one_of_each_that_is_not_paused() -> None:
    service = Service()
    made = tools(service, kb=False, wiki=True, mail=False)
    tasks.sync_source(made, "", [])
    assert made.queue.put_tasks == [("sync_source", "kb", ()), ("sync_source", "mail", ())]
    assert service.asked == []


def test_reconcile_takes_nothing() -> None:
    service = Service()
    tasks.reconcile(tools(service), "", [])
    assert service.asked == [("reconcile",)]


def test_retention_purges_traces_beyond_their_days(monkeypatch: pytest.MonkeyPatch) -> None:
    before: list[datetime] = []
    monkeypatch.setattr(tasks, "purge_traces", lambda _, when: before.append(when) or 3)
    made = tools()
    made.settings = Settings(trace_days=2)
    assert tasks.retention(made, "", []) == {"purged": 3}
    age = datetime.now(timezone.utc) - before[0]
    assert 2 * 86_400 <= age.total_seconds() < 2 * 86_400 + 60


def test_a_process_that_was_forked_makes_tools_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from resin_es.workers import site as module

    mine = module.Site(Settings())
    before = mine.tools
    assert mine.tools is before
    monkeypatch.setattr(module.os, "getpid", lambda: -1)
    assert mine.tools is not before
    assert "services" not in mine.tools.__dict__, "nothing is made before it is used"


# ---------------------------------------------------------------- around a task


def failing(error: Exception) -> Any:
    return site(tools(Service(error)))


def test_what_is_done_is_logged_with_its_source(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "resin_es"):
        run(site(tools()), "read_document", tasks.read_document, "kb", ["k1"])
    [line] = caplog.records
    told = (line.task, line.source, line.documents, line.report)  # type: ignore[attr-defined]
    assert told == ("read_document", "kb", 1, {"source": "s", "done": 1})


@pytest.mark.parametrize(
    "error",
    [
        StoreUnavailable("down"),
        StoreTimeout("late"),
        StoreRejected("full", reasons={"es_rejected_execution_exception: queue": 4}),
        ModelUnavailable("no key"),
        BudgetSpent("spent", spent=1.0, cap=1.0),
        QueueUnavailable("gone"),
    ],
)
def test_what_all_tasks_would_meet_slows_the_worker_down(
    error: ResinError, pauses: list[float]
) -> None:
    for _ in range(3):
        run(failing(error), "read_document", tasks.read_document, "kb", ["k1"])
    assert pauses == [1.0, 2.0, 4.0]
    run(site(tools()), "read_document", tasks.read_document, "kb", ["k1"])
    run(failing(error), "read_document", tasks.read_document, "kb", ["k1"])
    assert pauses[-1] == 1.0, "a success ends it"


@pytest.mark.parametrize(
    "error",
    [InputError("no such source"), StoreConflict("lost"), ReadingError("odd", stage="units")],
)
def test_what_one_task_meets_slows_nobody(
    error: ResinError, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    run(failing(error), "read_document", tasks.read_document, "kb", ["k1"])
    assert pauses == []
    [line] = caplog.records
    assert (line.levelname, line.error) == (  # type: ignore[attr-defined]
        "WARNING",
        type(error).__name__,
    )
    assert str(error) in line.getMessage()


def test_a_bug_is_not_taken_for_a_failure(pauses: list[float]) -> None:
    with pytest.raises(ZeroDivisionError):
        run(failing(ZeroDivisionError()), "read_document", tasks.read_document, "kb", ["k1"])
    assert pauses == []


def test_a_mismatch_of_models_is_no_reason_to_wait() -> None:
    assert not running.away(IndexMismatch("another model"))


def test_pauses_are_bounded_and_spread() -> None:
    slept: list[float] = []
    brake = Brake(slept.append, iter([0.0, 1.0] * 10).__next__)
    for _ in range(8):
        brake.pull()
    assert slept == [0.5, 2.0, 2.0, 8.0, 8.0, 30.0, 15.0, 30.0]


# ---------------------------------------------------------------- beat


def test_the_timetable() -> None:
    settings = Settings(sync_seconds=60, reconcile_seconds=30)
    pauses = {"sync_source": 60, "reconcile": 30, "retention": 86_400}
    assert timetable(settings) == {
        name: {
            "task": f"resin_es.{name}",
            "schedule": pause,
            "args": ("", []),
            "options": {"queue": "resin.sync", "expires": pause},
        }
        for name, pause in pauses.items()
    }
