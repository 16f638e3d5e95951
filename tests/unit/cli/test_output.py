"""What others wrote commands no terminal."""

from __future__ import annotations

import io

import pytest
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from resin_es.cli.output import complain, console, note
from resin_es.cli.plain import PlainConsole
from resin_es.errors import ResinError

EVIL = "\x1b[2J\x1b]0;owned\x07 fares\x9b31m\x00\r\x7f"
TAMED = "[2J]0;owned fares31m"


def test_a_result_holds_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    out = console()
    table = Table(EVIL, box=None)
    table.add_row(escape(EVIL))
    out.print(table)
    out.print(Text(f"{EVIL}\nsecond\tline", style="bold"))
    out.print(escape(EVIL))
    shown = capsys.readouterr().out
    assert shown.count("fares") == 4
    assert "second" in shown.splitlines()[-2]
    assert all(char.isprintable() or char == "\n" for char in shown)


def test_our_own_styles_reach_a_terminal() -> None:
    file = io.StringIO()
    PlainConsole(file=file, force_terminal=True, color_system="standard").print(
        Text(EVIL, style="green")
    )
    assert file.getvalue() == f"\x1b[32m{TAMED}\x1b[0m\n"


def test_errors_and_remarks(capsys: pytest.CaptureFixture[str]) -> None:
    complain(ResinError(EVIL, hint=EVIL))
    note(EVIL)
    shown = capsys.readouterr().err
    assert shown == f"error: {TAMED}\n  {TAMED}\n{TAMED}\n"
