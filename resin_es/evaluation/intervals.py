"""Bootstrap intervals: how sure a difference between two rows is.

Questions are what a run samples, so they are what is resampled: with replacement, within their
own data set, each with both rows' values (paired), as many as there are. The interval is the
percentile one (Efron and Tibshirani, 1993, chapters 13 and 16).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from resin_es.model.base import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Counts = NDArray[np.uint16]

RESAMPLES = 10_000
LEVEL = 0.95

_CHUNK = 2_000_000
"""Draws made at once (two bytes each). Drawing is what costs, so recent chunks are kept: the same
draws then serve every pair of rows and every metric, which also makes their intervals agree."""

Strata = Sequence[Sequence[float]]
"""Values by data set, then by question."""


class Interval(Frozen):
    """A difference ``mean_b - mean_a`` and the interval that holds it with probability
    ``level``; means are means over data sets of each one's mean. ``n`` is how many questions
    there are in all."""

    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    n: int
    level: float = LEVEL


class MeanInterval(Frozen):
    """A mean over data sets of each one's mean, and its interval."""

    mean: float
    low: float
    high: float
    n: int
    level: float = LEVEL


def paired_bootstrap(
    a: Strata, b: Strata, *, resamples: int = RESAMPLES, seed: int = 0, level: float = LEVEL
) -> Interval:
    """How much better row b is than row a, with its interval.

    ``a[s][q]`` and ``b[s][q]`` are the rows' values for question q of data set s. The statistic
    is the mean over data sets of the mean difference, so a large set has no more say than a
    small one. The same seed gives the same numbers.

    Raises ValueError where the shapes differ, or a data set has no question.
    """
    import numpy as np

    if [len(row) for row in a] != [len(row) for row in b]:
        raise ValueError("the two rows have values for different questions")
    first, second = _arrays(a), _arrays(b)
    differences = [two - one for one, two in zip(first, second, strict=True)]
    observed = _mean_of_means(differences)
    low, high = _percentiles(differences, resamples, seed, level)
    return Interval(
        mean_a=_mean_of_means(first),
        mean_b=_mean_of_means(second),
        difference=observed,
        low=low,
        high=high,
        n=int(np.sum([len(row) for row in first])),
        level=level,
    )


def bootstrap_mean(
    values: Strata, *, resamples: int = RESAMPLES, seed: int = 0, level: float = LEVEL
) -> MeanInterval:
    """One row's mean over data sets of its mean, with its interval.

    Raises ValueError where a data set has no question.
    """
    rows = _arrays(values)
    low, high = _percentiles(rows, resamples, seed, level)
    return MeanInterval(
        mean=_mean_of_means(rows), low=low, high=high, n=sum(map(len, rows)), level=level
    )


def _arrays(values: Strata) -> list[Vector]:
    import numpy as np

    if not values or not all(len(row) for row in values):
        raise ValueError("every data set needs at least one question")
    return [np.asarray(row, dtype=np.float64) for row in values]


def _mean_of_means(rows: Sequence[Vector]) -> float:
    return float(sum(row.mean() for row in rows) / len(rows))


def _percentiles(
    rows: Sequence[Vector], resamples: int, seed: int, level: float
) -> tuple[float, float]:
    import numpy as np

    if resamples < 1 or not 0 < level < 1:
        raise ValueError("resamples must be positive and level between 0 and 1")
    total = np.zeros(resamples)
    for stratum, row in enumerate(rows):
        # around the mean, so that equal values give exactly their mean and no rounding
        centre = row.mean() if np.ptp(row) else row[0]
        total += centre + _resampled(row - centre, resamples, (seed, stratum))
    tail = (1 - level) / 2
    low, high = np.quantile(total / len(rows), [tail, 1 - tail])
    return float(low), float(high)


def _resampled(row: Vector, resamples: int, key: tuple[int, int]) -> Vector:
    """The mean of each of ``resamples`` draws from ``row``."""
    import numpy as np

    sums = [counts @ row for counts in _draws(len(row), resamples, key)]
    return np.concatenate(sums) / len(row)


def _draws(size: int, resamples: int, key: tuple[int, int]) -> Iterator[Counts]:
    rows = max(1, _CHUNK // size)
    for number, first in enumerate(range(0, resamples, rows)):
        yield _counts(size, min(rows, resamples - first), (*key, number))


@lru_cache(maxsize=24)
def _counts(size: int, resamples: int, key: tuple[int, ...]) -> Counts:
    """How often each of ``size`` questions is in each draw, of shape (resamples, size)."""
    import numpy as np

    drawn = np.random.default_rng(key).integers(0, size, (resamples, size))
    drawn += np.arange(resamples)[:, None] * size
    counts = np.bincount(drawn.ravel(), minlength=resamples * size)
    return counts.astype(np.uint16).reshape(resamples, size)
