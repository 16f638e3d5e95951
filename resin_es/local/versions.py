"""The three Elasticsearch distributions the local node can be, and the Java each one needs.

They are the ``integ-test-zip`` that Elastic publishes to Maven Central: a real server with few
modules. The hashes are pinned, so a changed file is never run.
"""

from __future__ import annotations

from dataclasses import dataclass

from resin_es.errors import SettingsError

#: The incubating vector API; a runtime may lack it, and the server runs (slower) without.
VECTOR_MODULE = "jdk.incubator.vector"


@dataclass(frozen=True)
class Distribution:
    """One Elasticsearch release: what to fetch and what runs it (Java majors, inclusive)."""

    version: str
    sha256: str
    size: int
    min_java: int
    max_java: int | None
    #: Java modules without which the server does not start.
    needs: frozenset[str] = frozenset()
    #: Its Java is the one that comes as a Python package (when it is asked for by version).
    packaged_java: bool = False

    @property
    def coordinates(self) -> str:
        """Maven coordinates: group, artifact, packaging, version."""
        return f"org.elasticsearch.distribution.integ-test-zip:elasticsearch:zip:{self.version}"

    @property
    def folder(self) -> str:
        """Name of the folder inside the zip."""
        return f"elasticsearch-{self.version}"

    def java_wanted(self) -> str:
        """The Java it needs, in words."""
        span = f"{self.min_java} or newer"
        if self.max_java is not None:
            span = f"{self.min_java} to {self.max_java}"
        return f"Java {span}" + (" (a full JDK)" if self.needs else "")


#: The entitlement system of 8.19 and 9.x patches these at start.
_ENTITLED = frozenset({"jdk.jdi", "jdk.jlink"})

#: Newest first: the first one that a Java runs is taken. 9.5 is for Java 21 and newer, 8.19 for
#: 17 to 20 (newer also runs it), and 8.17 for the small runtime that comes as a Python package.
#: 8.17 needs the Security Manager, which Java 24 dropped.
DISTRIBUTIONS: tuple[Distribution, ...] = (
    Distribution(
        "9.5.3",
        "bec49f3b8d00e75c8d1cec85c35298635ec9fbd3ae80ef5aeb6bc05abdb3db2d",
        132_390_005,
        min_java=21,
        max_java=None,
        needs=_ENTITLED,
    ),
    Distribution(
        "8.19.21",
        "215d5f3dbf0609a149f6218a9e47b6ae2df34ebbff3c5754e35f15a5e5393c8a",
        106_871_955,
        min_java=17,
        max_java=None,
        needs=_ENTITLED,
    ),
    Distribution(
        "8.17.4",
        "faecb0304693e4c195bdb67110de196fbdfed36192facbe4aa9349d09d18d218",
        91_707_081,
        min_java=17,
        max_java=23,
        packaged_java=True,
    ),
)

VERSIONS: tuple[str, ...] = tuple(d.version for d in DISTRIBUTIONS)


def distribution(version: str) -> Distribution:
    """The distribution of that version; SettingsError when it is none of the three."""
    for candidate in DISTRIBUTIONS:
        if candidate.version == version:
            return candidate
    raise SettingsError(
        f"RESIN_LOCAL_VERSION is {version!r}; the local node can be {', '.join(VERSIONS)}.",
        hint="Take one of these, or point RESIN_ES_URL at a cluster of another version.",
    )
