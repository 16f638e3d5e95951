"""settings, install, uninstall, doctor."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from resin_es.cli.options import Json
from resin_es.cli.output import console, note, print_json, progress


def settings(json_output: Json = False) -> None:
    """List every setting with its value and where it comes from; secrets are masked."""
    from resin_es.settings import load_settings, setting_rows, unknown_variables

    rows = setting_rows(load_settings())
    for name in unknown_variables():
        note(f"warning: {name} is no setting of resin-es")
    if json_output:
        print_json([row.model_dump() for row in rows])
        return
    from rich.markup import escape
    from rich.table import Table

    table = Table("setting", "value", "origin", "meaning", box=None)
    for row in rows:
        table.add_row(*map(escape, (row.name, row.value, row.origin, row.description)))
    console().print(table)


def install(
    index_only: Annotated[
        bool,
        typer.Option(
            "--index-only", help="Indices alone, mappings inline: needs no cluster privilege."
        ),
    ] = False,
    create_role: Annotated[
        bool, typer.Option("--create-role", help="Create the least-privilege role, too.")
    ] = False,
    print_role: Annotated[
        bool, typer.Option("--print-role", help="Print the role and do nothing else.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Put templates, indices and aliases on the cluster. Safe to run again."""
    from resin_es.bootstrap import Services
    from resin_es.settings import load_settings

    services = Services(load_settings())
    if print_role:
        print_json(services.role())
        return
    report = services.install(index_only=index_only, create_role=create_role)
    _show(report, json_output)


def uninstall(
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    json_output: Json = False,
) -> None:
    """Take everything that resin-es made off the cluster: indices, templates, role."""
    from resin_es.bootstrap import Services
    from resin_es.settings import load_settings

    services = Services(load_settings())
    if not yes:
        typer.confirm(
            f"Delete everything resin-es made under {services.settings.prefix!r}?",
            abort=True,
            err=True,
        )
    _show(services.uninstall(), json_output)


def _show(report: Any, json_output: bool) -> None:
    if json_output:
        print_json(report.model_dump(mode="json"))
        return
    out = console()
    for name, value in report.model_dump(mode="json").items():
        if value not in (None, [], {}, ""):
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            out.print(f"{name.replace('_', ' ')}: {shown}", markup=False)


def doctor(json_output: Json = False) -> None:
    """Say in one table what is right and what is wrong."""
    from resin_es.bootstrap import Services
    from resin_es.settings import load_settings

    with progress() as bar:
        checks = Services(load_settings(), progress=bar).doctor()
    if json_output:
        print_json([check.model_dump(mode="json") for check in checks])
    else:
        from rich.markup import escape
        from rich.table import Table

        table = Table("", "check", "found", "next step", box=None)
        for check in checks:
            mark = {True: "ok", False: "WRONG", None: "?"}[check.ok]
            # A hint names extras in brackets, which would be taken for a style.
            table.add_row(mark, *map(escape, (check.name, check.detail, check.hint)))
        console().print(table)
    if any(check.ok is False for check in checks):
        raise typer.Exit(1)
