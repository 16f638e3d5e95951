"""sync, notify, revoke, failed: an existing index kept fresh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from resin_es.cli.options import Json
from resin_es.cli.output import console, handled, note, print_json, progress

if TYPE_CHECKING:
    from resin_es.bootstrap import Services
    from resin_es.sync.service import SyncService

Name = Annotated[str, typer.Argument(help="Name of the source.")]
Ids = Annotated[list[str], typer.Option("--id", help="Id in the team's index; repeatable.")]

SHOWN = 20

app = typer.Typer(help="Documents that failed for the last time.", no_args_is_help=True)


def _service() -> tuple[Services, SyncService]:
    from resin_es.bootstrap import Services
    from resin_es.bootstrap.syncing import queued_service
    from resin_es.settings import load_settings

    services = Services(load_settings())
    return services, queued_service(services)


def sync(
    name: Name,
    full: Annotated[
        bool, typer.Option("--full", help="Compare every document by its content.")
    ] = False,
    here: Annotated[
        bool, typer.Option("--here", help="Read in this process too; needs no Redis, no worker.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Stay until the workers have read everything.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Find what changed in a source: deletions and rights hold at once, content is queued."""
    if here:
        _sync_here(name, full=full, json_output=json_output)
        return
    services, service = _service()
    report = service.sync_now(name, full=full)
    if not json_output:
        _print_sync(report)
        if (follow or report.queued) and not report.skipped:
            _tell_of_workers(services)
    # of a paused source nothing is read, so what waits would be waited for in vain
    watched = follow and not report.skipped
    standing = _follow(services, name, quiet=json_output) if watched else None
    if json_output:
        print_json({**report.to_dict(), **({"standing": standing} if follow else {})})
    if report.queue_error:
        raise typer.Exit(1)


def _tell_of_workers(services: Services) -> None:
    """Whoever waits for nobody should know it."""
    from resin_es.bootstrap.background_checks import workers_at_work

    if workers_at_work(services.settings) == []:
        note("no worker is at work: `resin-es worker` starts one, `--here` does without")


def _sync_here(name: str, *, full: bool, json_output: bool) -> None:
    from resin_es.bootstrap import Services
    from resin_es.bootstrap.syncing import sync_here
    from resin_es.settings import load_settings

    with progress(not json_output) as bar:
        services = Services(load_settings(), progress=bar)
        report, work = sync_here(services, name, full=full, progress=bar)
    if json_output:
        print_json({**report.to_dict(), "work": work.to_dict()})
    else:
        _print_sync(report)
        console().print(
            f"{work.done} documents worked on, {work.index.read_passages} passages read: "
            f"{work.index.units} units"
        )
        _problems(list(work.problems.items()))
    if work.retried or work.dead or work.problems:
        raise typer.Exit(1)


def _follow(services: Services, name: str, *, quiet: bool) -> dict[str, Any]:
    from resin_es.bootstrap.syncing import follow as looks
    from resin_es.cli.money import dollars

    last: dict[str, Any] = {}
    with progress(not quiet) as bar:
        for one in looks(services, name):
            total = sum(one.by_status.values())
            eta = f", {one.eta_s:,.0f} s left" if one.eta_s is not None and one.open else ""
            paid = f", {dollars(one.cost)}" if one.cost else ""
            bar.update(total - one.open, total, f"{name}: {one.rate:.1f}/s{eta}{paid}")
            last = one.model_dump(mode="json")
    if not quiet:
        states = ", ".join(f"{count} {state}" for state, count in last["by_status"].items())
        console().print(f"{name}: {states or 'no documents'}", markup=False)
    return last


def _print_sync(report: Any) -> None:
    out = console()
    if report.skipped:
        note(f"{report.source}: left alone: {report.skipped}")
        return
    counts = {
        "new": report.new,
        "changed": report.changed,
        "rights changed": report.rights_changed,
        "deleted": report.deleted,
        "waiting": report.waiting,
        "empty": report.empty,
    }
    parts = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    how = "all of it compared" if report.full else f"{report.looked_at} looked at"
    out.print(
        f"{report.source}: {report.listed} documents listed, {how}: {parts or 'nothing changed'} "
        f"({report.seconds:.1f} s)",
        markup=False,
    )
    if report.queued:
        out.print(f"{report.queued} queued for the workers")
    if report.held:
        note(f"{report.held} wait in the registry until the queue has room")
    if report.queue_error:
        note(f"queue: {report.queue_error}")
    _problems(report.unreadable)


