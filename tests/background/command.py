"""The command line, its documents read by :class:`MarkedReader`: ``python -m
tests.background.command worker``. All else is what ``resin-es`` is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from resin_es.bootstrap.services import Services
from resin_es.cli import main
from tests.background.reading import MarkedReader


@contextmanager
def read_by_marks() -> Iterator[None]:
    """Everything in this process, and what is forked from it, reads that way."""
    known = Services.reader
    reader = cached_property(lambda services: MarkedReader())
    reader.__set_name__(Services, "reader")
    Services.reader = reader  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        Services.reader = known  # type: ignore[method-assign]


if __name__ == "__main__":
    with read_by_marks():
        main()
