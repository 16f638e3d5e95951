"""What ``doctor`` and ``settings`` put into their tables, as it is read."""

from __future__ import annotations

import pytest

from resin_es.adapters.elasticsearch import Check
from resin_es.bootstrap import Services
from resin_es.cli.app import app
from resin_es.testing.command import CommandLine


def test_an_extra_in_a_hint_is_no_style(monkeypatch: pytest.MonkeyPatch) -> None:
    hint = "pip install 'resin-es[multilingual]', then `resin-es rebuild`."
    row = Check(name="other languages", ok=None, detail="none [sic]", hint=hint)
    monkeypatch.setattr(Services, "doctor", lambda self: [row])
    shown = CommandLine(app).run("doctor").stdout
    assert hint in shown
    assert "none [sic]" in shown


def test_a_value_in_brackets_is_no_style() -> None:
    shown = CommandLine(app, {"RESIN_PREFIX": "r-1", "RESIN_MULTILINGUAL": "/m/[bold]"})
    assert "/m/[bold]" in shown.run("settings").stdout
