"""Names of indices, aliases and templates. Pure.

Reads and writes go to aliases (``resin-units``); concrete indices carry a generation
(``resin-units-v1``), so that a new mapping or embedding model can be built beside the old one.
"""

from __future__ import annotations

import re

from resin_es.model.base import Frozen

EVIDENCE_FAMILIES = ("units", "sentences", "passages")
ADDRESS_FAMILIES = ("units", "sentences")
FAMILIES = (
    "units",
    "sentences",
    "passages",
    "documents",
    "sources",
    "traces",
    "cache",
    "ledger",
    "keys",
)
COMPONENTS = ("text", "owner", "address")
_NUMBER = re.compile(r"[1-9][0-9]*")


class Names(Frozen):
    """Every name that belongs to one prefix."""

    prefix: str

    def alias(self, family: str) -> str:
        """What reads and writes of ``family`` address."""
        if family not in FAMILIES:
            raise ValueError(f"no index family {family!r}")
        return f"{self.prefix}-{family}"

    def aliases(self, *families: str) -> list[str]:
        """Aliases of ``families`` (all, if none is named)."""
        return [self.alias(family) for family in families or FAMILIES]

    def concrete(self, family: str, generation: int) -> str:
        """The index that holds one generation of ``family``."""
        return f"{self.alias(family)}-v{generation}"

    def pattern(self, family: str) -> str:
        """Index pattern of all generations of ``family``."""
        return f"{self.alias(family)}-v*"

    def own(self, family: str, generation: int) -> str:
        """Alias of one generation alone, while it takes part in a rebuild: a write that requires
        an alias cannot make an index anew that was dropped."""
        return f"{self.concrete(family, generation)}-own"

    def building(self, family: str, generation: int) -> str:
        """Alias of a generation that is under construction, and token for ending that: the swap
        takes it away, or the cancel does."""
        return f"{self.concrete(family, generation)}-next"

    def generation(self, family: str, index: str) -> int | None:
        """Generation of ``index`` in ``family``; None where it is not ours. The match is exact,
        so prefix ``resin`` never takes ``resin-other-units-v1`` for its own."""
        head, _, number = index.rpartition("-v")
        ours = head == self.alias(family) and _NUMBER.fullmatch(number)
        return int(number) if ours else None

    def family(self, index: str) -> str | None:
        """Family of a concrete index or alias of this prefix, None where it is not ours."""
        for family in FAMILIES:
            if index == self.alias(family) or self.generation(family, index) is not None:
                return family
        return None

    def component(self, name: str) -> str:
        """Name of a component template."""
        return f"{self.prefix}-schema-{name}"

    def template(self, family: str) -> str:
        """Name of an index template."""
        return self.alias(family)

    def role(self, name: str) -> str:
        """Name of a role (``runtime``, ``index-only``, ``install``)."""
        return f"{self.prefix}-{name}"
