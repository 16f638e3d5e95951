"""What a rebuild tells of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from resin_es.index.multilingual import META, second_of
from resin_es.model.base import Frozen
from resin_es.ports import Progress

State = Literal["none", "building", "swapped"]
SHOWN = ("model", "dims", "statement_version", "vector_index", "language", "schema")
"""What of an index's ``_meta`` tells one generation from another."""


class RebuildStatus(Frozen):
    """Where a rebuild stands. ``records`` counts by index, as of the last refresh; ``old`` and
    ``new`` say what each generation was built with."""

    state: State
    old: Mapping[str, Any] = {}
    new: Mapping[str, Any] = {}
    began: str = ""
    records: Mapping[str, int] = {}


class RebuildReport(Frozen):
    """What a run did. ``resumed``: an earlier one had begun. ``model`` made the vectors that
    answer now, ``multilingual`` the second ones, empty where there are none. ``records`` counts by
    family what the new generation holds, ``dropped`` names the indices deleted."""

    done: bool
    resumed: bool = False
    generation: str = ""
    model: str = ""
    multilingual: str = ""
    copied: int = 0
    deleted: int = 0
    passes: int = 0
    records: Mapping[str, int] = {}
    dropped: tuple[str, ...] = ()


class Rebuilder(Protocol):
    """What rebuilds; ``run`` goes on from wherever a rebuild stands."""

    def plan(self) -> dict[str, Any]: ...

    def reports_to(self, progress: Progress) -> None: ...

    def status(self) -> RebuildStatus: ...

    def cancel(self) -> tuple[str, ...]: ...

    def run(self, *, force: bool = False) -> RebuildReport: ...


def built_with(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What a generation was built with, of its ``_meta``, or of what its successor keeps of it."""
    told = {name: meta[name] for name in SHOWN if name in meta}
    whole = {"model", "schema"} <= told.keys()
    return {**told, META: multilingual_of(meta)} if whole else told


def multilingual_of(meta: Mapping[str, Any]) -> str | None:
    """Name of the encoder of the second vectors; None where there are none."""
    second = second_of(meta)
    return None if second is None else str(second.get("model"))


def described(meta: Mapping[str, Any]) -> str:
    """The same in words."""
    return in_words(built_with(meta))


def in_words(built: Mapping[str, Any]) -> str:
    """What ``built_with`` told, in one line."""
    return ", ".join(f"{name.replace('_', ' ')} {value or 'none'}" for name, value in built.items())
