"""up, down, status: the local Elasticsearch node and what is indexed."""

from __future__ import annotations

from typing import Any

from resin_es.cli.options import Group, Json
from resin_es.cli.output import console, note, print_json, progress


def up(json_output: Json = False) -> None:
    """Start the local Elasticsearch node (downloads it once); does nothing if it runs."""
    from resin_es.bootstrap.stages import local_settings
    from resin_es.local import up as start
    from resin_es.settings import load_settings

    with progress() as bar:
        found = start(local_settings(load_settings()), bar)
    for line in found.notes:
        note(line)
    if json_output:
        print_json(found.model_dump(mode="json"))
    else:
        console().print(f"Elasticsearch {found.version} runs at {found.url}")


def down(json_output: Json = False) -> None:
    """Stop the local node; its data stay."""
    from resin_es.bootstrap.stages import local_settings
    from resin_es.local import down as stop
    from resin_es.settings import load_settings

    stopped = stop(local_settings(load_settings()))
    if json_output:
        print_json({"stopped": stopped})
    else:
        console().print("stopped; the data stay" if stopped else "the local node was not running")


def status(group: Group = None, json_output: Json = False) -> None:
    """Show the node and, to those who may read, what is indexed."""
    from resin_es.bootstrap import Services
    from resin_es.bootstrap.syncing import standing_of_sources
    from resin_es.errors import AccessError, StoreNotInstalled
    from resin_es.settings import load_settings

    services = Services(load_settings())
    shown: dict[str, Any] = {"elasticsearch": _node(services)}
    if shown["elasticsearch"].get("running", True):
        try:
            principal = services.principal(group or None)
            coverage = services.store.coverage(principal, ())
            shown["sources"] = [one.model_dump(mode="json") for one in coverage]
            shown["addresses"] = dict(services.store.kind_counts(principal, ()))
            shown["background"] = standing_of_sources(
                services, None if principal.admin else [one.source for one in coverage]
            )
        except AccessError as error:
            shown["sources"] = None
            note(f"counts are not shown: {error}")
        except StoreNotInstalled as error:
            shown["sources"] = []
            note(str(error))
    if json_output:
        print_json(shown)
    else:
        _print(shown)


def _node(services: Any) -> dict[str, Any]:
    if not services.on_local_node:
        from resin_es.settings import without_credentials

        return {"url": without_credentials(services.settings.es_url)}
    from resin_es.bootstrap.stages import local_settings
    from resin_es.local import status as look

    found: dict[str, Any] = look(local_settings(services.settings)).model_dump(mode="json")
    return found


def _print(shown: dict[str, Any]) -> None:
    from rich.table import Table

    out = console()
    node = shown["elasticsearch"]
    if node.get("running") is False:
        out.print(f"the local node is down ({node['url']}); `resin-es up` starts it")
        return
    version = f" {node['version']}" if node.get("version") else ""
    out.print(f"Elasticsearch{version} at {node['url']}")
    if shown.get("sources"):
        table = Table("source", "documents", "by state", box=None)
        for row in shown["sources"]:
            states = ", ".join(f"{count} {state}" for state, count in row["by_status"].items())
            table.add_row(row["source"], str(row["documents"]), states)
        out.print(table)
        kinds = ", ".join(f"{count} {kind}" for kind, count in shown["addresses"].items())
        out.print(f"addresses: {kinds or 'none'}")
        for row in shown.get("background", ()):
            _print_sync_state(row)
    elif shown.get("sources") == []:
        out.print(
            "nothing is indexed yet; `resin-es index PATH --public` does that, or "
            "`resin-es sync NAME` of a source (`resin-es source list`)"
        )


def _print_sync_state(row: dict[str, Any]) -> None:
    idle = "failing" if row["error"] else "kept fresh"
    state = "paused" if row["paused"] else "syncing" if row["syncing"] else idle
    error = f"; {row['error']['type']}: {row['error']['message']}" if row["error"] else ""
    error += f"; {row['unreadable']} unreadable" if row["unreadable"] else ""
    last = f", last synced {row['synced_at']}" if row["synced_at"] else ", never synced"
    console().print(f"source {row['source']}: {state}{last}{error}", markup=False)
