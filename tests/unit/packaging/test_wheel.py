"""What the wheel holds: every data file, the mapped folders, and no bare names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
MAPPED = ("workers", "api", "mappings")
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
SKIPPED = ("__pycache__", "*.egg-info", "*.pyc")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, so that no leftover of an earlier build gets into the wheel."""
    source = tmp_path_factory.mktemp("source")
    for name in ("resin_es", *MAPPED):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns(*SKIPPED))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    return source


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [*PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", str(out), str(source)],
        check=True,
    )
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, installed into an empty folder."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [*PIP, "install", "--no-deps", "--no-index", "--target", str(folder), str(wheel)],
        check=True,
    )
    return folder


def run(site: Path, cwd: Path, code: str) -> subprocess.CompletedProcess[str]:
    """``code`` in a fresh interpreter that sees the installed wheel first."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_mapped_folders_import_from_any_directory(site: Path, tmp_path: Path) -> None:
    code = "import resin_es.workers, resin_es.api, resin_es.mappings as m; print(m.__file__)"
    done = run(site, tmp_path, code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(site / "resin_es" / "mappings" / "__init__.py")


@pytest.mark.parametrize("name", MAPPED)
def test_bare_names_are_not_installed(site: Path, tmp_path: Path, name: str) -> None:
    assert "ModuleNotFoundError" in run(site, tmp_path, f"import {name}").stderr


def test_every_source_file_is_in_the_wheel(source: Path, wheel: Path) -> None:
    """Python and data alike; a new suffix has to be named in package-data."""
    inside = set(zipfile.ZipFile(wheel).namelist())
    for name in ("resin_es", *MAPPED):
        base = Path() if name == "resin_es" else Path("resin_es")
        files = [p.relative_to(source) for p in (source / name).rglob("*") if p.is_file()]
        assert files
        assert {(base / path).as_posix() for path in files} - inside == set()


def test_only_resin_es_is_at_the_top(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"resin_es"}


def test_version_is_told(site: Path, tmp_path: Path) -> None:
    code = (
        "import importlib.metadata as m, resin_es; "
        "assert m.version('resin-es') == resin_es.__version__; print(resin_es.__version__)"
    )
    assert run(site, tmp_path, code).returncode == 0
