"""A span per task, by OpenTelemetry (extra ``otel``), where ``RESIN_OTEL`` asks for it.

Where spans go is said by OpenTelemetry's own variables (``OTEL_EXPORTER_OTLP_ENDPOINT`` …).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from resin_es.errors import SettingsError

if TYPE_CHECKING:
    from resin_es.settings import Settings

SERVICE = "resin-es"


class Span(Protocol):
    """What a task tells of itself."""

    def failed(self, error: Exception) -> None: ...

    def ended(self, outcome: str) -> None: ...


class NoSpan:
    """Nobody asked."""

    def failed(self, error: Exception) -> None:
        """Not told."""

    def ended(self, outcome: str) -> None:
        """Not told."""


class _Span:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def failed(self, error: Exception) -> None:
        from opentelemetry.trace import Status, StatusCode

        self._inner.record_exception(error)
        self._inner.set_status(Status(StatusCode.ERROR, type(error).__name__))

    def ended(self, outcome: str) -> None:
        self._inner.set_attribute("resin.outcome", outcome)


class _Provider:
    """One a process: its exporter's thread does not survive a fork."""

    pid = 0
    made: Any = None


def check(settings: Settings) -> None:
    """Raises SettingsError where spans are asked for and OpenTelemetry is missing."""
    if settings.otel:
        try:
            import opentelemetry.exporter.otlp.proto.http.trace_exporter
            import opentelemetry.sdk.trace  # noqa: F401
        except ImportError as error:
            raise SettingsError(
                f"RESIN_OTEL is set, and the package {error.name} is missing.",
                hint="Install it with: pip install 'resin-es[otel]'",
            ) from error


@contextmanager
def span(settings: Settings, task: str, told: Mapping[str, Any]) -> Iterator[Span]:
    """A span around a task; ``told`` becomes its attributes."""
    if not settings.otel:
        yield NoSpan()
        return
    attributes = {f"resin.{name}": value for name, value in told.items()}
    tracer = _provider().get_tracer(SERVICE)
    with tracer.start_as_current_span(f"resin_es.{task}", attributes=attributes) as inner:
        yield _Span(inner)


def flush() -> None:
    """Send what is left, before this process ends."""
    if _Provider.made is not None and _Provider.pid == os.getpid():
        _Provider.made.shutdown()


def _provider() -> Any:
    if _Provider.pid != os.getpid():
        _Provider.pid, _Provider.made = os.getpid(), _made()
    return _Provider.made


def _made() -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # OTEL_SERVICE_NAME wins
    name = os.environ.get("OTEL_SERVICE_NAME") or SERVICE
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
