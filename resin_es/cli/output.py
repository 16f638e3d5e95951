"""What commands share: output, errors and exit codes, progress."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import typer

from resin_es.errors import ResinError

if TYPE_CHECKING:
    from rich.console import Console

    from resin_es.ports import Progress

    class Display(Progress, Protocol):
        """What is shown while a command runs. ``on_text`` shows text as it is written; None
        where nobody looks."""

        @property
        def on_text(self) -> Callable[[str], None] | None: ...


_WIDE = 10_000
_CONTROLS = dict.fromkeys(
    code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"
)

Function = TypeVar("Function", bound=Callable[..., Any])


def handled(command: Function) -> Function:
    """Turn ResinError into one clear message and its exit code (1 or 2)."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except ResinError as error:
            if kwargs.get("json_output"):
                print_json({"error": error.to_dict()})
            complain(error)
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt as interrupt:
            told = str(interrupt) or "interrupted: what was finished stays; run the command again."
            if kwargs.get("json_output"):
                print_json({"interrupted": told})
            typer.echo(told, err=True)
            raise typer.Exit(130) from None
        except BrokenPipeError:
            # the reader of our output left; say nothing more into the closed pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(141) from None

    return run  # type: ignore[return-value]


def tame(text: str) -> str:
    """``text`` without control characters, which could command the terminal."""
    return text.translate(_CONTROLS)


def complain(error: ResinError) -> None:
    """One error on stderr: what was wrong, then the next step."""
    typer.echo(tame(f"error: {error.message}"), err=True)
    if error.hint:
        typer.echo(tame(f"  {error.hint}"), err=True)


def note(text: str) -> None:
    """A remark beside the result, on stderr."""
    typer.echo(tame(text), err=True)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    typer.echo(json.dumps(value, ensure_ascii=False, default=str))


def console() -> Console:
    """Rich console for results on stdout."""
    from resin_es.cli.plain import PlainConsole

    if sys.stdout.isatty():
        return PlainConsole(highlight=False)
    # into a pipe or file: a row stays one line, whatever its length
    return PlainConsole(highlight=False, soft_wrap=True, width=_WIDE)


@contextmanager
def progress(enabled: bool = True) -> Iterator[Display]:
    """A progress bar on stderr, and below it text that is being written; both go when it ends.
    Silent where stderr is no terminal."""
    if not enabled or not sys.stderr.isatty():
        yield _Silent()
        return
    from resin_es.cli.live import live_bars

    bar = live_bars()
    with bar:
        yield _Bars(bar)


class _Silent:
    on_text = None

    def update(self, done: int, total: int | None, description: str) -> None:
        """Nobody looks."""


class _Bars:
    """One bar per description."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self.on_text = bar.write
        self._tasks: dict[str, Any] = {}

    def update(self, done: int, total: int | None, description: str) -> None:
        if description not in self._tasks:
            self._tasks[description] = self._bar.add_task(description, total=total)
        self._bar.update(self._tasks[description], completed=done, total=total)
