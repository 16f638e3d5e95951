"""The command line, its documents read by :class:`MarkedReader`: ``python -m
tests.background.command worker``. All else is what ``resin-es`` is."""

from __future__ import annotations

from functools import cached_property

from resin_es.bootstrap.services import Services
from resin_es.cli import main
from tests.background.reading import MarkedReader


def by_marked_reader() -> None:
    """Have every process that is forked from here read that way."""
    reader = cached_property(lambda services: MarkedReader())
    reader.__set_name__(Services, "reader")
    Services.reader = reader  # type: ignore[assignment, method-assign]


if __name__ == "__main__":
    by_marked_reader()
    main()
