"""Settings → services. The only package that imports adapters, and it does so on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resin_es.bootstrap.resin import Resin
    from resin_es.bootstrap.services import Services

__all__ = ["Resin", "Services"]


def __getattr__(name: str) -> Any:
    if name == "Resin":
        from resin_es.bootstrap.resin import Resin

        return Resin
    if name == "Services":
        from resin_es.bootstrap.services import Services

        return Services
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
