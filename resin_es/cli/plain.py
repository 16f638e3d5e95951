"""A console that nothing shown on it can command."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from resin_es.cli.output import tame


class PlainConsole(Console):
    """Documents and models may write escape sequences; only our own styles reach a terminal."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(tame(segment.text), segment.style)
