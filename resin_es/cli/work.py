"""worker, beat: background work, and whether it is alive."""

from __future__ import annotations

from typing import Annotated

import typer

from resin_es.cli.output import console, note, print_json

Queues = Annotated[
    str | None, typer.Option("--queues", help="Queues to work on: sync,read,index.", metavar="LIST")
]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", "-c", min=1, help="Tasks at a time.", metavar="N")
]
Check = Annotated[
    bool,
    typer.Option("--check", help="Do not work: tell whether this host's worker consumes."),
]
CheckBeat = Annotated[
    bool,
    typer.Option("--check", help="Do not start: tell whether this host's beat puts what is due."),
]
LogJson = Annotated[bool, typer.Option("--json", help="Log JSON lines (--check: one document).")]


def worker(
    queues: Queues = None,
    concurrency: Concurrency = None,
    check: Check = False,
    json_output: LogJson = False,
) -> None:
    """Keep sources fresh in the background (Celery; needs Redis and `resin-es beat`)."""
    from resin_es.settings import load_settings

    settings = load_settings()
    if check:
        _check("worker", json_output)
        return
    if json_output:
        settings = settings.model_copy(update={"log_format": "json"})
    from resin_es.workers.app import queue_names, run_worker

    chosen = queue_names(queues)
    _greet(f"worker: queues {', '.join(chosen)}", settings.redis_url, json_output)
    code = run_worker(settings, chosen, concurrency)
    if code:
        raise typer.Exit(code)


def beat(check: CheckBeat = False, json_output: LogJson = False) -> None:
    """Say when: every source, unfinished work, old traces (one is enough, two do no harm)."""
    from resin_es.settings import load_settings

    settings = load_settings()
    if check:
        _check("beat", json_output)
        return
    if json_output:
        settings = settings.model_copy(update={"log_format": "json"})
    from resin_es.workers.app import run_beat

    every = f"beat: sources every {settings.sync_seconds:g} s"
    _greet(every, settings.redis_url, json_output)
    run_beat(settings)


def _greet(what: str, redis_url: str, json_output: bool) -> None:
    """Who is there, before there is anything to log. A JSON log stays JSON."""
    from resin_es.settings import without_credentials

    if not json_output:
        note(f"{what}, by Redis at {without_credentials(redis_url)}; Ctrl-C ends it")


def _check(what: str, json_output: bool) -> None:
    from resin_es.settings import load_settings
    from resin_es.workers import health

    looks = {"worker": health.check, "beat": health.check_beat}
    verdicts = looks[what](load_settings())
    alive = bool(verdicts) and all(one.alive for one in verdicts)
    if json_output:
        found = [one.model_dump() for one in verdicts]
        print_json({"alive": alive, f"{what}s": found})
    else:
        out = console()
        for one in verdicts:
            out.print(f"{one.worker}: {'alive' if one.alive else one.reason}")
        if not verdicts:
            out.print(f"no {what} runs on this host; `resin-es {what}` starts one")
    if not alive:
        raise typer.Exit(1)
