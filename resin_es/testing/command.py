"""The command line from inside one process: no interpreter to start, what it printed apart."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it printed."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def everything(self) -> str:
        """What reached the user, by whichever way."""
        return self.stdout + self.stderr

    @property
    def json(self) -> Any:
        """The one JSON document on stdout. Raises ValueError if there is another or none."""
        return json.loads(self.stdout)

    @property
    def lines(self) -> list[Any]:
        """The JSON lines on stdout."""
        return [json.loads(line) for line in self.stdout.split("\n") if line]


@dataclass(frozen=True)
class CommandLine:
    """Runs commands of ``app`` under ``environ`` and no other RESIN_* variable."""

    app: typer.Typer
    environ: Mapping[str, str] = field(default_factory=dict)

    def under(self, **environ: str | None) -> CommandLine:
        """The same with some variables changed; None takes one away."""
        changed = {**self.environ, **environ}
        return CommandLine(self.app, {k: v for k, v in changed.items() if v is not None})

    def run(self, *arguments: object, code: int | None = 0, stdin: bytes = b"") -> Outcome:
        """Run one command. Raises AssertionError with all it printed unless it ends with exit
        code ``code`` (None: any), and whatever the command lets escape."""
        from typer.testing import CliRunner

        foreign = {name: None for name in os.environ if name.startswith("RESIN_")}
        told = CliRunner().invoke(
            self.app,
            [str(one) for one in arguments],
            input=stdin,
            env={**foreign, **self.environ},
        )
        if told.exception is not None and not isinstance(told.exception, SystemExit):
            raise told.exception
        outcome = Outcome(told.exit_code, told.stdout, told.stderr)
        if code is not None and outcome.exit_code != code:
            shown = " ".join(str(one)[:80] for one in arguments)
            raise AssertionError(f"{shown}: exit code {outcome.exit_code}\n{outcome.everything}")
        return outcome
