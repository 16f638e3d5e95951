"""Which Elasticsearch to start, on which Java.

Data written by one version are not readable by an older one, so each version keeps its own folder,
and a node goes on with the version that wrote its data: another JAVA_HOME in some shell must not
make somebody's index vanish.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from resin_es.errors import JavaNotFound
from resin_es.local.config import NodeFolders
from resin_es.local.java import JavaRuntime, Search, candidates, choose, probe
from resin_es.local.settings import LocalSettings
from resin_es.local.versions import VERSIONS, Distribution, distribution


@dataclass(frozen=True)
class Selection:
    """The distribution and its Java, with what the user should know about the choice."""

    dist: Distribution
    java: JavaRuntime
    notes: tuple[str, ...] = ()


def versions_here(data_dir: Path) -> dict[str, NodeFolders]:
    """The versions that have run in this data folder, the one started last first."""
    found: list[tuple[float, str]] = []
    for version in VERSIONS:
        written = data_dir / version / "config" / "elasticsearch.yml"
        with suppress(OSError):  # not there, or another user's
            found.append((written.stat().st_mtime, version))
    return {version: NodeFolders(data_dir / version) for _, version in sorted(found, reverse=True)}


def select(settings: LocalSettings) -> Selection:
    """The version asked for, else the one with data, else the one that fits the Java found.

    Raises JavaNotFound, and SettingsError for an unknown version.
    """
    ask = cache(probe)
    if settings.version is not None:
        return Selection(*_choose(settings, settings.version, ask))
    held = next((v for v, f in versions_here(settings.data_dir).items() if f.has_indices()), None)
    if held is None:
        return Selection(*_choose(settings, None, ask))
    folder = settings.data_dir / held
    try:
        dist, java = _choose(settings, held, ask)
    except JavaNotFound:
        dist, java = _choose(settings, None, ask)
        note = (
            f"The data in {folder} were written by Elasticsearch {held}, and no Java was found "
            f"that runs it; Elasticsearch {dist.version} starts with a folder of its own. Set "
            "ES_JAVA_HOME to have the data back."
        )
        return Selection(dist, java, (note,))
    with suppress(JavaNotFound):
        fitting, _ = _choose(settings, None, ask)
        if fitting != dist:
            note = (
                f"Elasticsearch {held} goes on, since it wrote the data in {folder}; "
                f"RESIN_LOCAL_VERSION={fitting.version} starts the version that fits this Java, "
                "empty."
            )
            return Selection(dist, java, (note,))
    return Selection(dist, java)


def _choose(
    settings: LocalSettings, version: str | None, ask: Callable[[Path, str], JavaRuntime | str]
) -> tuple[Distribution, JavaRuntime]:
    wanted = None if version is None else distribution(version)
    found = candidates(settings.java_home, settings.search_path, wanted)
    return choose(wanted, Search(found, ask))
