"""A stream of documents, kept on disk for as long as it takes to go over it several times."""

from __future__ import annotations

import pickle
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import IO

from resin_es.model import Document


class DocumentSpool:
    """A context manager: on entering, ``documents`` are written to a temporary file that only
    this user may read (where the system has it, one without a name); on leaving, it is gone.

    Iterating gives them again, any number of times, :meth:`part` a run of them; memory holds
    one at a time and eight bytes for each. Not for several threads at once. Pickled, since JSON
    would not give back every value of free metadata, and nobody else can write the file.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = documents
        self._starts: array[int] = array("Q")
        self._stack = ExitStack()
        self._file: IO[bytes] | None = None

    def __enter__(self) -> DocumentSpool:
        with ExitStack() as stack:
            file = stack.enter_context(tempfile.TemporaryFile(prefix="resin-es-"))
            position = 0
            for document in self._documents:
                self._starts.append(position)
                position += file.write(pickle.dumps(document))
            self._file, self._stack = file, stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._file = None
        self._stack.close()

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Document]:
        return self.part(0, len(self))

    def part(self, start: int, stop: int) -> Iterator[Document]:
        """Documents ``start`` to ``stop - 1``, by the order in which they came."""
        for number in range(start, min(stop, len(self))):
            yield self._document(number)

    def _document(self, number: int) -> Document:
        if self._file is None:
            raise RuntimeError("the spool is closed")
        # seek each time: another iteration over the same file may have moved the position
        self._file.seek(self._starts[number])
        document: Document = pickle.load(self._file)
        return document
