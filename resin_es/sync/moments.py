"""Dates as Elasticsearch takes them → moments. Pure."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Any

from pydantic import TypeAdapter, ValidationError

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLIS_FROM = 100_000_000_000
"""From here on a number counts milliseconds (as seconds it would lie past the year 5138)."""

_NUMBER = re.compile(r"[+-]?\d{5,}(\.\d+)?")
_MONTH = re.compile(r"\d{4}(-\d{2})?")
_SLASHES = re.compile(r"(\d{4})/(\d{2})/(\d{2})")
_DATE = TypeAdapter(datetime)


def moment(value: Any) -> datetime | None:
    """A moment in UTC, or None where ``value`` is no date of a usual form: ISO 8601 (with or
    without time and zone, year and month alone), ``yyyy/MM/dd`` with or without a time, and
    milliseconds or seconds since 1970. Without a zone it is UTC, as it is to Elasticsearch."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        whole_year = isinstance(value, int) and 1000 <= value <= 9999
        return _parsed(f"{value}-01-01") if whole_year else _since_epoch(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return _since_epoch(float(text))
    if _MONTH.fullmatch(text):
        return _parsed(f"{text}-01-01"[:10])
    return _parsed(_SLASHES.sub(r"\1-\2-\3", text, count=1))


def _since_epoch(number: float) -> datetime | None:
    millis = number if abs(number) >= _MILLIS_FROM else number * 1000
    try:
        return _EPOCH + timedelta(milliseconds=millis)
    except (OverflowError, ValueError):
        return None


def _parsed(text: str) -> datetime | None:
    if not re.match(r"\d{4}-\d{2}-\d{2}", text):
        return None
    try:
        found = _DATE.validate_python(text)
    except ValidationError:
        return None
    try:
        return (
            found.astimezone(timezone.utc) if found.tzinfo else found.replace(tzinfo=timezone.utc)
        )
    except OverflowError:
        return None
