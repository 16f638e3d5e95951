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
    """What a run did. ``resumed``: an earlier one had begun. ``records`` counts by family what
    the new generation holds, ``dropped`` names the indices deleted."""

    done: bool
    resumed: bool = False
    generation: str = ""
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
    """What a generation was built with, of its ``_meta``."""
    second = second_of(meta)
    told = {name: meta[name] for name in SHOWN if name in meta}
    return told if second is None else {**told, META: second.get("model")}


def described(meta: Mapping[str, Any]) -> str:
    """The same in words."""
    told = built_with(meta).items()
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in told)
