"""Temporary nodes: their own port and folder, and nothing left of killed runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from resin_es.local import process
from resin_es.local.node import up
from resin_es.local.settings import LocalSettings
from resin_es.testing import nodes


@pytest.fixture
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary folders, of this test's own."""
    monkeypatch.setattr(nodes, "_PARENTS", (str(tmp_path),))
    monkeypatch.setattr(nodes, "node_account", lambda data_dir, run_as: None)
    return tmp_path


def test_a_temporary_node_has_its_own_and_is_gone_afterwards(
    settings: LocalSettings, temp: Path
) -> None:
    with nodes.temporary_node(base=settings) as node:
        assert node.url != settings.url
        assert node.settings.data_dir != settings.data_dir
        assert node.settings.cache_dir == settings.cache_dir
        assert node.admin is None
        assert node.status.ready
        folder = node.settings.data_dir.parent
        assert f"-{os.getpid()}-" in folder.name
    assert process.find(node.settings.data_dir, []) is None
    assert not folder.exists()


def test_with_security_there_is_an_admin(settings: LocalSettings, temp: Path) -> None:
    with nodes.temporary_node(base=settings, security=True) as node:
        assert node.admin is not None
        config = node.settings.data_dir / "8.19.21" / "config"
        assert (config / "users_roles").read_text() == f"superuser:{node.admin[0]}\n"


def test_what_a_killed_run_left_is_stopped_and_removed(settings: LocalSettings, temp: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = temp / f"resin-es-test-{gone.pid}-abc"
    left.mkdir()
    kept = temp / f"resin-es-test-{os.getpid()}-abc"
    kept.mkdir()
    orphan = settings.model_copy(update={"data_dir": left / "node"})
    up(orphan)

    nodes.sweep(settings)

    assert process.find(orphan.data_dir, []) is None
    assert not left.exists()
    assert kept.exists()
