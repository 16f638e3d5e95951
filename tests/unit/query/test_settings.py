from __future__ import annotations

import pytest

from resin_es.errors import SettingsError
from resin_es.query.settings import QuerySettings


@pytest.mark.parametrize("k", [0, -1, 20_000])
def test_k_outside_its_bounds_is_refused_with_the_value(k: int) -> None:
    with pytest.raises(SettingsError, match=f"k is {k}") as refused:
        QuerySettings().changed(k=k)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    "values",
    [
        {"num_candidates": 10_001},
        {"num_candidates": 0},
        {"budget": 0},
        {"max_hops": 0},
        {"pool": 0},
        {"near_duplicate": 0.0},
        {"lexical_weight": -0.1},
        {"max_terms": 1000},
    ],
)
def test_other_bounds(values: dict[str, int]) -> None:
    with pytest.raises(SettingsError):
        QuerySettings(**values)


@pytest.mark.parametrize("k", [1, 10, 500, 10_000])
def test_the_server_bounds_hold_for_every_k(k: int) -> None:
    settings = QuerySettings().changed(k=k)
    assert settings.k == k
    assert k <= settings.dense_hits <= settings.candidates <= 10_000
    assert settings.dense_hits <= settings.size <= 10_000


def test_options_override_and_absent_ones_do_not() -> None:
    settings = QuerySettings(budget=700)
    assert settings.changed() is settings
    assert settings.changed(k=3).budget == 700
    assert settings.changed(budget=9).fill_on
    assert not settings.changed(k=10).fill_on, "a k that somebody names is a limit"
    assert settings.changed(budget=9).budget == 9
