"""Sources for people."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from resin_es.cli.output import console, note

if TYPE_CHECKING:
    from rich.console import Console

    from resin_es.bootstrap.sources import SourceView
    from resin_es.model.source import Source, SourceSpec
    from resin_es.sync.check import Sample, SourceCheck

SHOWN_PROBLEMS = 10


def show_check(check: SourceCheck) -> None:
    """What adding found out; what is most likely not meant on stderr."""
    out = console()
    how = "added" if check.kept else "looked at, nothing kept"
    behind = ", ".join(check.indices[:5]) + (" …" if len(check.indices) > 5 else "")
    out.print(f"{check.spec.name}: {how}; {check.documents:,} documents in {behind}", markup=False)
    for sample in check.samples:
        _sample(out, sample)
    if check.price is not None:
        _price(out, check)
    for one in check.unreadable[:SHOWN_PROBLEMS]:
        note(f"unreadable: {one.external_id}: {one.reason}")
    if len(check.unreadable) > SHOWN_PROBLEMS:
        note(f"and {len(check.unreadable) - SHOWN_PROBLEMS} more of {check.looked_at}")
    for warning in check.warnings:
        note(f"warning: {warning}")
    if check.kept:
        note(f"`resin-es sync {shlex.quote(check.spec.name)}` begins now, beat's next look later")


def _sample(out: Console, sample: Sample) -> None:
    out.print(f"\n{sample.external_id}  {sample.title}", markup=False)
    readers = ", ".join(sample.access) or "nobody but an admin"
    when = f", changed {sample.updated_at:%Y-%m-%d %H:%M} UTC" if sample.updated_at else ""
    more = f"; {', '.join(sample.metadata)}" if sample.metadata else ""
    out.print(f"  for {readers}{when}{more}", markup=False)
    out.print(f"  {' '.join(sample.text.split()) or '(no text)'}", markup=False)
    for unit in sample.units:
        out.print(f"  - {unit}", markup=False)


def _price(out: Console, check: SourceCheck) -> None:
    from resin_es.cli.money import dollars

    price = check.price
    assert price is not None
    upward = f", from the first {price.measured:,}" if price.measured < check.documents else ""
    out.print(
        f"\nreading by {price.model} would take about {price.calls:,} calls, "
        f"{dollars(price.dollars)} ({dollars(price.batch_dollars)} by batches){upward}",
        markup=False,
    )


def show_sources(sources: Sequence[Source]) -> None:
    """One line each."""
    if not sources:
        note("no source yet: `resin-es source add --help`")
        return
    from rich.markup import escape
    from rich.table import Table

    table = Table("source", "index", "who may read", "state", "synced", box=None)
    for source in sources:
        synced = source.state.synced_at
        table.add_row(
            escape(source.spec.name),
            escape(_place(source.spec)),
            escape(_readers(source.spec)),
            _state(source),
            f"{synced:%Y-%m-%d %H:%M} UTC" if synced else "never",
        )
    console().print(table)


def show_view(view: SourceView) -> None:
    """Everything of one source."""
    out = console()
    spec, state = view.source.spec, view.source.state
    rows = {
        "source": spec.name,
        "index": _place(spec),
        "id": spec.id_field,
        "title": spec.title_field,
        "text": ", ".join(spec.text_fields),
        "changed": spec.updated_field,
        "who may read": _readers(spec),
        "metadata": ", ".join(spec.metadata_fields),
        "url": spec.url_field,
        "state": _state(view.source),
        "synced": state.synced_at,
        "last full sync": state.full_at,
        "seen up to": state.watermark,
        "revoked": ", ".join(state.revoked),
        "error": f"{state.error.stage}: {state.error.message}" if state.error else "",
        "documents": ", ".join(
            f"{count:,} {status}" for status, count in sorted(view.coverage.by_status.items())
        )
        or "none",
    }
    for name, value in rows.items():
        if value:
            out.print(f"{name}: {value}", markup=False)
    told = list(state.unreadable.items())
    for external_id, reason in told[:SHOWN_PROBLEMS]:
        out.print(f"unreadable: {external_id}: {reason}", markup=False)
    if len(told) > SHOWN_PROBLEMS:
        out.print(f"unreadable: {len(told) - SHOWN_PROBLEMS} more (--json names a hundred)")


def _place(spec: SourceSpec) -> str:
    return f"{spec.index} on {spec.cluster}" if spec.cluster else spec.index


def _readers(spec: SourceSpec) -> str:
    if spec.access == "field":
        return f"groups in {spec.access_field}"
    return "everyone" if spec.access == "public" else "nobody but an admin"


def _state(source: Source) -> str:
    if source.state.paused:
        return "paused"
    return "failing" if source.state.error else "active"
