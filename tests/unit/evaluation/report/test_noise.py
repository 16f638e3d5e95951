"""Noise of floating point decides nothing."""

from __future__ import annotations

import pytest

from resin_es.evaluation.intervals import Interval
from resin_es.evaluation.report.compared import _difference


@pytest.mark.parametrize("noise", [-1e-17, 1e-17, -3e-13, 0.0, -0.0])
def test_an_interval_that_ends_at_zero_holds_it(noise: float) -> None:
    made = _difference(
        Interval(mean_a=0.0, mean_b=0.5, difference=-0.5, low=-0.6, high=noise, n=7, level=0.95)
    )
    assert made.verdict == "no clear difference"
    assert str(made.high) == "0.0"
