"""search, plan, retrieve, ask."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from resin_es.cli.options import Budget, Entity, Filter, Group, Json, K, Kind, Source
from resin_es.cli.output import console, note, print_json, progress

if TYPE_CHECKING:
    from resin_es.bootstrap import Resin


def search(
    text: Annotated[str, typer.Argument(help="What to look for.")],
    source: Source = None,
    kind: Kind = None,
    entity: Entity = None,
    filters: Filter = None,
    group: Group = None,
    limit: Annotated[int, typer.Option("--limit", "--k", help="Hits to show.")] = 10,
    json_output: Json = False,
) -> None:
    """Find units and sentences, for whoever explores an index."""
    from resin_es.cli.render import print_search

    with progress() as bar:
        resin = _resin(bar, group)
        found = resin.search(
            text, groups=group or None, limit=limit, **_narrow(source, kind, entity, filters)
        )
    if json_output:
        print_json(found.model_dump(mode="json"))
    else:
        print_search(console(), found)


def plan(
    question: Annotated[str | None, typer.Argument(help="The question.")] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the plan's JSON schema instead.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Show the one-hop needs that a question is split into."""
    from resin_es.bootstrap import Resin
    from resin_es.cli.render import print_plan
    from resin_es.errors import InputError

    if schema:
        from resin_es.query.planner import plan_schema

        print_json(plan_schema())
        return
    if question is None:
        raise InputError("No question was given.", hint="resin-es plan 'QUESTION'")
    found = Resin.from_env().plan(question)
    if json_output:
        print_json(found.model_dump(mode="json"))
    else:
        print_plan(console(), found)


def retrieve(
    question: Annotated[str | None, typer.Argument(help="The question.")] = None,
    questions: Annotated[
        Path | None,
        typer.Option("--questions", help="JSONL file of objects with id and question."),
    ] = None,
    plan_file: Annotated[
        Path | None,
        typer.Option("--plan", help="Ready-made plan, or JSONL of plans for --questions."),
    ] = None,
    source: Source = None,
    kind: Kind = None,
    entity: Entity = None,
    filters: Filter = None,
    group: Group = None,
    k: K = None,
    budget: Budget = None,
    json_output: Json = False,
) -> None:
    """Retrieve evidence without composing an answer; with --questions one JSON line each."""
    from resin_es.cli.inputs import questions_of
    from resin_es.cli.render import print_retrieval
    from resin_es.query.output import retrieval_to_json

    asked = questions_of(question, questions, plan_file)
    options: dict[str, Any] = {"k": k, "budget": budget}
    options |= _narrow(source, kind, entity, filters)
    with progress() as bar:
        resin = _resin(bar, group)
        for number, one in enumerate(asked):
            found = resin.retrieve(one.question, groups=group or None, plan=one.plan, **options)
            if questions is not None or json_output:
                print_json(retrieval_to_json(one.id, found))
                if questions is not None:
                    bar.update(number + 1, None, "questions")
            else:
                print_retrieval(console(), found)


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    plan_file: Annotated[Path | None, typer.Option("--plan", help="Ready-made plan.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the whole trace.")] = False,
    source: Source = None,
    kind: Kind = None,
    entity: Entity = None,
    filters: Filter = None,
    group: Group = None,
    k: K = None,
    budget: Budget = None,
    json_output: Json = False,
) -> None:
    """Answer a question with numbered citations, then show the evidence by hop."""
    from resin_es.cli.inputs import questions_of
    from resin_es.cli.render import answer_to_json, print_answer
    from resin_es.cli.render_trace import print_shown_trace

    [one] = questions_of(question, None, plan_file)
    with progress() as bar:
        resin = _resin(bar, group)
        asked = resin.ask_traced(
            question,
            groups=group or None,
            plan=one.plan,
            k=k,
            budget=budget,
            on_text=None if json_output else bar.on_text,
            **_narrow(source, kind, entity, filters),
        )
        kept = asked.answer.trace_id
        shown_trace = resin.trace(kept, groups=group or None) if explain and kept else None
    if explain and not kept:
        note("there is no trace to show: RESIN_TRACES is off, or the cluster did not keep it")
    for text in asked.notes:
        note(text)
    if json_output:
        shown = answer_to_json(asked)
        if shown_trace is not None:
            shown["trace"] = shown_trace.model_dump(mode="json")
        print_json(shown)
        return
    print_answer(console(), asked)
    if shown_trace is not None:
        print_shown_trace(console(), shown_trace)


def _resin(bar: Any, group: list[str] | None) -> Resin:
    from resin_es.bootstrap import Resin

    resin = Resin.from_env(progress=bar)
    if resin.services.principal(group or None).admin:
        note("(asking as admin of the local node; --group NAME asks as a member of a group)")
    return resin


def _narrow(
    source: list[str] | None,
    kind: list[str] | None,
    entity: list[str] | None,
    filters: list[str] | None,
) -> dict[str, Any]:
    return {"sources": source, "kinds": kind, "entities": entity, "fields": filters}
