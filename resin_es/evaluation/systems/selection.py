"""Which rows a run has: names and groups, as ``--systems`` takes them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from resin_es.errors import InputError
from resin_es.model.base import Frozen

DEFAULT = ("baselines", "known", "resin")
"""What runs without ``--systems``: needs no model, and takes minutes."""


class Entry(Frozen):
    """A row that can be asked for. ``needs`` says what it cannot do without (a model, a
    package), empty where it needs nothing."""

    name: str
    label: str
    group: str
    about: str
    needs: str = ""


_GROUPS = {
    "baselines": "baseline",
    "known": "known",
    "ablations": "ablation",
    "external": "external",
}


def selected(wanted: Sequence[str], catalogue: Sequence[Entry]) -> list[Entry]:
    """The entries that ``wanted`` names, in the catalogue's order, RESIN always among them
    (every other row is compared with it). A group stands for those of its rows that need
    nothing; ``all`` for every row. Raises InputError on a name that is none.
    """
    names = {name.strip() for name in wanted if name.strip()} or set(DEFAULT)
    known = {entry.name for entry in catalogue}
    unknown = sorted(names - known - _GROUPS.keys() - {"all"})
    if unknown:
        raise InputError(
            f"no system is called {', '.join(repr(name) for name in unknown)}.",
            hint=f"Groups: {', '.join(_GROUPS)}, all. Systems: "
            f"{', '.join(entry.name for entry in catalogue)}.",
        )
    groups = {_GROUPS[name] for name in names if name in _GROUPS}

    def wants(entry: Entry) -> bool:
        grouped = entry.group in groups and (not entry.needs or entry.group == "external")
        return entry.name in names or entry.name == "resin" or grouped or "all" in names

    return [entry for entry in catalogue if wants(entry)]
