"""RAGAS's score as a judgement, and a judge whose packages are missing. Needs no ragas."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es import adapters
from resin_es.adapters.prices import MAX_TOLD, dollars, told
from resin_es.adapters.ragas import RagasJudge, read
from resin_es.errors import ModelUnavailable
from resin_es.testing.hash_embedder import HashEmbedder


def questions(*made: str) -> list[Any]:
    return [SimpleNamespace(question=one) for one in made]


def verdicts(*attributed: int) -> list[Any]:
    return [SimpleNamespace(classifications=[SimpleNamespace(attributed=a) for a in attributed])]


@pytest.mark.parametrize(
    ("metric", "value", "outputs", "score"),
    [
        ("answer_relevancy", 0.4, questions("Why?", ""), 0.4),
        ("answer_relevancy", -0.1, questions("Why?"), 0.0),
        ("answer_relevancy", 1.0000001, questions("Why?"), 1.0),
        ("answer_relevancy", 0.0, questions("", ""), None),
        ("answer_relevancy", float("nan"), questions("Why?"), None),
        ("context_recall", 0.5, verdicts(1, 0), 0.5),
        ("context_recall", 0.0, verdicts(0), 0.0),
        ("context_recall", float("nan"), verdicts(), None),
        ("context_recall", 3.0, verdicts(1, 5), None),
        ("context_recall", 0.5, verdicts(2, -1), None),
    ],
)
def test_read(metric: str, value: float, outputs: list[Any], score: float | None) -> None:
    judged = read(metric, value, outputs)
    assert judged.score == score
    assert bool(judged.failure) is (score is None)


@given(st.floats(), st.lists(st.integers(), min_size=1))
def test_a_score_is_a_share_or_none(value: float, attributed: list[int]) -> None:
    judged = read("context_recall", value, verdicts(*attributed))
    assert judged.score is None or 0.0 <= judged.score <= 1.0


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(adapters, "ragas_parts", raising=False)
    monkeypatch.setitem(sys.modules, "resin_es.adapters.ragas_parts", None)
    with pytest.raises(ModelUnavailable, match=r"resin-es\[judge\]"):
        RagasJudge("openai", "m", None, HashEmbedder())


def test_prices() -> None:
    assert dollars({"m": (1.0, 5.0)}, "m", 2_000_000, 100_000) == pytest.approx(2.5)
    assert dollars({"m": (1.0, 5.0)}, "other", 2_000_000, 100_000) == 0.0


def test_told_is_one_short_line() -> None:
    assert told("a\n  b") == "a b"
    assert len(told("x" * 1000)) == MAX_TOLD
