"""Estimates and spending, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resin_es.cli.output import console, note

if TYPE_CHECKING:
    from rich.table import Table

    from resin_es.llm.estimate import Estimate, StageEstimate
    from resin_es.llm.metered import Spending

Unpriced = Mapping[Any, str]
NONE: Unpriced = {}
SET_PRICES = "set RESIN_PRICES to a JSON object of model: [dollars in, dollars out] per million"


def dollars(amount: float | None) -> str:
    """US dollars with as many digits as tell something; ``?`` where no price is known."""
    if amount is None:
        return "?"
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


# ---------------------------------------------------------------- before


def print_estimate(estimate: Estimate, question: Sequence[StageEstimate] = ()) -> None:
    """What reading will take, by stage; then, if given, what one question takes."""
    out = console()
    out.print(
        f"{estimate.documents:,} documents, {estimate.to_read:,} of them to be read "
        f"({estimate.characters:,} characters, about {estimate.passages:,} passages)"
    )
    if estimate.calls or any(one.cached for one in estimate.stages):
        table = _table("cached")
        for one in estimate.stages:
            _row(table, one, f"{one.cached:,}")
        _sum_row(table, estimate.stages)
        out.print(table)
    if estimate.to_read and estimate.dollars is not None and estimate.batch_dollars is not None:
        each = 1_000 / estimate.to_read
        out.print(
            f"per 1,000 documents that are read: {dollars(estimate.dollars * each)}, "
            f"by batch {dollars(estimate.batch_dollars * each)}"
        )
    if question:
        _print_question(question)
    _print_unpriced([*estimate.stages, *question])


def _print_question(question: Sequence[StageEstimate]) -> None:
    console().print("\none question:")
    table = _table()
    for one in question:
        _row(table, one)
    _sum_row(table, question)
    console().print(table)


def _print_unpriced(stages: Sequence[StageEstimate]) -> None:
    for model in dict.fromkeys(one.model for one in stages if one.dollars is None):
        note(f"no price known for {model}: {SET_PRICES}")


def _table(*more: str) -> Table:
    from rich.table import Table as RichTable

    table = RichTable("stage", "model", box=None)
    for name in ("calls", *more, "tokens in", "tokens out", "dollars", "by batch"):
        table.add_column(name, justify="right")
    return table


def _row(table: Table, one: StageEstimate, *more: str) -> None:
    table.add_row(
        one.stage,
        one.model,
        f"{one.calls:,}",
        *more,
        f"{one.usage.total - one.usage.output_tokens:,}",
        f"{one.usage.output_tokens:,}",
        dollars(one.dollars),
        dollars(one.batch_dollars) if one.stage in ("passages", "units") else "",
    )


def _sum_row(table: Table, stages: Sequence[StageEstimate]) -> None:
    """The last row of a table made by :func:`_table`."""
    offline = all(one.stage in ("passages", "units") for one in stages)
    cells = [
        f"{sum(one.calls for one in stages):,}",
        *([f"{sum(one.cached for one in stages):,}"] if offline else []),
        f"{sum(one.usage.total - one.usage.output_tokens for one in stages):,}",
        f"{sum(one.usage.output_tokens for one in stages):,}",
        dollars(_added([one.dollars for one in stages])),
        dollars(_added([one.batch_dollars for one in stages])) if offline else "",
    ]
    table.add_row("together", "", *cells)


def _added(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def estimate_json(estimate: Estimate, question: Sequence[StageEstimate] = ()) -> dict[str, Any]:
    """The same for ``--json``."""
    rows: dict[str, Any] = estimate.model_dump(mode="json")
    rows |= {
        "calls": estimate.calls,
        "dollars": estimate.dollars,
        "batch_dollars": estimate.batch_dollars,
        "unpriced": list(estimate.unpriced),
    }
    if question:
        rows["question"] = {
            "stages": [one.model_dump(mode="json") for one in question],
            "dollars": _added([one.dollars for one in question]),
        }
    return rows


# ---------------------------------------------------------------- after


def print_spending(spending: Spending, unpriced: Unpriced = NONE) -> None:
    """What the language model was asked and what it took, by stage. Nothing for no calls.
    ``unpriced``: stages whose dollars nobody knows, and their model."""
    from rich.table import Table as RichTable

    from resin_es.llm.metered import total

    if not spending:
        return
    table = RichTable("stage", box=None)
    for name in ("calls", "failed", "tokens in", "cached in", "tokens out", "dollars"):
        table.add_column(name, justify="right")
    table.add_column("how it was answered")
    rows = [*spending.items(), *([("together", total(spending))] if len(spending) > 1 else [])]
    for name, one in rows:
        usage = one.usage
        unknown = name in unpriced or (name == "together" and unpriced)
        table.add_row(
            name,
            f"{one.calls:,}",
            f"{one.failed:,}",
            f"{usage.input_tokens + usage.cache_write_tokens:,}",
            f"{usage.cache_read_tokens:,}",
            f"{usage.output_tokens:,}",
            dollars(None if unknown else one.dollars),
            _how(one.routes, one.batched, one.fallbacks, one.truncated, one.refused, one.waited),
        )
    console().print(table)
    for model in dict.fromkeys(unpriced.values()):
        note(f"no price known for {model}: {SET_PRICES}")


def _how(
    routes: Mapping[str, int],
    batched: int,
    fallbacks: int,
    truncated: int,
    refused: int,
    waited: float,
) -> str:
    counts = {
        **routes,
        "by batch": batched,
        "asked again by another route": fallbacks,
        "cut off": truncated,
        "refused": refused,
    }
    parts = [f"{count:,} {name}" for name, count in counts.items() if count]
    if waited >= 1:
        parts.append(f"{waited:.0f} s waited at the rate limit")
    return ", ".join(parts)


def spending_json(spending: Spending, unpriced: Unpriced = NONE) -> dict[str, Any]:
    """The same for ``--json``: by stage, ``total``, and ``unpriced`` models, whose dollars are
    in neither."""
    from resin_es.llm.metered import total

    rows = {name: one.model_dump(mode="json") for name, one in spending.items()}
    return {
        "stages": rows,
        "total": total(spending).model_dump(mode="json"),
        "unpriced": list(dict.fromkeys(unpriced.values())),
    }
