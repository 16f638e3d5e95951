"""eval: how much of the gold evidence lies in a small context, beside other ways to retrieve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resin_es.cli.options import Json
from resin_es.cli.output import console, note, print_json, progress

if TYPE_CHECKING:
    from resin_es.bootstrap.evaluation import EvalOutcome


MOST_TOKENS = 1_000_000
"""Largest evidence budget, as everywhere."""

# typer reads these annotations at run time, on Python 3.10 too
Format = Annotated[
    str,
    typer.Argument(
        help="The data set's format: holisqa, hotpotqa, musique, qasc, msmarco, own; "
        "or `systems` to list the rows, `remove` to take all evaluations off the cluster."
    ),
]
Data = Annotated[Path | None, typer.Option("--data", help="Folder or file of the data set.")]
Systems = Annotated[
    str,
    typer.Option(
        "--systems",
        help="Rows, comma-separated: names and groups (baselines, known, ablations, external, "
        "all). Default: what needs no model and takes minutes.",
    ),
]
Budgets = Annotated[
    str, typer.Option("--budgets", help="Evidence budgets in tokens, comma-separated.")
]
Out = Annotated[
    Path, typer.Option("--out", help="Folder for findings, results.json and report.html.")
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Forget what an earlier run into --out found.")
]
Answers = Annotated[
    bool, typer.Option("--answers", help="Compose answers at the largest budget: F1, EM.")
]
JudgeIt = Annotated[
    bool, typer.Option("--judge", help="Have answers judged by RAGAS (needs a key; costs).")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N questions.")]
Documents = Annotated[
    int | None,
    typer.Option("--documents", min=1, help="Only N documents, those of the questions first."),
]
Lanes = Annotated[
    int,
    typer.Option("--lanes", min=1, max=32, help="Questions asked at a time; 1 for fair seconds."),
]
Yes = Annotated[bool, typer.Option("--yes", help="With `remove`: do it without asking.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the bootstrap intervals.")]


def evaluate(
    dataset: Format,
    data: Data = None,
    systems: Systems = "",
    budgets: Budgets = "500,1000,2000",
    out: Out = Path("resin-eval"),
    fresh: Fresh = False,
    answers: Answers = False,
    judge: JudgeIt = False,
    limit: Limit = None,
    documents: Documents = None,
    seed: Seed = 0,
    lanes: Lanes = 2,
    yes: Yes = False,
    json_output: Json = False,
) -> None:
    """Measure gold-sentence recall within evidence budgets, with intervals, beside baselines.

    Indexes each data set under a prefix of its own (…-eval-…), where nothing else is touched. A
    run that is broken off goes on where it ended; what is known is not run again.
    """
    if dataset == "systems":
        _list_systems(json_output)
        return
    if dataset == "remove":
        _remove(yes, json_output)
        return
    from resin_es.bootstrap.evaluation import EvalRequest, run_evaluation
    from resin_es.errors import InputError

    if data is None:
        raise InputError("--data is missing.", hint="Name the folder that the data set lies in.")
    request = EvalRequest(
        dataset=dataset,
        data=data,
        systems=tuple(name.strip() for name in systems.split(",") if name.strip()),
        budgets=_numbers(budgets),
        limit=limit,
        documents=documents,
        out=out,
        fresh=fresh,
        answers=answers,
        judge=judge,
        seed=seed,
        lanes=lanes,
    )
    with progress() as bar:
        outcome = run_evaluation(request, progress=bar, say=note)
    _show(outcome, json_output)


def _numbers(text: str) -> tuple[int, ...]:
    from resin_es.errors import InputError

    try:
        numbers = tuple(int(part.replace("_", "")) for part in text.split(",") if part.strip())
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1 or max(numbers) > MOST_TOKENS:
        raise InputError(
            f"--budgets is {text!r}, but must be whole numbers from 1 to {MOST_TOKENS:,}.",
            hint="--budgets 500,1000,2000",
        )
    return numbers


def _show(outcome: EvalOutcome, json_output: bool) -> None:
    if json_output:
        from resin_es.evaluation.report import as_dict

        print_json(as_dict(outcome.report))
    else:
        from resin_es.evaluation.report import tables

        for table in tables(outcome.report):
            console().print(table)
    for path in outcome.files:
        note(f"wrote {path}")


def _list_systems(json_output: bool) -> None:
    from resin_es.bootstrap.evaluation import catalogue

    entries = catalogue()
    if json_output:
        print_json({"systems": [entry.model_dump() for entry in entries]})
        return
    from rich.table import Table

    table = Table(title="Rows of an evaluation (--systems)")
    for column in ("name", "group", "what it is", "needs"):
        table.add_column(column)
    for entry in entries:
        table.add_row(entry.name, entry.group, entry.about, entry.needs)
    console().print(table)


def _remove(yes: bool, json_output: bool) -> None:
    from resin_es.bootstrap import Services
    from resin_es.bootstrap.evaluation import evaluated, remove_evaluations
    from resin_es.settings import load_settings

    with progress() as bar:
        services = Services(load_settings(), progress=bar)
        names = evaluated(services)
    for name in names:
        note(name)
    if names and not yes:
        typer.confirm("Delete everything under these prefixes?", abort=True, err=True)
    reports = remove_evaluations(services, names)
    if json_output:
        print_json({"removed": [report.model_dump(mode="json") for report in reports]})
        return
    indices = sum(len(report.indices) for report in reports)
    console().print(f"{len(reports)} evaluations removed, {indices} indices.")
    for report in reports:
        for kept in report.kept:
            note(f"{report.prefix}: {kept} stayed")
