"""Logs of workers and beat: text or JSON lines on stderr, without a secret in them.

Every line says what it is about in fields of its own (task, source, document, attempt), given
as ``extra``; python-json-logger writes them out.
"""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from resin_es.errors import SettingsError

if TYPE_CHECKING:
    from resin_es.settings import Settings

QUIET = (
    "celery.app.trace",
    "celery.beat",
    "celery.worker.request",
    "celery.worker.strategy",
    "elastic_transport",
    "httpx",
    "httpx2",
)
"""Loggers with a line for every task or request: ours tell that."""
MASK = "********"
_SHORTEST = 4
"""Letters of a secret that is masked: a shorter one would mask half of everything."""
_SECRET_NAME = re.compile(r"key|auth|pass|secret|token|credential", re.IGNORECASE)
_FIELDS = ("task", "source", "documents", "document", "attempt", "status", "error", "seconds")
"""Fields of a text line, in order; a JSON line has all."""


def set_up(settings: Settings) -> None:
    """Log to stderr from now on, Celery's lines with ours. Raises SettingsError where the
    package that writes JSON is missing."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Masking(_formatter(settings), secrets(settings)))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(True)
    logging.getLogger("celery.beat").addFilter(_without_traceback)
    try:
        from celery.exceptions import CPendingDeprecationWarning
        from celery.signals import setup_logging
    except ImportError:  # told when the application is made
        return
    # of a default that is to change, and that is set here
    warnings.simplefilter("ignore", CPendingDeprecationWarning)
    setup_logging.connect(_kept, weak=False)


def _without_traceback(record: logging.LogRecord) -> bool:
    """A broker that is away is no bug: beat's line on it says all there is, and it tries again."""
    record.exc_info = record.exc_text = None
    return True


def _kept(**_: Any) -> None:
    """Celery leaves logging alone where somebody listens to this signal."""


def _formatter(settings: Settings) -> logging.Formatter:
    if settings.log_format == "text":
        return TextFormatter("%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s")
    try:
        from pythonjsonlogger.json import JsonFormatter
    except ImportError as error:
        raise SettingsError(
            "RESIN_LOG_FORMAT=json, and the package python-json-logger is missing.",
            hint="Install it with: pip install 'resin-es[workers]'",
        ) from error
    made: logging.Formatter = JsonFormatter(
        ("asctime", "levelname", "process", "name", "message"),
        datefmt="%Y-%m-%dT%H:%M:%S%z",
        rename_fields={"asctime": "at", "levelname": "level"},
        json_ensure_ascii=False,
        json_default=str,
    )
    return made


class TextFormatter(logging.Formatter):
    """A line with the fields that it came with behind it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        found = {name: record.__dict__.get(name) for name in (*_FIELDS, "report")}
        told = (f"{name}={value}" for name, value in found.items() if value not in (None, ""))
        return " ".join((super().formatMessage(record), *told))


class Masking(logging.Formatter):
    """What another formatter writes, every secret masked wherever it stands."""

    def __init__(self, inner: logging.Formatter, hidden: Iterable[str]) -> None:
        super().__init__()
        self._inner = inner
        longest_first = sorted({one for one in hidden if len(one) >= _SHORTEST}, key=len)[::-1]
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def format(self, record: logging.LogRecord) -> str:
        return self._pattern.sub(MASK, self._inner.format(record))


def secrets(settings: Settings) -> set[str]:
    """Everything in the settings that no log may show."""
    from resin_es.settings import anthropic_key, judge_key

    found = {
        key.get_secret_value() for key in (anthropic_key(settings), judge_key(settings)) if key
    }
    for name in type(settings).model_fields:
        found.update(_within(getattr(settings, name), hidden=False))
    return found


def _within(value: Any, *, hidden: bool) -> Iterator[str]:
    """Secrets in a value: SecretStr, what stands under a telling name, passwords of addresses."""
    if isinstance(value, SecretStr):
        told = value.get_secret_value()
        yield told
        yield from (part for part in told.partition(":")[2:] if part)  # user:password
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _within(inner, hidden=hidden or bool(_SECRET_NAME.search(str(name))))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _within(inner, hidden=hidden)
    elif isinstance(value, str):
        if hidden:
            yield value
        yield from _passwords(value)


def _passwords(value: str) -> Iterator[str]:
    if "@" in value and "://" in value:
        password = urlsplit(value).password
        if password:
            yield from {password, unquote(password)}
