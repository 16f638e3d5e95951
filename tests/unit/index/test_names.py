"""Names: one prefix never takes another's indices for its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from resin_es.index.names import FAMILIES, Names
from resin_es.index.settings import StoreSettings

RESIN = Names(prefix="resin")


def test_names() -> None:
    assert RESIN.alias("units") == "resin-units"
    assert RESIN.concrete("units", 3) == "resin-units-v3"
    assert RESIN.pattern("units") == "resin-units-v*"
    assert RESIN.aliases("units", "sentences") == ["resin-units", "resin-sentences"]
    assert len(RESIN.aliases()) == len(FAMILIES)
    with pytest.raises(ValueError, match="no index family"):
        RESIN.alias("unit")


@pytest.mark.parametrize(
    "index",
    [
        "resin-other-units-v1",
        "resin-units-other-v1",
        "resin-units-v1-old",
        "resin-units-v",
        "resin-units-v01",
        "resin-units-v0",
        "xresin-units-v1",
        "resin-units-v1\n",
        "resin_units-v1",
        "resin",
    ],
)
def test_foreign_indices(index: str) -> None:
    assert RESIN.family(index) is None
    assert all(RESIN.generation(family, index) is None for family in FAMILIES)


def test_a_dot_in_the_prefix_is_no_wildcard() -> None:
    assert Names(prefix="a.b").generation("units", "axb-units-v1") is None


prefixes = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True)


@given(prefixes, prefixes, st.sampled_from(FAMILIES), st.integers(1, 10_000))
def test_an_index_belongs_to_its_own_prefix_alone(
    mine: str, other: str, family: str, generation: int
) -> None:
    index = Names(prefix=mine).concrete(family, generation)
    assert Names(prefix=mine).family(index) == family
    assert Names(prefix=mine).generation(family, index) == generation
    if mine != other:
        assert Names(prefix=other).family(index) is None


@pytest.mark.parametrize("prefix", ["", "Resin", "-resin", "_resin", "a b", "a*", "a,b", "ä"])
def test_prefixes_that_elasticsearch_refuses(prefix: str) -> None:
    with pytest.raises(ValidationError):
        StoreSettings(prefix=prefix)
