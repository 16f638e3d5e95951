"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

# typer reads these annotations at run time, on Python 3.10 too
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
Source = Annotated[
    list[str] | None, typer.Option("--source", help="Only documents of this source.")
]
Kind = Annotated[
    list[str] | None,
    typer.Option("--kind", help="Only units of this kind (or `sentence`); repeatable."),
]
Entity = Annotated[
    list[str] | None, typer.Option("--entity", help="Only units about this entity; repeatable.")
]
Filter = Annotated[
    list[str] | None,
    typer.Option("--filter", help="FIELD=VALUE, e.g. metadata.year=2024; repeatable."),
]
Group = Annotated[
    list[str] | None,
    typer.Option("--group", help="Group of the asker; repeatable (or RESIN_GROUPS)."),
]
K = Annotated[int | None, typer.Option("--k", help="Distinct passages kept per hop.")]
Budget = Annotated[
    int | None, typer.Option("--budget", help="Evidence budget in tokens of 4 characters.")
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", min=0.0, help="Most US dollars that this run may spend."),
]
