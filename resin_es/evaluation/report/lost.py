"""Missed gold sentences of a row: counted by stage, and some of them told. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from resin_es.evaluation.report.values import FailureExample
from resin_es.evaluation.values import EvalResult, Stage, SystemResult

STAGES: tuple[Stage, ...] = get_args(Stage)
PER_STAGE = 2


def stage_counts(row: SystemResult, budgets: Sequence[int]) -> dict[int, dict[Stage, int]]:
    """Missed gold sentences by budget and stage; empty for a row that was not diagnosed."""
    if not any(result.misses for result in row.questions):
        return {}
    counts: dict[int, dict[Stage, int]] = {}
    for budget in budgets:
        found = Counter(
            miss.stage
            for result in row.questions
            if result.budget == budget
            for miss in result.misses
        )
        counts[budget] = {stage: found[stage] for stage in STAGES}
    return counts


def examples(
    result: EvalResult, system: str, *, per_stage: int = PER_STAGE
) -> tuple[FailureExample, ...]:
    """Up to ``per_stage`` misses of each stage at the budget in the middle (at the largest one
    where the stage has none there), from as many questions, spread over the run."""
    row = next((row for row in result.systems if row.system == system), None)
    if row is None or not result.budgets:
        return ()
    order = sorted(result.budgets)
    middle, largest = order[(len(order) - 1) // 2], order[-1]
    told = []
    for stage in STAGES:
        for budget in dict.fromkeys((middle, largest)):
            found = _of_stage(result, row, stage, budget)
            if found:
                told += _spread(found, per_stage)
                break
    return tuple(told)


def _of_stage(
    result: EvalResult, row: SystemResult, stage: Stage, budget: int
) -> list[FailureExample]:
    """The first miss of that stage of each question."""
    asked = {question.id: question.question for question in result.asked}
    found = []
    for one in row.questions:
        miss = next((miss for miss in one.misses if miss.stage == stage), None)
        if one.budget == budget and miss is not None:
            found.append(
                FailureExample(
                    budget=budget,
                    stage=stage,
                    question_id=one.question_id,
                    question=asked.get(one.question_id, ""),
                    gold_id=miss.gold_id,
                    gold=miss.text,
                    taken=miss.taken,
                    detail=miss.detail,
                    trace_id=one.trace_id,
                )
            )
    return found


def _spread(found: Sequence[FailureExample], count: int) -> list[FailureExample]:
    """``count`` of them, evenly spaced: the first questions of a file are often alike."""
    if len(found) <= count:
        return list(found)
    return [found[number * len(found) // count] for number in range(count)]
