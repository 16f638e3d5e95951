"""rebuild: another embedding model, statement version or mapping, without downtime."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from resin_es.cli.options import Json
from resin_es.cli.output import console, note, print_json, progress
from resin_es.errors import UsageError

if TYPE_CHECKING:
    from resin_es.index.rebuilt import Rebuilder, RebuildReport, RebuildStatus


def rebuild(
    status: Annotated[
        bool, typer.Option("--status", help="Only say where a rebuild stands.")
    ] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Take away what is under construction.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Build anew even what fits the settings.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    json_output: Json = False,
) -> None:
    """Build units, sentences and passages anew for the model, statement version and mapping of
    these settings, while the old ones answer. Nothing is read again. Goes on where it stopped."""
    from resin_es.bootstrap import Services
    from resin_es.settings import load_settings

    if status and cancel:
        raise UsageError("--status and --cancel contradict each other.", hint="Choose one.")
    with progress() as bar:
        work = Services(load_settings(), progress=bar).rebuild(progress=bar)
        stands = work.status()
    if status:
        _show_status(stands, json_output)
    elif cancel:
        _cancel(work, stands, yes, json_output)
    else:
        _run(work, stands, force, yes, json_output)


def _run(work: Rebuilder, stands: RebuildStatus, force: bool, yes: bool, json_output: bool) -> None:
    from resin_es.index.rebuilt import in_words

    wanted = work.plan()
    if stands.state == "none" and wanted == dict(stands.old) and not force:
        _show_report(work.run(), json_output)
        return
    old, new = in_words(stands.old), in_words(wanted)
    _agree(f"Build the indices anew, from {old} to {new}?", yes)
    with progress() as bar:
        work.reports_to(bar)
        report = work.run(force=force)
    _show_report(report, json_output)


def _cancel(work: Rebuilder, stands: RebuildStatus, yes: bool, json_output: bool) -> None:
    from resin_es.index.rebuilt import in_words

    if stands.state == "building":
        _agree(f"Take away what was built for {in_words(stands.new)}?", yes)
    gone = work.cancel()
    if json_output:
        print_json({"deleted": gone})
    else:
        console().print(f"deleted: {', '.join(gone)}" if gone else "nothing was under construction")


def _agree(question: str, yes: bool) -> None:
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("This has to be agreed to.", hint="Give --yes.")
    typer.confirm(question, abort=True, err=True)


def _show_status(stands: RebuildStatus, json_output: bool) -> None:
    if json_output:
        print_json(stands.model_dump())
        return
    from resin_es.index.rebuilt import in_words

    out = console()
    old, new = in_words(stands.old), in_words(stands.new)
    told = {
        "none": f"no rebuild is under way; the indices are of {old}",
        "building": f"since {stands.began} under construction: {new}\n"
        f"meanwhile answers come from: {old}",
        "swapped": f"since the swap answers come from: {new}\n"
        "the old indices are still to be checked and dropped: `resin-es rebuild` does it",
    }
    out.print(told[stands.state], markup=False)
    for index, count in stands.records.items():
        out.print(f"  {index}: {count} records")


def _show_report(report: RebuildReport, json_output: bool) -> None:
    if json_output:
        print_json(report.model_dump())
        return
    out = console()
    if not report.done:
        out.print("the indices are what the settings ask for: nothing to rebuild")
        return
    counts = ", ".join(f"{count} {family}" for family, count in report.records.items())
    out.print(f"generation {report.generation} answers: {counts}")
    second = report.multilingual
    more = f", of what is in another language than English also by {second}" if second else ""
    out.print(f"vectors by {report.model}{more}", markup=False)
    out.print(f"{report.copied} records written in {report.passes} passes; nothing was read again")
    note(f"dropped: {', '.join(report.dropped)}")
