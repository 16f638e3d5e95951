"""prompts list, prompts show: what a language model is told."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from resin_es.cli.options import Json
from resin_es.cli.output import console, handled, note, print_json

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _prompts() -> None:
    """What a language model is told at its five places."""


def list_prompts(json_output: Json = False) -> None:
    """The five places, with the version of each prompt and the setting that names its model."""
    from resin_es.prompts import STAGES, prompt

    rows = [_row(prompt(stage)) for stage in STAGES]
    if json_output:
        print_json(rows)
        return
    from rich.table import Table

    table = Table("stage", "version", "model", "sees", box=None)
    for row in rows:
        table.add_row(row["stage"], row["version"], row["model"], row["sees"])
    console().print(table)


def show(
    stage: Annotated[str, typer.Argument(help="passages, units, plan, compose or solve.")],
    json_output: Json = False,
) -> None:
    """Print the system prompt of one stage exactly as it is sent; its version on stderr."""
    from resin_es.errors import InputError
    from resin_es.prompts import STAGES, prompt

    if stage not in STAGES:
        raise InputError(f"There is no stage {stage!r}.", hint=f"The stages: {', '.join(STAGES)}.")
    found = prompt(stage)
    if json_output:
        print_json(_row(found) | {"text": found.text})
        return
    note(f"{found.stage}, version {found.version}")
    typer.echo(found.text)


_SEES = {
    "passages": "title and numbered sentences of a document",
    "units": "title and sentences of one passage",
    "plan": "the question",
    "compose": "the question and the selected passages",
    "solve": "one hop and its own candidates",
}


def _row(found: Any) -> dict[str, str]:
    reads = found.stage in ("passages", "units")
    return {
        "stage": found.stage,
        "version": found.version,
        "model": "RESIN_LLM_READ_MODEL" if reads else "RESIN_LLM_ANSWER_MODEL",
        "sees": _SEES[found.stage],
    }


app.command(name="list")(handled(list_prompts))
app.command(name="show")(handled(show))
