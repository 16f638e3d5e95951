"""The commands, registered. Every command's module is thin: its imports are on first use."""

from __future__ import annotations

from typing import Annotated

import typer

from resin_es._version import __version__
from resin_es.cli import (
    batches,
    demo,
    estimate,
    evaluate,
    node,
    prompts,
    read,
    rebuild,
    setup,
    source,
    sync,
    traces,
    work,
    write,
)
from resin_es.cli.output import handled

app = typer.Typer(
    name="resin-es",
    help="Multi-chain question answering on Elasticsearch: typed units find the passage, the "
    "passage is the evidence, the answer cites it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"resin-es {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Shared options."""


for _command in (
    demo.demo,
    node.up,
    node.down,
    node.status,
    setup.settings,
    setup.install,
    setup.uninstall,
    setup.doctor,
    rebuild.rebuild,
    write.convert,
    estimate.estimate,
    write.index,
    batches.batches,
    write.delete,
    read.search,
    read.plan,
    read.retrieve,
    read.ask,
    traces.trace,
    traces.diagnose,
    sync.sync,
    sync.notify,
    sync.revoke,
    work.worker,
    work.beat,
):
    app.command(name=_command.__name__)(handled(_command))
app.command(name="eval")(handled(evaluate.evaluate))
app.add_typer(prompts.app, name="prompts")
app.add_typer(source.app, name="source")
app.add_typer(sync.app, name="failed")
