from __future__ import annotations

import gc
import sys

import pytest

from resin_es import cli


def test_a_command_looks_for_cycles_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    before = gc.get_threshold()
    monkeypatch.setattr(sys, "argv", ["resin-es", "--version"])
    try:
        with pytest.raises(SystemExit):
            cli.main()
        assert gc.isenabled()
        assert gc.get_threshold()[0] == cli.COLLECTED_AFTER
    finally:
        gc.set_threshold(*before)
