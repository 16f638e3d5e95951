"""eval: how much of the gold evidence lies in a small context."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resin_es.cli.options import Json
from resin_es.cli.output import console, note, print_json, progress


def evaluate(
    dataset: Annotated[str, typer.Argument(help="The data set: holisqa.")],
    data: Annotated[Path, typer.Option("--data", help="Folder of one domain, or the one above.")],
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only the first N questions.")
    ] = None,
    documents: Annotated[
        int | None,
        typer.Option("--documents", min=1, help="Only N documents, those of the questions first."),
    ] = None,
    details: Annotated[
        bool, typer.Option("--questions", help="With --json: question by question, too.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Measure gold-sentence recall at 500, 1,000 and 2,000 tokens beside two baselines.

    Indexes the data set under a prefix of its own (…-eval), where nothing else is touched.
    """
    from resin_es.bootstrap.evaluation import evaluate_holisqa
    from resin_es.errors import InputError
    from resin_es.evaluation.report import as_dict, as_table

    if dataset != "holisqa":
        raise InputError(f"unknown data set {dataset!r}.", hint="Known: holisqa.")
    with progress() as bar:
        results = evaluate_holisqa(data, limit=limit, documents=documents, progress=bar, say=note)
    if json_output:
        print_json(as_dict(results, questions=details))
        return
    for result in results:
        console().print(as_table(result))