def _problems(rows: list[tuple[str, str]]) -> None:
    for where, reason in rows[:SHOWN]:
        note(f"{where}: {reason}")
    if len(rows) > SHOWN:
        note(f"{len(rows) - SHOWN} more (--json lists all)")


def notify(name: Name, ids: Ids, json_output: Json = False) -> None:
    """Look at these documents now: changed, new or gone."""
    _, service = _service()
    report = service.notify(name, ids)
    if json_output:
        print_json(report.to_dict())
    else:
        _print_sync(report)
    if report.queue_error:
        raise typer.Exit(1)


def revoke(
    name: Name,
    ids: Ids,
    undo: Annotated[
        bool, typer.Option("--undo", help="Give them the rights of the team's index again.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Take documents from everybody but an admin, at once and until it is undone."""
    _, service = _service()
    if undo:
        restored = service.restore(name, ids)
        if json_output:
            print_json(restored.to_dict())
        else:
            _print_sync(restored)
        return
    report = service.revoke(name, ids)
    if json_output:
        print_json(report.to_dict())
    else:
        console().print(f"{report.revoked} revoked")
        for one in report.missing:
            note(f"{one}: no such document now; it stays revoked should it come")


@app.callback()
def _failed() -> None:
    """Documents that failed for the last time."""


def list_failed(
    source: Annotated[str | None, typer.Option("--source", help="Of this source alone.")] = None,
    json_output: Json = False,
) -> None:
    """List them, with what they failed of."""
    _, service = _service()
    rows = [_row(entry) for entry in service.failed(source)]
    if json_output:
        print_json(rows)
        return
    from rich.table import Table

    table = Table("source", "document", "state", "attempts", "stage", "error", box=None)
    for row in rows:
        error = row["error"] or {}
        table.add_row(
            row["source"],
            row["id"],
            row["status"],
            str(row["attempts"]),
            error.get("stage", ""),
            f"{error.get('type', '')}: {error.get('message', '')}",
        )
    console().print(table if rows else "none failed")


def retry(
    name: Name,
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="Only this one; repeatable.")
    ] = None,
    json_output: Json = False,
) -> None:
    """Give them their attempts back and queue them."""
    _, service = _service()
    count = service.retry(name, ids or ())
    if json_output:
        print_json({"retried": count})
    else:
        console().print(f"{count} tried again")


def show(
    name: Name,
    external_id: Annotated[str, typer.Argument(help="Id in the team's index.")],
    json_output: Json = False,
) -> None:
    """Where a document stands, failed or not."""
    from resin_es.errors import InputError
    from resin_es.model import document_key

    _, service = _service()
    key = document_key(name, external_id)
    stored = service.desk.store.entries([key]).get(key)
    if stored is None:
        raise InputError(
            f"Source {name!r} has no document {external_id!r}.",
            hint=f"Ids are those of the team's index; `resin-es sync {name}` looks for new ones.",
        )
    row = _row(stored.entry)
    if json_output:
        print_json(row)
        return
    error = row["error"]
    if error:
        row["error"] = f"{error['stage']}: {error['type']}: {error['message']}"
    for field, value in row.items():
        if value not in (None, ""):
            console().print(f"{field}: {value}", markup=False)


def _row(entry: Any) -> dict[str, Any]:
    shown: dict[str, Any] = entry.model_dump(
        mode="json",
        include={
            "source",
            "status",
            "attempts",
            "not_before",
            "lease",
            "heartbeat",
            "error",
            "version",
            "committed_version",
            "committed_at",
            "updated_at",
        },
    )
    return {"id": entry.external_id, **shown}


app.command(name="list")(handled(list_failed))
app.command(name="retry")(handled(retry))
app.command(name="show")(handled(show))
