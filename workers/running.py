"""Around every task: log, metrics, span, and slowing down while something is away."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from resin_es.errors import (
    BudgetSpent,
    ModelUnavailable,
    QueueUnavailable,
    ResinError,
    SettingsError,
    StoreError,
    StoreNotInstalled,
    StoreRefused,
    StoreTimeout,
)
from resin_es.sync.working import overloaded
from resin_es.workers import metrics, tracing

if TYPE_CHECKING:
    from resin_es.workers.site import Site

logger = logging.getLogger("resin_es.workers")

AWAY = (
    StoreTimeout,
    StoreRefused,
    StoreNotInstalled,
    ModelUnavailable,
    BudgetSpent,
    QueueUnavailable,
    SettingsError,
)
"""What every next task would meet as well: this process pauses instead of rushing through the
queue. The documents wait in the registry."""

SHORTEST_S, LONGEST_S = 1.0, 30.0


def away(error: ResinError) -> bool:
    """Whether the next task would most likely fail for the same reason."""
    return isinstance(error, AWAY) or (isinstance(error, StoreError) and overloaded(error))


class Brake:
    """Pauses that double from one failure to the next, with jitter, until something succeeds."""

    def __init__(
        self,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._sleep, self._chance = sleep, chance
        self._failures = 0

    def pull(self) -> float:
        """Pause; returns the seconds."""
        ceiling: float = min(SHORTEST_S * 2.0**self._failures, LONGEST_S)
        self._failures = min(self._failures + 1, 10)
        pause = ceiling * (0.5 + 0.5 * self._chance())
        self._sleep(pause)
        return pause

    def release(self) -> None:
        self._failures = 0


brake = Brake()
"""This process's."""


def run(
    site: Site,
    name: str,
    work: Callable[[Any, str, Sequence[str]], Any],
    source: str,
    keys: Sequence[str],
) -> None:
    """Do ``work`` and tell how it went. Lets what is not of the ResinError tree through: Celery
    logs it with its traceback."""
    told: dict[str, Any] = {"task": name, "source": source, "documents": len(keys)}
    started = time.monotonic()
    outcome, pause = "crashed", False
    before = site.tools.spending
    with tracing.span(site.settings, name, told) as span:
        try:
            report = work(site.tools, source, keys)
            outcome = "done"
            metrics.count_report(source, report)
            logger.info("task done", extra={**told, "report": _shown(report)})
        except ResinError as error:
            outcome, pause = type(error).__name__, away(error)
            span.failed(error)
            logger.warning("task failed: %s", error, extra={**told, "error": outcome})
        finally:
            span.ended(outcome)
            metrics.count_task(name, outcome, time.monotonic() - started)
            metrics.count_spending(before, site.tools.spending)
    if pause:
        logger.info("paused", extra={**told, "seconds": round(brake.pull(), 1)})
    elif outcome == "done":
        brake.release()


def _shown(report: Any) -> Any:
    """A report without what is empty, at any depth."""
    plain = report.to_dict() if hasattr(report, "to_dict") else report
    if not isinstance(plain, dict):
        return plain
    return {name: shown for name, value in plain.items() if (shown := _shown(value))}
