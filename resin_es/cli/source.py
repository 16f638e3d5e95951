"""source add, list, show, remove, pause, resume: the team's own indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from resin_es.cli.options import Json
from resin_es.cli.output import console, handled, note, print_json, progress
from resin_es.errors import AccessError, InputError, UsageError

if TYPE_CHECKING:
    from resin_es.bootstrap import Services
    from resin_es.model.source import SourceSpec

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _source() -> None:
    """Indices that a team already has: read only, and kept fresh in the background."""


Name = Annotated[str, typer.Argument(help="Name of the source.")]
Index = Annotated[str | None, typer.Option("--index", help="Index, alias, pattern or data stream.")]
Id = Annotated[str, typer.Option("--id", help="Field of the document's id.")]
Title = Annotated[str, typer.Option("--title", help="Field of the title.")]
Text = Annotated[
    list[str] | None, typer.Option("--text", help="Fields of the text, in order, by commas.")
]
UpdatedAt = Annotated[
    str, typer.Option("--updated-at", help="Date field that every change sets anew.")
]
Access = Annotated[
    str, typer.Option("--access", help="Field of the groups that may read a document.")
]
Public = Annotated[bool, typer.Option("--public", help="Everyone may read all of it.")]
Private = Annotated[bool, typer.Option("--private", help="Nobody but an admin may read it.")]
Metadata = Annotated[
    list[str] | None, typer.Option("--metadata", help="Fields to filter on, by commas.")
]
Url = Annotated[str, typer.Option("--url", help="Field of the address that a citation shows.")]
Cluster = Annotated[
    str, typer.Option("--cluster", help="Cluster it lives on, a name in RESIN_CLUSTERS.")
]
Slices = Annotated[int, typer.Option("--slices", help="Parts that are read side by side.")]
Overlap = Annotated[
    float, typer.Option("--overlap", help="Seconds looked back behind the last change seen.")
]
File = Annotated[str | None, typer.Option("--file", help="Sources in YAML, instead of options.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Keep nothing: counts, samples, what Claude would cost.")
]
Replace = Annotated[
    bool, typer.Option("--replace", help="Change a source, or take over documents of that name.")
]


def add(
    name: Annotated[str | None, typer.Argument(help="Name of the source.")] = None,
    index: Index = None,
    id_field: Id = "_id",
    title: Title = "",
    text: Text = None,
    updated_at: UpdatedAt = "",
    access: Access = "",
    public: Public = False,
    private: Private = False,
    metadata: Metadata = None,
    url: Url = "",
    cluster: Cluster = "",
    slices: Slices = 1,
    overlap: Overlap = 60.0,
    file: File = None,
    dry_run: DryRun = False,
    replace: Replace = False,
    json_output: Json = False,
) -> None:
    """Add an index. Its mapping is checked, and nothing is ever written to it."""
    from resin_es.bootstrap.sources import specs_from_file

    given = {
        "index": index,
        "id_field": id_field,
        "title_field": title,
        "text_fields": _split(text),
        "updated_field": updated_at,
        **_rights(access, public, private, needed=file is None),
        "metadata_fields": _split(metadata),
        "url_field": url,
        "cluster": cluster,
        "slices": slices,
        "overlap_seconds": overlap,
    }
    if file is None:
        specs = [_spec(name, given)]
    else:
        _alone(given, access=access, public=public, private=private)
        specs = specs_from_file(file, name)
    _add(specs, dry_run=dry_run, replace=replace, json_output=json_output)


def _alone(given: dict[str, Any], **rights: Any) -> None:
    """A file beside other options would leave open which of them counts."""
    usual = {"id_field": "_id", "slices": 1, "overlap_seconds": 60.0, "access": "private"}
    if any(rights.values()) or any(
        value and value != usual.get(name) for name, value in given.items()
    ):
        raise UsageError("--file says all of a source.", hint="Leave the other options out.")


def _rights(access: str, public: bool, private: bool, *, needed: bool) -> dict[str, str]:
    ways = [bool(access), public, private]
    if sum(ways) > 1:
        raise UsageError("--access, --public and --private exclude each other.", hint="Keep one.")
    if needed and not any(ways):
        raise AccessError(
            "Nothing says who may read these documents.",
            hint="Give --access FIELD (a field of group names), --public or --private.",
        )
    return {"access": "field" if access else "public" if public else "private"} | (
        {"access_field": access} if access else {}
    )


def _spec(name: str | None, given: dict[str, Any]) -> SourceSpec:
    from resin_es.sync.spec import spec_from

    lacking = [
        option
        for option, value in (
            ("NAME", name),
            ("--index", given["index"]),
            ("--text", given["text_fields"]),
        )
        if not value
    ]
    if lacking:
        raise InputError(f"{', '.join(lacking)} is missing.", hint="See `source add --help`.")
    return spec_from({"name": name, **given})


def _split(given: list[str] | None) -> list[str]:
    parts = (part.strip() for one in given or () for part in one.split(","))
    return [part for part in parts if part]


def _add(specs: list[SourceSpec], *, dry_run: bool, replace: bool, json_output: bool) -> None:
    from resin_es.bootstrap.sources import add_source
    from resin_es.cli.source_shown import show_check

    with progress() as bar:
        services = _services(progress=bar)
        checks = [
            add_source(services, spec, dry_run, replace=replace, progress=bar) for spec in specs
        ]
    if json_output:
        shown = [check.model_dump(mode="json") for check in checks]
        print_json(shown if len(shown) > 1 else shown[0])
        return
    for check in checks:
        show_check(check)


def list_sources(json_output: Json = False) -> None:
    """All sources: what they read, and how far they are."""
    from resin_es.bootstrap.sources import list_sources as listed
    from resin_es.cli.source_shown import show_sources

    found = listed(_services())
    if json_output:
        print_json([source.model_dump(mode="json") for source in found])
    else:
        show_sources(found)


def show(name: Name, json_output: Json = False) -> None:
    """One source: its fields, its state, its documents by state."""
    from resin_es.bootstrap.sources import show_source
    from resin_es.cli.source_shown import show_view

    view = show_source(_services(), name)
    if json_output:
        print_json(view.model_dump(mode="json"))
    else:
        show_view(view)


def remove(
    name: Name,
    keep_documents: Annotated[
        bool, typer.Option("--keep-documents", help="Leave what was indexed answerable.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    json_output: Json = False,
) -> None:
    """Forget a source and delete what was indexed from it; the team's index is not touched."""
    from resin_es.bootstrap.sources import remove_source, show_source

    services = _services()
    view = show_source(services, name)
    if not (yes or keep_documents):
        typer.confirm(
            f"Delete {view.coverage.documents:,} documents that were indexed from {name!r}?",
            abort=True,
            err=True,
        )
    deleted = remove_source(services, name, keep_documents=keep_documents)
    if json_output:
        print_json({"removed": name, "deleted": deleted})
    else:
        console().print(f"{name} removed, {deleted:,} documents deleted")


def pause(name: Name, json_output: Json = False) -> None:
    """Stop syncing a source; its documents stay answerable."""
    _pause(name, True, json_output)


def resume(name: Name, json_output: Json = False) -> None:
    """Sync a paused source again."""
    _pause(name, False, json_output)


def _pause(name: str, paused: bool, json_output: bool) -> None:
    from resin_es.bootstrap.sources import pause_source

    source = pause_source(_services(), name, paused)
    if json_output:
        print_json(source.model_dump(mode="json"))
    else:
        note(f"{name} is {'paused' if paused else 'synced again'}")


def _services(**options: Any) -> Services:
    from resin_es.bootstrap import Services
    from resin_es.settings import load_settings

    return Services(load_settings(), **options)


app.command(name="add")(handled(add))
app.command(name="list")(handled(list_sources))
app.command(name="show")(handled(show))
app.command(name="remove")(handled(remove))
app.command(name="pause")(handled(pause))
app.command(name="resume")(handled(resume))
