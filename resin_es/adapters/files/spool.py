"""A stream of documents, kept on disk for as long as it takes to go over it several times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType

from resin_es.model import Document


class DocumentSpool:
    """A context manager: on entering, ``documents`` are written to a temporary file that only
    this user may read; on leaving, it is deleted. Iterating gives them again, any number of
    times; memory holds one at a time."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = documents

    def __enter__(self) -> DocumentSpool:
        raise NotImplementedError

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Document]:
        raise NotImplementedError
