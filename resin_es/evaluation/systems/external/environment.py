"""An environment per package: made once in the user's cache folder, its outcome remembered."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from resin_es.errors import UsageError
from resin_es.evaluation.systems.external.packages import PACKAGES, ExternalPackage
from resin_es.evaluation.systems.external.running import end_group
from resin_es.model.base import Frozen, content_id

if TYPE_CHECKING:
    from resin_es.ports import Progress

STATE = "state.json"
LOG = "install.log"
SHOWN_LINES = 5
TIMEOUT = 3600.0


class EnvironmentState(Frozen):
    """How an installation ended. ``reason`` is empty where it worked; ``lines`` are the last
    ones that the installer wrote."""

    package: str
    version: str
    python: str
    installed: bool
    reason: str = ""
    lines: tuple[str, ...] = ()
    at: str = ""


class _StepFailed(Exception):
    """One command failed; the message says which and how."""


class ExternalEnvironments:
    """The environments below ``folder`` (default: ``external`` in the user's cache folder).

    A folder's name holds the requirements and the Python, so a new pin is a new environment.
    An installation that was broken off left no state and starts anew.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        packages: Mapping[str, ExternalPackage] = PACKAGES,
        timeout: float = TIMEOUT,
    ) -> None:
        self.folder = folder or _default_folder()
        self.packages = packages
        self.timeout = timeout

    def available(self, name: str) -> str:
        """Why package ``name`` cannot be used; empty where it can."""
        state = self.state(name)
        if state is None:
            return f"{name} {self._package(name).version} is not installed."
        if not state.installed:
            return f"{name} {state.version} did not install: {state.reason}"
        if not self.python(name).exists():
            return f"The environment of {name} is gone from {self.home(name)}."
        return ""

    def state(self, name: str) -> EnvironmentState | None:
        """What is remembered of the last installation; None where there was none."""
        try:
            return EnvironmentState.model_validate_json((self.home(name) / STATE).read_bytes())
        except (OSError, ValidationError):
            return None

    def install(
        self, name: str, *, again: bool = False, progress: Progress | None = None
    ) -> EnvironmentState:
        """Make the environment of package ``name`` unless it is there. A failure is remembered
        too, and tried again only with ``again``. Raises UsageError for an unknown name."""
        known = self.state(name)
        if known is not None and not again and (not known.installed or self.python(name).exists()):
            return known
        package, home = self._package(name), self.home(name)
        shutil.rmtree(home, ignore_errors=True)
        reason, lines = "", tuple[str, ...]()
        try:
            home.mkdir(parents=True)
            self._check_room(package)
            for number, (said, command) in enumerate(self._commands(package, home)):
                if progress is not None:
                    progress.update(number, len(package.steps) + 2, f"installing {name}: {said}")
                self._run(said, command, home)
        except _StepFailed as error:
            reason, lines = str(error), _last_lines(home / LOG)
        except OSError as error:
            reason = f"{home} cannot be written: {error.strerror}."
        return self._remember(package, home, reason, lines)

    def home(self, name: str) -> Path:
        package = self._package(name)
        steps = (part for step in package.steps for part in (*step, "|"))
        print_ = content_id(sys.version, package.version, package.proof, *steps, length=12)
        return self.folder / f"{name}-{package.version}-{print_}"

    def python(self, name: str) -> Path:
        """The environment's interpreter."""
        return _python(self.home(name))

    def _package(self, name: str) -> ExternalPackage:
        try:
            return self.packages[name]
        except KeyError:
            raise UsageError(
                f"There is no package {name!r}.", hint=f"Known are {', '.join(self.packages)}."
            ) from None

    def _check_room(self, package: ExternalPackage) -> None:
        free = shutil.disk_usage(self.folder).free // 1_000_000
        if free < package.megabytes * 1.2:
            raise _StepFailed(
                f"it takes about {package.megabytes} MB, and {self.folder} has {free} MB left."
            )

    def _commands(self, package: ExternalPackage, home: Path) -> list[tuple[str, Sequence[str]]]:
        python, venv = str(_python(home)), str(home / "venv")
        uv = shutil.which("uv")
        if uv:
            make: Sequence[str] = (uv, "venv", "--python", sys.executable, venv)
            install: Sequence[str] = (uv, "pip", "install", "--python", python)
        else:
            make = (sys.executable, "-m", "venv", venv)
            install = (python, "-m", "pip", "install", "--no-input", "--progress-bar", "off")
        steps = [
            (f"step {number}", (*install, *step)) for number, step in enumerate(package.steps, 1)
        ]
        proof = ("import", (python, "-I", "-c", package.proof))
        return [("environment", make), *steps, proof]

    def _run(self, said: str, command: Sequence[str], home: Path) -> None:
        with (home / LOG).open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=_clean_environment(),
                cwd=home,
                start_new_session=True,
            )
            try:
                code = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                raise _StepFailed(f"{said} took longer than {self.timeout:g} s.") from None
            finally:
                end_group(process)
        if code:
            last = _last_lines(home / LOG)[-1:]
            raise _StepFailed(f"{said} ended with {code}: {''.join(last) or 'no output'}")

    @staticmethod
    def _remember(
        package: ExternalPackage, home: Path, reason: str, lines: tuple[str, ...]
    ) -> EnvironmentState:
        state = EnvironmentState(
            package=package.name,
            version=package.version,
            python=sys.version.split()[0],
            installed=not reason,
            reason=reason,
            lines=lines,
            at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )
        with contextlib.suppress(OSError):  # then it is simply not remembered
            written = home / f"{STATE}.new"
            written.write_text(state.model_dump_json(), "utf-8")
            written.replace(home / STATE)
        return state


def _default_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("resin-es") / "external"


def _python(home: Path) -> Path:
    return home / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _clean_environment() -> dict[str, str]:
    """The installer needs its own settings (index, proxy, certificates), and none of ours."""
    ours = re.compile(r"RESIN_|PYTHONPATH$|PYTHONHOME$|.*API_KEY$|.*TOKEN$|.*SECRET", re.IGNORECASE)
    return {name: value for name, value in os.environ.items() if not ours.match(name)}


def _last_lines(log: Path) -> tuple[str, ...]:
    """The last lines of a log, without what an index URL may hold before its @."""
    try:
        text = log.read_text("utf-8", "replace")
    except OSError:
        return ()
    text = re.sub(r"://[^/\s@]*@", "://********@", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return tuple(line[:300] for line in lines[-SHOWN_LINES:])
