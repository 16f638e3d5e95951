"""Bootstrap intervals: what they are for rows whose difference is known."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.evaluation.intervals import bootstrap_mean, paired_bootstrap

VALUES = st.floats(0, 1, allow_nan=False, width=32)
STRATA = st.lists(st.lists(VALUES, min_size=1, max_size=6), min_size=1, max_size=3)


@given(STRATA)
def test_a_row_is_not_better_than_itself(rows: list[list[float]]) -> None:
    interval = paired_bootstrap(rows, rows, resamples=50)
    assert (interval.difference, interval.low, interval.high) == (0.0, 0.0, 0.0)
    assert interval.n == sum(map(len, rows))


@given(STRATA, st.sampled_from([0.25, -0.5, 2.0]))
def test_a_constant_shift_is_certain(rows: list[list[float]], shift: float) -> None:
    interval = paired_bootstrap(rows, [[v + shift for v in row] for row in rows], resamples=50)
    assert interval.difference == pytest.approx(shift, abs=1e-9)
    assert interval.low == pytest.approx(shift, abs=1e-9)
    assert interval.high == pytest.approx(shift, abs=1e-9)


def test_data_sets_weigh_the_same_whatever_their_size() -> None:
    a = [[0.0], [0.0] * 9]
    b = [[1.0], [0.0] * 9]
    interval = paired_bootstrap(a, b, resamples=20)
    assert (interval.mean_a, interval.mean_b, interval.difference) == (0.0, 0.5, 0.5)
    assert (interval.low, interval.high) == (0.5, 0.5), "drawn within each data set"


def test_pairs_stay_together() -> None:
    a = [[0.0, 1.0] * 20]
    b = [[0.1, 1.1] * 20]
    assert paired_bootstrap(a, b, resamples=200).high == pytest.approx(0.1)


def test_the_same_seed_gives_the_same_numbers_and_another_one_others() -> None:
    random.seed(3)
    a = [[random.random() for _ in range(40)] for _ in range(2)]
    b = [[random.random() for _ in range(40)] for _ in range(2)]
    assert paired_bootstrap(a, b, seed=5) == paired_bootstrap(a, b, seed=5)
    assert paired_bootstrap(a, b, seed=5) != paired_bootstrap(a, b, seed=6)


def test_a_wider_level_is_a_wider_interval() -> None:
    values = [[0.0, 1.0] * 30]
    narrow, wide = (bootstrap_mean(values, level=level) for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high


def test_many_draws_in_pieces_are_as_many_draws() -> None:
    values = [[float(n % 2) for n in range(3000)]]
    interval = bootstrap_mean(values, resamples=2000)
    assert interval.mean == 0.5
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * 0.5 / 3000**0.5, rel=0.1)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    draw = random.Random(11)
    held = 0
    for trial in range(300):
        difference = [draw.gauss(0.1, 0.5) for _ in range(60)]
        zeros = [0.0] * 60
        interval = paired_bootstrap([zeros], [difference], resamples=400, seed=trial % 4)
        held += interval.low <= 0.1 <= interval.high
    assert 0.90 <= held / 300 <= 0.98


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([[0.0]], [[0.0, 1.0]], "different questions"),
        ([[0.0]], [[0.0], [1.0]], "different questions"),
        ([], [], "at least one question"),
        ([[]], [[]], "at least one question"),
    ],
)
def test_rows_that_cannot_be_compared(
    a: list[list[float]], b: list[list[float]], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        paired_bootstrap(a, b)


@pytest.mark.parametrize("options", [{"resamples": 0}, {"level": 1.0}])
def test_options_without_sense(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="resamples must be positive"):
        bootstrap_mean([[0.0]], **options)  # type: ignore[arg-type]
