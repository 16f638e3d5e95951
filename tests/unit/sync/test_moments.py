"""Dates of the usual forms; what is none is said to be none."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.sync.moments import moment

MAY = datetime(2024, 5, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-05-01", MAY),
        ("2024-05-01T00:00:00", MAY),
        ("2024-05-01T00:00:00Z", MAY),
        ("2024-05-01T02:00:00+02:00", MAY),
        ("2024-05-01T02:00:00+0200", MAY),
        ("2024-05-01 00:00:00", MAY),
        ("2024-05-01T00:00", MAY),
        ("2024/05/01", MAY),
        ("2024/05/01 00:00:00", MAY),
        ("2024-05", MAY),
        (" 2024-05-01 ", MAY),
        ("2024-05-01T00:00:00.123456789Z", MAY.replace(microsecond=123456)),
        ("2024", MAY.replace(month=1)),
        (2024, MAY.replace(month=1)),
        (1714521600000, MAY),
        ("1714521600000", MAY),
        (1714521600, MAY),
        (1714521600.5, MAY.replace(microsecond=500_000)),
        (0, datetime(1970, 1, 1, tzinfo=timezone.utc)),
    ],
)
def test_usual_forms(value: Any, expected: datetime) -> None:
    assert moment(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        "soon", "", "2024-13-01", "2024-13", "01.05.2024", True, None, {}, [], 10**30, float("inf"),
        float("nan"), "9" * 40, "2024-05-01T25:00:00", "0000-01-01",
    ],
)  # fmt: skip
def test_what_is_no_date(value: Any) -> None:
    assert moment(value) is None


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)), st.integers(-14, 14))
def test_iso_dates_are_read_back(when: datetime, hours: int) -> None:
    aware = when.replace(tzinfo=timezone(timedelta(hours=hours)))
    assert moment(aware.isoformat()) == aware
    assert moment(when.isoformat()) == when.replace(tzinfo=timezone.utc)


@given(st.datetimes(datetime(1975, 1, 1), datetime(2200, 1, 1)))
def test_milliseconds_are_read_back(when: datetime) -> None:
    whole = when.replace(microsecond=0, tzinfo=timezone.utc)
    assert moment(int(whole.timestamp()) * 1000) == whole


@given(st.text() | st.floats() | st.integers())
def test_anything_else_is_a_date_in_utc_or_none(value: Any) -> None:
    found = moment(value)
    assert found is None or found.utcoffset() == timedelta(0)
