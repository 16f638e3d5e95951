"""trace and diagnose: why an answer came out as it did."""

from __future__ import annotations

from typing import Annotated

import typer

from resin_es.cli.options import Group, Json
from resin_es.cli.output import console, note, print_json


def trace(
    trace_id: Annotated[str, typer.Argument(metavar="ID", help="The trace's id.")],
    replay: Annotated[
        bool, typer.Option("--replay", help="Send the same searches again and compare.")
    ] = False,
    solve: Annotated[
        bool,
        typer.Option("--solve", help="Have a language model answer each hop, from its own hits."),
    ] = False,
    group: Group = None,
    json_output: Json = False,
) -> None:
    """Show every step that led to an answer; evidence you may not read stays withheld."""
    from resin_es.bootstrap import Resin
    from resin_es.cli.render_trace import print_replay, print_shown_trace
    from resin_es.errors import UsageError

    if replay and solve:
        raise UsageError("--replay and --solve do not go together.", hint="Give one of them.")
    resin = Resin.from_env()
    if replay:
        overlap = resin.replay(trace_id, groups=group or None)
        if json_output:
            print_json([one.model_dump(mode="json") for one in overlap])
        else:
            print_replay(console(), overlap)
        return
    if solve:
        shown, notes = resin.solve(trace_id, groups=group or None)
        for text in notes:
            note(text)
    else:
        shown = resin.trace(trace_id, groups=group or None)
    if json_output:
        print_json(shown.model_dump(mode="json"))
    else:
        print_shown_trace(console(), shown)


def diagnose(
    trace_id: Annotated[str, typer.Argument(metavar="TRACE", help="The trace's id.")],
    expect: Annotated[
        str, typer.Option("--expect", help="Words of the evidence, or a document's id.")
    ],
    group: Group = None,
    json_output: Json = False,
) -> None:
    """Say where expected evidence was lost: indexing, retrieval, selection or composing."""
    from resin_es.bootstrap import Resin
    from resin_es.cli.render_trace import print_diagnosis

    found = Resin.from_env().diagnose(trace_id, expect, groups=group or None)
    if json_output:
        print_json(found.model_dump(mode="json"))
    else:
        print_diagnosis(console(), found)
