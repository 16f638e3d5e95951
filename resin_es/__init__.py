"""resin-es: typed units find the passage, the passage is the evidence, the answer cites it.

``from resin_es import Resin`` is the whole public entry; it is resolved on first use, so that
``import resin_es`` stays cheap and pulls in no Elasticsearch client and no model runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from resin_es._version import __version__

if TYPE_CHECKING:
    from resin_es.bootstrap import Resin

__all__ = ["Resin", "__version__"]


if not TYPE_CHECKING:  # type checkers see the import above, and no name of type Any

    def __getattr__(name: str) -> Any:
        """Resolve ``Resin`` on first use (PEP 562)."""
        if name == "Resin":
            from resin_es.bootstrap import Resin

            return Resin
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), "Resin"])
