"""Kept outputs: found by the call, absent when anything that decides the answer changed."""

from __future__ import annotations

import pytest

from resin_es.llm.outputs import (
    keep_output,
    keep_split,
    kept_outputs,
    known_splits,
    output_key,
)
from resin_es.ports import ModelCall
from resin_es.testing.scripted_language import MemoryCache

CALL = ModelCall(stage="units", model="m", prompt_version="1-a", system="s", user="u", output={})


def test_what_was_kept_is_found_again() -> None:
    cache = MemoryCache()
    data = {"units": [{"quote": "Fähre — \ud800"}]}
    keep_output(cache, CALL, data)
    assert kept_outputs(cache, [CALL]) == {CALL.id: data}
    assert list(cache.values) == [output_key(CALL)]


@pytest.mark.parametrize(
    "change",
    [
        {"stage": "passages"},
        {"model": "n"},
        {"prompt_version": "2-a"},
        {"user": "v"},
        {"system": "t"},
    ],
)
def test_another_call_has_another_output(change: dict[str, str]) -> None:
    cache = MemoryCache()
    keep_output(cache, CALL, {"units": []})
    assert kept_outputs(cache, [CALL.model_copy(update=change)]) == {}


def test_more_room_needs_no_other_output_but_another_try() -> None:
    cache = MemoryCache()
    wider = CALL.model_copy(update={"max_tokens": CALL.max_tokens + 1})
    keep_split(cache, CALL)
    assert known_splits(cache, [CALL, wider]) == {CALL.id}
    assert known_splits(cache, [wider]) == set()
    keep_output(cache, CALL, [])
    assert kept_outputs(cache, [wider]) == {CALL.id: []}


def test_a_damaged_value_counts_as_absent() -> None:
    cache = MemoryCache()
    cache.cache_put({output_key(CALL): b"\xff{"})
    assert kept_outputs(cache, [CALL]) == {}


def test_no_calls_ask_nothing() -> None:
    class Refusing(MemoryCache):
        def cache_get(self, keys: object) -> dict[str, bytes]:
            raise AssertionError("asked")

    assert kept_outputs(Refusing(), []) == {}
    assert known_splits(Refusing(), []) == set()
