"""An environment per package: what worked and what failed is remembered."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from resin_es.errors import UsageError
from resin_es.evaluation.systems.external import environment
from resin_es.evaluation.systems.external.environment import ExternalEnvironments
from resin_es.evaluation.systems.external.packages import ExternalPackage


def package(*steps: tuple[str, ...], **changes: object) -> ExternalPackage:
    values: dict[str, object] = {
        "name": "tiny",
        "version": "1.0",
        "steps": steps,
        "proof": "pass",
        "runner": "none.py",
        "megabytes": 1,
    }
    return ExternalPackage(**(values | changes))


class Scripted(ExternalEnvironments):
    """Its steps are Python code that this Python runs; it counts its installations."""

    runs = 0

    def _commands(self, package: ExternalPackage, home: Path) -> list[tuple[str, Sequence[str]]]:
        type(self).runs += 1
        python = home / "venv" / "bin" / "python"
        make = (
            f"from pathlib import Path as P; p = P({str(python)!r}); p.parent.mkdir(parents=True)"
        )
        codes = [f"{make}; p.touch()", *(step[0] for step in package.steps)]
        return [(f"step {n}", (sys.executable, "-c", code)) for n, code in enumerate(codes)]


@pytest.fixture
def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[Scripted]:
    monkeypatch.setattr(Scripted, "runs", 0)
    return Scripted


def test_what_worked_is_not_installed_again(scripted: type[Scripted], tmp_path: Path) -> None:
    packages = {"tiny": package(("print('ok')",))}
    environments = scripted(tmp_path, packages=packages)
    assert environments.available("tiny") == "tiny 1.0 is not installed."
    assert environments.state("tiny") is None
    assert environments.install("tiny").installed
    assert environments.available("tiny") == ""
    assert scripted(tmp_path, packages=packages).install("tiny").installed
    assert scripted.runs == 1


def test_a_failure_is_remembered_with_its_last_lines(
    scripted: type[Scripted], tmp_path: Path
) -> None:
    code = (
        "print('Looking in indexes: https://me:secret@pypi.example/simple');"
        "[print('line', n) for n in range(9)];"
        "raise SystemExit('ERROR: No matching distribution found for x')"
    )
    environments = scripted(tmp_path, packages={"tiny": package((code,))})
    state = environments.install("tiny")
    assert not state.installed
    assert state.reason == "step 1 ended with 1: ERROR: No matching distribution found for x"
    assert state.lines[-1].startswith("ERROR")
    assert len(state.lines) == 5
    assert "secret" not in state.model_dump_json()
    assert environments.install("tiny") == state
    assert scripted.runs == 1
    assert "did not install: step 1 ended with 1" in environments.available("tiny")
    environments.install("tiny", again=True)
    assert scripted.runs == 2


def test_a_new_pin_is_a_new_environment(tmp_path: Path) -> None:
    homes = {
        ExternalEnvironments(tmp_path, packages={"tiny": made}).home("tiny")
        for made in (package(("a==1",)), package(("a==2",)), package(("a==1",), ("b",)))
    }
    assert len(homes) == 3


def test_an_installation_that_was_broken_off_starts_anew(
    scripted: type[Scripted], tmp_path: Path
) -> None:
    environments = scripted(tmp_path, packages={"tiny": package()})
    left = environments.home("tiny") / "venv" / "bin" / "python"
    left.parent.mkdir(parents=True)
    left.touch()
    assert environments.available("tiny") != ""
    assert environments.install("tiny").installed


def test_an_environment_that_was_deleted_is_made_again(
    scripted: type[Scripted], tmp_path: Path
) -> None:
    environments = scripted(tmp_path, packages={"tiny": package()})
    environments.install("tiny")
    environments.python("tiny").unlink()
    assert "is gone" in environments.available("tiny")
    assert environments.install("tiny").installed
    assert scripted.runs == 2


def test_too_slow_is_a_failure(scripted: type[Scripted], tmp_path: Path) -> None:
    slow = {"tiny": package(("import time; time.sleep(60)",))}
    state = scripted(tmp_path, packages=slow, timeout=2).install("tiny")
    assert state.reason == "step 1 took longer than 2 s."


def test_no_room_is_a_failure_before_anything_is_fetched(
    scripted: type[Scripted], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = SimpleNamespace(total=10**9, used=10**9, free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
    state = scripted(tmp_path, packages={"tiny": package()}).install("tiny")
    assert "it takes about 1 MB" in state.reason


def test_the_installer_does_not_see_our_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RESIN_EXTERNAL_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "PYTHONPATH"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
    seen = environment._clean_environment()
    assert not {"RESIN_EXTERNAL_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "PYTHONPATH"} & set(seen)
    assert seen["PIP_INDEX_URL"] == "https://mirror.example/simple"


def test_an_unknown_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no package 'lightrage'"):
        ExternalEnvironments(tmp_path).install("lightrage")


@pytest.mark.slow
def test_a_real_environment_has_the_package_and_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # no uv: the standard library's way is the one for everybody
    wheel = tmp_path / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "ANSWER = 42\n")
        archive.writestr(
            "tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
        )
        archive.writestr(
            "tiny-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    made = package(("--no-index", "--no-deps", str(wheel)), proof="import tiny; tiny.ANSWER")
    environments = ExternalEnvironments(tmp_path / "envs", packages={"tiny": made})
    assert environments.install("tiny").reason == ""
    code = "import tiny, importlib.util as u; print(tiny.ANSWER, u.find_spec('resin_es'))"
    shown = subprocess.run(
        [environments.python("tiny"), "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert shown.stdout == "42 None\n"
