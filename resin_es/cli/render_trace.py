"""Traces, replays and diagnoses for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from resin_es.cli.render import took

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from resin_es.query.diagnose import Diagnosis
    from resin_es.query.replay import HopReplay
    from resin_es.query.shown import ShownEvidence, ShownHop, ShownSolution, ShownTrace

CANDIDATES = 10
ACROSS = "  * by its vector of the multilingual encoder, on the scale of the others"


def print_shown_trace(out: Console, trace: ShownTrace) -> None:
    """Plan, hops with their requests and candidates, passages kept and dropped, citations."""
    from resin_es.cli.render import print_plan

    out.print("")
    out.print(Text(f"trace {trace.id} of {trace.created_at}", style="bold"))
    out.print(Text(f"question: {trace.question}"))
    print_plan(out, trace.plan)
    for hop in trace.hops:
        _print_hop(out, hop)
    table = Table("passage", "hops", "score", "tokens", "kept or why not", box=None)
    for row in trace.passages:
        table.add_row(
            _name(row.evidence),
            ", ".join(row.hops),
            f"{row.score:.3f}",
            str(row.tokens),
            row.reason or "kept",
        )
    out.print("")
    out.print(table)
    for statement in trace.statements:
        out.print(Text(statement))
    for remark in trace.notes:
        out.print(Text(f"note: {remark}", style="yellow"))
    if trace.rejected:
        out.print(Text(f"cited, but not given: {' '.join(trace.rejected)}", style="yellow"))
    for need in trace.missing:
        out.print(Text(f"not in the evidence: {need}", style="yellow"))
    for citation in trace.citations:
        out.print(Text(f"[{citation.number}] {_plain(citation.evidence)} {citation.void}"))
    _print_counts(out, trace)


def _print_counts(out: Console, trace: ShownTrace) -> None:
    """Models, and what each stage took."""
    out.print("")
    for name, rows in (("models", trace.models), ("tokens", trace.tokens)):
        told = ", ".join(
            f"{key} {value}"
            for key, value in rows.items()
            if value != "" and (value or not key.endswith("dollars"))
        )
        if told:
            out.print(Text(f"{name}: {told}", style="dim"))


def _print_hop(out: Console, hop: ShownHop) -> None:
    out.print("")
    bridged = f", bridged from {len(hop.bridged_from)} units" if hop.bridged_from else ""
    head = f"hop {hop.id} ({hop.took_ms} ms{bridged}): {hop.question}"
    out.print(Text(head, style="bold"))
    out.print(Text(json.dumps(dict(hop.body), ensure_ascii=False), style="dim"))
    table = Table("kind", "score", "dense", "lexical", "evidence", box=None)
    for row in hop.candidates[:CANDIDATES]:
        table.add_row(
            row.kind,
            f"{row.score:.3f}",
            "-" if row.dense is None else f"{row.dense:.3f}{'*' if row.multilingual else ''}",
            "-" if row.lexical is None else f"{row.lexical:.2f}",
            escape(_plain(row.evidence)),
        )
    out.print(table)
    if any(row.multilingual for row in hop.candidates[:CANDIDATES]):
        out.print(Text(ACROSS, style="dim"))
    if len(hop.candidates) > CANDIDATES:
        out.print(Text(f"  and {len(hop.candidates) - CANDIDATES} more", style="dim"))
    if hop.solution is not None:
        _print_solution(out, hop.solution)


def _print_solution(out: Console, solution: ShownSolution) -> None:
    """A local answer and what it rests on."""
    out.print(Text(f"local answer ({solution.solver}):", style="bold"))
    if solution.state:
        out.print(Text(f"  ({solution.state})"))
    if solution.problem:
        out.print(Text(f"  none: {solution.problem}", style="yellow"))
    if solution.text:
        style = "" if solution.found else "yellow"
        told = solution.text if solution.found else f"not found: {solution.text}"
        out.print(Text(f"  {told}", style=style))
    for row in solution.evidence:
        out.print(Text(f"  rests on {_plain(row)}", style="dim"))
    if solution.use is not None:
        told = took(solution.use.tokens, solution.use.dollars)
        out.print(Text(f"  {solution.use.model}: {told}", style="dim"))
    if solution.rejected:
        out.print(Text(f"  named, but not given: {' '.join(solution.rejected)}", style="yellow"))


def _name(evidence: ShownEvidence) -> str:
    return escape(evidence.title or evidence.document_id) if not evidence.state else evidence.state


def _plain(evidence: ShownEvidence) -> str:
    if evidence.state:
        return f"({evidence.state})"
    return f"{evidence.title or evidence.document_id}: {evidence.text}"


def print_replay(out: Console, hops: Sequence[HopReplay]) -> None:
    """How the searches' results compare with the traced ones."""
    table = Table("hop", "overlap@k", "same order", box=None)
    for hop in hops:
        table.add_row(
            escape(hop.hop), f"{hop.overlap:.3f} @ {hop.k}", "yes" if hop.same_order else "no"
        )
    out.print(table)


def print_diagnosis(out: Console, found: Diagnosis) -> None:
    """How far the expected evidence came."""
    out.print(Text(found.stage.replace("_", " "), style="bold"))
    for stage, detail in found.details.items():
        out.print(Text(f"  {stage}: {detail}"))
    if found.documents:
        out.print(Text(f"  documents: {', '.join(found.documents)}"))
