"""A run as JSON and as a terminal table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from resin_es.evaluation.run import EvalResult, SystemResult

if TYPE_CHECKING:
    from rich.table import Table


def as_dict(results: Sequence[EvalResult], *, questions: bool = False) -> dict[str, Any]:
    """What ``--json`` prints; with ``questions`` also the findings question by question."""
    return {"datasets": [_dataset(result, questions) for result in results]}


def _dataset(result: EvalResult, questions: bool) -> dict[str, Any]:
    return {
        "dataset": result.dataset,
        "documents": result.documents,
        "questions": result.questions,
        "budgets": list(result.budgets),
        "systems": [_system(row, result, questions) for row in result.systems],
    }


def _system(row: SystemResult, result: EvalResult, questions: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "system": row.system,
        "gold_recall": {str(budget): round(row.recall[budget], 4) for budget in result.budgets},
        "full_recall": {str(budget): round(row.full[budget], 4) for budget in result.budgets},
        "mean_tokens": {
            str(budget): round(row.mean_tokens[budget], 1) for budget in result.budgets
        },
        "over_budget": row.over_budget,
        "seconds": round(row.seconds, 3),
    }
    if questions:
        answer["questions"] = [
            {
                "id": item.question_id,
                "budget": item.budget,
                "found": list(item.found),
                "tokens": item.tokens,
            }
            for item in row.questions
        ]
    return answer


def as_table(result: EvalResult) -> Table:
    """One row a system: gold-sentence recall and full-recall share at each budget."""
    from rich.table import Table

    table = Table(title=f"{result.dataset}: {result.questions} questions")
    table.add_column("system")
    for label in ("recall", "full"):
        for budget in result.budgets:
            table.add_column(f"{label} @{budget:,}", justify="right")
    table.add_column("seconds", justify="right")
    for row in result.systems:
        shares = [group[budget] for group in (row.recall, row.full) for budget in result.budgets]
        name = f"{row.system} (over budget: {row.over_budget})" if row.over_budget else row.system
        table.add_row(name, *(f"{share:.3f}" for share in shares), f"{row.seconds:.1f}")
    return table
