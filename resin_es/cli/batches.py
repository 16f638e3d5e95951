"""batches: what Message Batches are under way."""

from __future__ import annotations

from typing import Annotated

import typer

from resin_es.cli.options import Json
from resin_es.cli.output import console, print_json


def batches(
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Stop those that run; what they finished stays.")
    ] = False,
    json_output: Json = False,
) -> None:
    """List the batches that `index --batch` left open and would go on with."""
    from resin_es.bootstrap import Resin
    from resin_es.bootstrap.batches import cancel_batches, list_batches

    services = Resin.from_env().services
    stopped = cancel_batches(services) if cancel else []
    rows = list_batches(services)
    if json_output:
        listed = [one.model_dump(mode="json") for one in rows]
        print_json({"batches": listed, "cancelled": stopped})
        return
    if stopped:
        console().print(f"{len(stopped)} told to stop: {', '.join(stopped)}")
    if not rows:
        console().print("no batch is open")
        return
    from rich.table import Table

    table = Table("batch", "stage", "model", "calls", "done", "state", "made", box=None)
    for one in rows:
        made = f"{one.created_at:%Y-%m-%d %H:%M}"
        cells = (one.id or "?", one.stage, one.model, f"{one.calls:,}", f"{one.done:,}")
        table.add_row(*cells, one.state.value if one.state else "unknown", made)
    console().print(table)
