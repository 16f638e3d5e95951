"""demo: the whole road on the shipped corpus."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from resin_es.cli.options import Json
from resin_es.cli.output import console, note, print_json, progress

DEMO_SOURCE = "demo"


def demo(
    everything: Annotated[
        bool, typer.Option("--all", help="Ask all demo questions, not only three.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Index the demo corpus and ask it three questions."""
    from resin_es.bootstrap import Resin
    from resin_es.cli.render import print_answer
    from resin_es.cli.write import print_report
    from resin_es.demo import demo_documents_path
    from resin_es.settings import without_credentials

    with progress() as bar:
        resin = Resin.from_env(progress=bar)
        report = resin.index_paths([demo_documents_path()], source=DEMO_SOURCE)
    out = console()
    if not json_output:
        out.print(f"Elasticsearch at {without_credentials(resin.services.url)}")
        print_report(report)
    answers: list[dict[str, Any]] = []
    for one in demo_questions(headline=not everything):
        asked = resin.ask_traced(one["question"], sources=[DEMO_SOURCE])
        answers.append(asked.answer.model_dump(mode="json"))
        if not json_output:
            print_answer(out, asked, evidence=False)
    if json_output:
        print_json({"index": report.to_dict(), "answers": answers})
        return
    out.print("")
    note("Ask one of your own:  .venv/bin/resin-es ask 'Why did Metro Line B stop?'")


def demo_questions(*, headline: bool) -> list[dict[str, Any]]:
    """The demo's questions: those that ``make demo`` asks, or all of them."""
    from resin_es.demo import demo_questions_path

    lines = demo_questions_path().read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line.strip()]
    return [row for row in rows if row.get("headline") or not headline]
