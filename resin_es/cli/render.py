"""Results for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

    from resin_es.model import Answer, EvidencePassage, Plan
    from resin_es.query.values import Asked, Retrieval, SearchResult


def print_answer(out: Console, asked: Asked, *, evidence: bool = True) -> None:
    """The answer with numbered citations, then the evidence by hop."""
    answer = asked.answer
    out.print("")
    out.print(Text(answer.question, style="bold"))
    out.print("")
    for statement in answer.statements:
        out.print(Text(f"  {statement.text}", style="" if statement.citations else "yellow"))
    if not answer.statements:
        out.print(Text(f"  {answer.text.splitlines()[0]}"))
    for need in answer.missing:
        out.print(Text(f"  not in the evidence: {need}", style="yellow"))
    for remark in answer.notes:
        out.print(Text(f"  note: {remark}", style="yellow"))
    _print_citations(out, answer)
    _print_remarks(out, asked.retrieval.plan)
    if evidence:
        print_evidence(out, asked.retrieval)
    _print_coverage(out, answer)
    _print_use(out, asked)
    if answer.trace_id:
        out.print(Text(f"trace {answer.trace_id}", style="dim"))


def _print_citations(out: Console, answer: Answer) -> None:
    out.print("")
    for citation in answer.citations:
        where = (
            f"{citation.title or citation.document_id} ({citation.source}:{citation.document_id})"
        )
        void = f"  void: {citation.void}" if citation.void else ""
        out.print(Text.assemble((f"  [{citation.number}] ", "cyan"), where, (void, "red")))


def _print_remarks(out: Console, plan: Plan) -> None:
    """Why the plan is not what the planner was to make, if it is not."""
    if plan.fallback:
        out.print(Text(f"fallback to the whole question: {plan.fallback}", style="yellow"))
    for remark in plan.notes:
        out.print(Text(f"plan: {remark}", style="yellow"))


def _print_use(out: Console, asked: Asked) -> None:
    uses = [use for use in (asked.retrieval.plan.use, asked.answer.use) if use is not None]
    if uses:
        models = ", ".join(dict.fromkeys(use.model for use in uses))
        tokens, dollars = sum(use.tokens for use in uses), sum(use.dollars for use in uses)
        out.print(Text(f"{models}: {took(tokens, dollars)}", style="dim"))


def took(tokens: int, dollars: float) -> str:
    """Tokens and dollars. Without a price, as in a replay, there are none: not shown as free."""
    return f"{tokens:,} tokens" + (f", ${dollars:.4f}" if dollars else "")


def _print_coverage(out: Console, answer: Answer) -> None:
    parts = [
        f"{row.source}: " + ", ".join(f"{count} {state}" for state, count in row.by_status.items())
        for row in answer.coverage
    ]
    if parts:
        out.print(Text("documents " + "; ".join(parts), style="dim"))


def print_evidence(out: Console, retrieval: Retrieval) -> None:
    """The buffer's passages under the hop that found them first."""
    shown: set[str] = set()
    for hop in retrieval.hops:
        rows = [
            passage
            for passage in retrieval.buffer.passages
            if hop.hop.id in passage.hops and passage.passage_id not in shown
        ]
        if not rows:
            continue
        out.print("")
        out.print(Text(f"evidence of hop {hop.hop.id}: {hop.hop.subquestion}", style="bold"))
        for passage in rows:
            shown.add(passage.passage_id)
            _print_passage(out, passage)
    others = [p for p in retrieval.buffer.passages if p.passage_id not in shown]
    if others:
        out.print("")
        out.print(Text("evidence beside the hops", style="bold"))
        for passage in others:
            _print_passage(out, passage)
    buffer = retrieval.buffer
    out.print(
        Text(
            f"{buffer.tokens} of {buffer.budget} tokens; {len(buffer.dropped)} passages left out",
            style="dim",
        )
    )


def _print_passage(out: Console, passage: EvidencePassage) -> None:
    title = passage.title or passage.document_id
    out.print(Text(f"  {title} ({passage.document_id}), {passage.tokens} tokens", style="green"))
    out.print(Text(f"    {passage.text}"))


def print_retrieval(out: Console, retrieval: Retrieval) -> None:
    """Plan and evidence of a question without its answer."""
    print_plan(out, retrieval.plan)
    print_evidence(out, retrieval)


def print_plan(out: Console, plan: Plan) -> None:
    """The hops of a plan."""
    out.print(Text(f"{plan.mode.value} plan of {len(plan.hops)} hop(s)", style="bold"))
    _print_remarks(out, plan)
    table = Table("hop", "subquestion", "looks for", "wants", "after", box=None)
    for hop in plan.hops:
        table.add_row(
            escape(hop.id),
            escape(hop.retrieval_text),
            hop.reasoning_type.value,
            ", ".join(hop.kinds),
            ", ".join(hop.depends_on),
        )
    out.print(table)


def print_search(out: Console, found: SearchResult) -> None:
    """Hits of an address search."""
    if not found.hits:
        out.print("nothing found")
        return
    table = Table("score", "kind", "statement", "document", box=None)
    for hit in found.hits:
        one = hit.candidate
        table.add_row(f"{one.score:.3f}", one.kind, escape(one.statement), escape(one.document_id))
    out.print(table)


def answer_to_json(asked: Asked) -> dict[str, Any]:
    """The answer, and the evidence it stands on."""
    from resin_es.query.output import retrieval_to_json

    shown: dict[str, Any] = asked.answer.model_dump(mode="json")
    retrieval = retrieval_to_json("", asked.retrieval)
    shown |= {name: retrieval[name] for name in ("hops", "evidence", "dropped")}
    shown["plan"] = asked.retrieval.plan.model_dump(mode="json")
    shown["remarks"] = list(asked.notes)
    return shown
