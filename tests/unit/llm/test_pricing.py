"""What tokens cost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from resin_es.adapters.prices import CLAUDE, dollars, price_table
from resin_es.llm.pricing import (
    Price,
    expected_tokens,
    input_tokens,
    most_dollars,
    price_of,
    tokens_of,
    usage_dollars,
)
from resin_es.ports.language import ModelCall, Usage

MILLION = 1_000_000


def ask(**changed: object) -> ModelCall:
    fields = {
        "stage": "units",
        "model": "m",
        "prompt_version": "1-a",
        "system": "s" * 30,
        "user": "u" * 31,
        "max_tokens": 400,
    }
    return ModelCall.model_validate({**fields, **changed})


def test_each_kind_of_token_has_its_price() -> None:
    price = Price(input=1.0, output=10.0, cache_write=2.0, cache_read=0.5)
    one_of_each = Usage(
        input_tokens=MILLION,
        output_tokens=MILLION,
        cache_write_tokens=MILLION,
        cache_read_tokens=MILLION,
    )
    assert price.dollars(one_of_each) == 13.5
    assert price.dollars(one_of_each, batch=True) == 6.75
    assert price.dollars(Usage()) == 0.0


def test_a_long_prompt_costs_more_where_the_price_says_so() -> None:
    price = Price(
        input=1.0, output=1.0, cache_write=1.0, cache_read=1.0, long_over=100, long_factor=5.0
    )
    assert price.dollars(Usage(input_tokens=100, output_tokens=900)) == pytest.approx(1e-3)
    cached = Usage(input_tokens=1, cache_read_tokens=100, output_tokens=899)
    assert price.dollars(cached) == pytest.approx(5e-3), "what the cache gave counts as prompt"


def test_two_numbers_stand_for_four() -> None:
    assert price_of({"m": (2.0, 8.0)}, "m") == Price(
        input=2.0, output=8.0, cache_write=2.5, cache_read=0.2
    )
    assert price_of({"m": (2.0, 8.0, 3.0, 1.0)}, "m") == Price(
        input=2.0, output=8.0, cache_write=3.0, cache_read=1.0
    )


def test_a_free_model_has_a_price_and_an_unknown_one_has_none() -> None:
    assert price_of({"local": (0.0, 0.0)}, "local") is not None
    assert price_of({}, "local") is None
    assert usage_dollars({}, "local", Usage(input_tokens=MILLION)) == 0.0


def test_a_dated_name_has_the_price_of_the_undated_one_unless_it_has_its_own() -> None:
    prices = {"claude-x": (1.0, 2.0), "claude-x-20260101": (3.0, 4.0)}
    dated, other = price_of(prices, "claude-x-20260101"), price_of(prices, "claude-x-20261231")
    assert dated is not None
    assert dated.input == 3.0
    assert other is not None
    assert other.input == 1.0
    assert price_of(prices, "claude-x-latest") is None


def test_the_table_has_both_default_models_and_the_setting_wins() -> None:
    haiku = price_of(price_table(), "claude-haiku-5-5")
    assert haiku is not None
    assert haiku.dollars(Usage(input_tokens=MILLION // 10)) == pytest.approx(0.01)
    assert haiku.dollars(Usage(input_tokens=MILLION)) == pytest.approx(0.5), "a long prompt"
    sonnet = price_of(price_table(), "claude-sonnet-5-5")
    assert sonnet is not None
    assert (sonnet.input, sonnet.output, sonnet.cache_write, sonnet.cache_read) == (
        2.0,
        10.0,
        2.5,
        0.1,
    )
    own = price_of(price_table({"claude-sonnet-5-5": (9.0, 9.0)}), "claude-sonnet-5-5")
    assert own is not None
    assert own.input == 9.0
    assert price_of(price_table({"mine": (1.0, 1.0)}), "claude-haiku-5-5") == haiku


def test_every_model_that_the_sdk_names_is_priced_or_known_to_be_unpriced() -> None:
    types = pytest.importorskip("anthropic.types.model")
    from typing import get_args

    named = {name for part in get_args(types.Model) for name in get_args(part)}
    unpriced = {name for name in named if price_of(CLAUDE, name) is None}
    assert named
    assert unpriced <= {"claude-mythos-5-2", "claude-mythos-preview"}, (
        "a new model: look its price up and add it to adapters/prices.py and docs/cost.md"
    )


def test_the_guide_has_the_table_that_is_built_in() -> None:
    guide = Path(__file__).parents[3] / "docs" / "cost.md"
    row = re.compile(r"^\| (claude-[^|]+) \|" + r" ([\d.]+) \|" * 4 + "$", re.MULTILINE)
    told: dict[str, Price] = {}
    for names, *numbers in row.findall(guide.read_text(encoding="utf-8")):
        first, *others = re.sub(r"\(.*\)", "", names).strip().split(", ")
        family = re.sub(r"-[\d-]+$", "", first)
        fields = dict(zip(("input", "output", "cache_write", "cache_read"), numbers, strict=True))
        for name in (first, *others):
            told[name if name.startswith("claude") else family + name] = Price.model_validate(
                fields
            )
    assert set(told) == set(CLAUDE)
    for name, price in told.items():
        built_in = price_of(CLAUDE, name)
        assert built_in is not None
        for field in ("input", "output", "cache_write", "cache_read"):
            assert getattr(built_in, field) == pytest.approx(getattr(price, field)), name


def test_the_old_way_to_ask_still_counts_alike() -> None:
    assert dollars({"m": (1.0, 100.0)}, "m", MILLION, MILLION) == 101.0
    assert dollars({}, "m", MILLION, MILLION) == 0.0


def test_tokens_are_guessed_by_length_schema_included() -> None:
    assert (tokens_of(""), tokens_of("abc"), tokens_of("abcd")) == (0, 1, 2)
    assert input_tokens(ask()) == 10 + 11
    assert input_tokens(ask(output={"a": "é"})) == 10 + 11 + 4  # {"a": "é"} has 10 characters
    assert expected_tokens(ask()) == 21 + 100


def test_what_a_call_may_cost_counts_all_its_room() -> None:
    assert most_dollars({"m": (1.0, 10.0)}, ask()) == pytest.approx((21 + 4_000) / MILLION)
    assert most_dollars({}, ask()) == 0.0
