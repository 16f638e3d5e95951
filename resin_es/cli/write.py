"""convert, index, delete."""

from __future__ import annotations

import contextlib
import functools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from resin_es.cli.options import Json, MaxCost
from resin_es.cli.output import console, note, print_json, progress
from resin_es.errors import ResinError, UsageError

if TYPE_CHECKING:
    from resin_es.bootstrap import Resin
    from resin_es.llm.estimate import Estimate


def convert(
    kind: Annotated[
        str, typer.Argument(help="What it holds: holisqa, hotpotqa, musique, qasc, msmarco, own.")
    ],
    folder: Annotated[Path, typer.Argument(help="Folder or file of the data set (one domain).")],
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write (default: standard output).")
    ] = None,
    json_output: Json = False,
) -> None:
    """Turn a data set's folder into JSONL that `resin-es index` reads. No gold data goes in."""
    from resin_es.evaluation.convert import convert as converted

    records = converted(kind, folder)
    count = 0
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(out.open("w", encoding="utf-8")) if out else sys.stdout
        for record in records:
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += 1
    if out and json_output:
        print_json({"documents": count, "file": str(out)})
    elif out:
        console().print(f"{count} documents written to {out}")


def index(
    paths: Annotated[
        list[str],
        typer.Argument(help="JSONL, .txt, .md, .html, folders of them, or - (JSONL on stdin)."),
    ],
    source: Annotated[str, typer.Option("--source", help="Name of the source.")] = "files",
    public: Annotated[bool, typer.Option("--public", help="Everyone may read them.")] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Nobody but an admin may read them.")
    ] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Delete documents of these folders whose files are gone."),
    ] = False,
    batch: Annotated[
        bool,
        typer.Option("--batch", help="Claude reads by Message Batches: half the price, later."),
    ] = False,
    max_cost: MaxCost = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Agree to what the first paid reading may cost.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Read documents and index them; what did not change costs nothing."""
    from resin_es.bootstrap import Resin
    from resin_es.cli.money import print_spending, spending_json

    given = {} if max_cost is None else {"max_cost": max_cost}
    with progress() as bar:
        resin = Resin.from_env(progress=bar, **given)
        _hint_at_key(resin)
        try:
            report = resin.index_paths(
                paths,
                source=source,
                public=public,
                private=private,
                prune=prune,
                batch=batch,
                consent=functools.partial(_consent, yes=yes, quiet=json_output),
            )
        except (ResinError, KeyboardInterrupt):
            if not json_output:
                print_spending(resin.spending, resin.unpriced)
            raise
    if json_output:
        print_json({**report.to_dict(), "spending": spending_json(resin.spending, resin.unpriced)})
    else:
        print_report(report)
        print_spending(resin.spending, resin.unpriced)
    if not report.ok:
        raise typer.Exit(1)


def _hint_at_key(resin: Resin) -> None:
    from resin_es.bootstrap.language import KEY_HINT, key_without_choice

    if key_without_choice(resin.services.settings):
        note(KEY_HINT)


def _consent(estimate: Estimate, *, yes: bool, quiet: bool) -> bool:
    """Show what the first paid reading may cost, and ask."""
    from resin_es.cli.money import dollars, print_estimate

    if quiet:
        note(f"estimate: {estimate.calls:,} calls, {dollars(estimate.dollars)}")
    else:
        print_estimate(estimate)
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        priced = estimate.dollars is not None
        sum_ = f"about {dollars(estimate.dollars)}" if priced else "at a price that nobody knows,"
        raise UsageError(
            "A source's first paid reading by a model has to be agreed to: "
            f"{sum_} for {estimate.calls:,} calls.",
            hint="Give --yes, and --max-cost DOLLARS to bound it.",
        )
    return typer.confirm("Have it read for about that?", err=True)


def delete(
    ids: Annotated[list[str], typer.Argument(help="Ids as given at indexing.")],
    source: Annotated[str, typer.Option("--source", help="Name of the source.")] = "files",
    json_output: Json = False,
) -> None:
    """Delete documents; from then on no answer carries them."""
    from resin_es.bootstrap import Resin
    from resin_es.bootstrap.sources import source_book

    resin = Resin.from_env()
    report = resin.delete(ids, source=source)
    kept = source_book(resin.services).source(source)
    if kept is not None:
        note(
            f"source {source!r} is kept fresh from {kept.source.spec.index}: what is still there "
            "comes back with its next sync. Delete it there, or `resin-es revoke` it here."
        )
    if json_output:
        print_json({"deleted": report.deleted, "problems": report.to_dict()["problems"]})
    else:
        console().print(f"{report.deleted} deleted")
        for where, reason in report.problems:
            note(f"  {where}: {reason}")
    if report.problems:
        raise typer.Exit(1)


SHOWN_PROBLEMS = 20


def print_report(report: Any) -> None:
    """An index report for people."""
    out = console()
    counts = {
        "new": report.new,
        "changed": report.changed,
        "rights changed": report.rights_changed,
        "unchanged": report.unchanged,
        "deleted": report.deleted,
        "empty": report.empty,
    }
    parts = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    out.print(f"{report.documents} documents ({parts or 'none'}) in {report.seconds:.1f} s")
    if report.read_passages:
        out.print(
            f"read {report.read_passages} passages: {report.units} units; "
            f"{report.sentences} sentences have an address each"
        )
    if report.unread_languages:
        languages = ", ".join(f"{n} {code}" for code, n in report.unread_languages.most_common(8))
        out.print(f"without units, by language: {languages}")
    if report.skipped:
        endings = ", ".join(f"{n} {ending}" for ending, n in report.skipped.most_common(8))
        out.print(f"files of unknown kind, left out: {endings}")
    if report.rejected_units:
        reasons = ", ".join(f"{n} {why}" for why, n in report.rejected_units.most_common(8))
        out.print(f"units turned down: {reasons}")
    if report.model_faults:
        faults = ", ".join(f"{n} {what}" for what, n in report.model_faults.most_common(8))
        out.print(f"what the model did wrong: {faults}")
    if report.batches:
        told = ", ".join(f"{n} {what}" for what, n in report.batches.items() if _count(n))
        out.print(f"by batch: {told or 'nothing'}")
        for problem in report.batches.get("problems", ())[:SHOWN_PROBLEMS]:
            note(problem)
    _list("pruned", [(one, "its file is gone") for one in report.pruned])
    _list("not taken", report.problems)
    _list("failed", report.failures)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _list(label: str, rows: list[tuple[str, str]]) -> None:
    for where, reason in rows[:SHOWN_PROBLEMS]:
        note(f"{label}: {where}: {reason}")
    if len(rows) > SHOWN_PROBLEMS:
        note(f"{label}: {len(rows) - SHOWN_PROBLEMS} more (--json lists all)")
