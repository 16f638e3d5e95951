"""Where long work reports how far it is, and where documents come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from resin_es.model import Document


class Progress(Protocol):
    """Where long work reports how far it is. ``total`` is None where it is not known."""

    def update(self, done: int, total: int | None, description: str) -> None: ...


class DocumentSource(Protocol):
    """Where documents come from, streamed."""

    def documents(self) -> Iterator[Document]: ...
