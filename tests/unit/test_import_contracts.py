"""The dependency contracts hold, and they bite.

import-linter does not see ``workers/``, ``api/`` and ``mappings/`` below ``resin_es`` in an
editable install, so it looks at a copy laid out as a wheel installs it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAPPED = ("workers", "api", "mappings")


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with ``resin_es`` as a wheel installs it, and the contracts beside it."""
    folder = tmp_path_factory.mktemp("site")
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "resin_es", folder / "resin_es", ignore=ignore)
    for name in MAPPED:
        shutil.copytree(ROOT / name, folder / "resin_es" / name, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the copy in ``folder``."""
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as m; m()"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_contracts_hold(laid_out: Path) -> None:
    result = lint(laid_out)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("package", "line", "broken"),
    [
        ("query", "import resin_es.adapters", "Only bootstrap imports adapters"),
        ("cli", "import resin_es.adapters", "Only bootstrap imports adapters"),
        ("api", "import resin_es.adapters", "Only bootstrap imports adapters"),
        ("model", "import resin_es.ports", "Dependencies point one way"),
        ("extract", "import resin_es.evaluation", "Dependencies point one way"),
        ("extract", "import resin_es.local", "Stages and adapters know nothing"),
        ("local", "import resin_es.index", "The local node knows nothing"),
        ("query", "import spacy", "Only adapters and the node speak"),
    ],
)
def test_forbidden_import_is_caught(laid_out: Path, package: str, line: str, broken: str) -> None:
    offender = laid_out / "resin_es" / package / "offender.py"
    offender.write_text(line + "\n", encoding="utf-8")
    try:
        result = lint(laid_out)
    finally:
        offender.unlink()
    assert result.returncode == 1, result.stdout + result.stderr
    kept_or_broken = [row for row in result.stdout.splitlines() if row.startswith(broken)]
    assert any("BROKEN" in row for row in kept_or_broken), result.stdout
