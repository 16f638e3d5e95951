"""Estimates and spending as they are shown."""

from __future__ import annotations

import pytest

from resin_es.bootstrap.estimating import unpriced_stages
from resin_es.cli.money import (
    dollars,
    estimate_json,
    print_estimate,
    print_spending,
    spending_json,
)
from resin_es.llm.estimate import Estimate, StageEstimate
from resin_es.llm.metered import Spending, StageSpending
from resin_es.ports.language import Stage, Usage
from resin_es.settings import load_settings


def stage(name: Stage = "passages", price: float | None = 0.5, model: str = "m") -> StageEstimate:
    return StageEstimate(
        stage=name,
        model=model,
        calls=1_200,
        cached=34,
        usage=Usage(input_tokens=5_678, output_tokens=910),
        dollars=price,
        batch_dollars=None if price is None else price / 2,
    )


def rows(text: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.split()}


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (None, "?"),
        (0.0, "$0.00"),
        (0.00123, "$0.0012"),
        (0.5, "$0.5000"),
        (1234.5, "$1,234.50"),
    ],
)
def test_dollars(amount: float | None, shown: str) -> None:
    assert dollars(amount) == shown


def test_an_estimate_by_stage(capsys: pytest.CaptureFixture[str]) -> None:
    stages = (stage(), stage("units", 2.5))
    print_estimate(Estimate(documents=60, to_read=50, characters=4_000, stages=stages))
    shown = capsys.readouterr()
    table = rows(shown.out)
    assert table["passages"] == ["m", "1,200", "34", "5,678", "910", "$0.5000", "$0.2500"]
    assert table["together"] == ["2,400", "68", "11,356", "1,820", "$3.00", "$1.50"]
    assert "60 documents, 50 of them to be read" in shown.out
    assert "per 1,000 documents that are read: $60.00, by batch $30.00" in shown.out
    assert not shown.err


def test_an_estimate_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    none = StageEstimate(stage="units", model="m", dollars=0.0, batch_dollars=0.0)
    print_estimate(Estimate(documents=60, stages=(none,)))
    shown = capsys.readouterr().out
    assert "60 documents, 0 of them to be read" in shown
    assert "per 1,000" not in shown


def test_a_missing_price_is_asked_for_once(capsys: pytest.CaptureFixture[str]) -> None:
    stages = (stage(price=None), stage("units", None))
    print_estimate(Estimate(documents=1, to_read=1, stages=stages), [stage("plan", 0.25, "n")])
    shown = capsys.readouterr()
    assert shown.err.count("no price known for m: set RESIN_PRICES") == 1
    assert "for n" not in shown.err
    assert "per 1,000" not in shown.out
    assert rows(shown.out)["plan"] == ["n", "1,200", "5,678", "910", "$0.2500"]


def test_an_estimate_as_json() -> None:
    told = estimate_json(
        Estimate(documents=1, to_read=1, stages=(stage(), stage("units", None))),
        [stage("plan", 0.25), stage("compose", 0.5)],
    )
    assert told["calls"] == 2_400
    assert told["dollars"] is None
    assert told["unpriced"] == ["m"]
    assert told["stages"][0]["usage"]["input_tokens"] == 5_678
    assert told["question"]["dollars"] == 0.75


SPENT = StageSpending(
    calls=8,
    failed=2,
    batched=3,
    truncated=1,
    fallbacks=4,
    usage=Usage(
        input_tokens=100, cache_write_tokens=20, cache_read_tokens=3_000, output_tokens=400
    ),
    dollars=1.25,
    waited=61.6,
    routes={"schema": 6, "repaired": 2},
)


def test_spending_by_stage(capsys: pytest.CaptureFixture[str]) -> None:
    print_spending({"passages": SPENT, "units": SPENT})
    shown = capsys.readouterr().out
    table = rows(shown)
    assert table["passages"][:6] == ["8", "2", "120", "3,000", "400", "$1.25"]
    assert table["together"][:6] == ["16", "4", "240", "6,000", "800", "$2.50"]
    assert "12 schema" in shown or "6 schema" in shown
    for words in (
        "2 repaired",
        "3 by batch",
        "4 asked again by another route",
        "1 cut off",
        "62 s waited at the rate limit",
    ):
        assert words in shown
    assert "refused" not in shown


def test_one_stage_needs_no_sum_and_none_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_spending({})
    assert capsys.readouterr().out == ""
    print_spending({"plan": SPENT})
    assert "together" not in capsys.readouterr().out


def test_a_model_without_a_price_is_not_shown_as_free(capsys: pytest.CaptureFixture[str]) -> None:
    free = SPENT.model_copy(update={"dollars": 0.0})
    spending: Spending = {"passages": free, "units": SPENT}
    print_spending(spending, {"passages": "mine"})
    told = capsys.readouterr()
    table = rows(told.out)
    assert [table[name][5] for name in ("passages", "units", "together")] == ["?", "$1.25", "?"]
    assert told.err.startswith("no price known for mine: set RESIN_PRICES")
    assert spending_json(spending, {"passages": "mine"})["unpriced"] == ["mine"]


def test_which_stages_have_no_price() -> None:
    free = SPENT.model_copy(update={"dollars": 0.0})
    settings = load_settings(llm_read_model="mine", prices={"own": (0, 0)}, llm_answer_model="own")
    assert unpriced_stages(settings, {"units": free, "plan": free}) == {"units": "mine"}
    assert unpriced_stages(settings, {"units": SPENT}) == {}
    assert unpriced_stages(settings, {"units": StageSpending(failed=1)}) == {}


def test_spending_as_json() -> None:
    told = spending_json({"passages": SPENT, "units": SPENT})
    assert told["stages"]["units"]["routes"] == {"schema": 6, "repaired": 2}
    assert told["total"]["dollars"] == 2.5
    assert told["total"]["usage"]["cache_read_tokens"] == 6_000
