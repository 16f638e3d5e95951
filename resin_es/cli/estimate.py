"""estimate: what reading documents by a language model would take."""

from __future__ import annotations

from typing import Annotated

import typer

from resin_es.cli.options import Json
from resin_es.cli.output import note, print_json, progress


def estimate(
    paths: Annotated[
        list[str],
        typer.Argument(help="As for `index`: JSONL, .txt, .md, .html, folders, or - (stdin)."),
    ],
    source: Annotated[str, typer.Option("--source", help="Name of the source.")] = "files",
    afresh: Annotated[
        bool,
        typer.Option("--afresh", help="As if nothing were indexed yet; asks no Elasticsearch."),
    ] = False,
    json_output: Json = False,
) -> None:
    """What reading them by Claude would take: calls, tokens, dollars. Sends nothing, needs no
    key; unchanged documents and cached answers count for nothing."""
    from resin_es.bootstrap import Services
    from resin_es.bootstrap.estimating import estimate_paths, estimate_question
    from resin_es.cli.money import estimate_json, print_estimate
    from resin_es.settings import load_settings

    problems: list[tuple[str, str]] = []
    settings = load_settings()
    with progress() as bar:
        found = estimate_paths(
            Services(settings, progress=bar),
            paths,
            source=source,
            afresh=afresh,
            problem=lambda where, reason: problems.append((where, reason)),
            progress=bar,
        )
    question = estimate_question(settings)
    if json_output:
        told = [{"where": where, "reason": reason} for where, reason in problems]
        print_json({**estimate_json(found, question), "problems": told})
    else:
        print_estimate(found, question)
        for where, reason in problems:
            note(f"not taken: {where}: {reason}")
    if problems:
        raise typer.Exit(1)
