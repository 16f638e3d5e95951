"""What a terminal shows while a command runs."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

_ABOVE = 4
"""Lines left for the bars and the prompt."""


class LiveBars(Progress):
    """Progress bars, and below them the end of a text that grows."""

    _written = ""

    def write(self, piece: str) -> None:
        """Show ``piece`` behind what was written before. Control characters, which could
        command the terminal, are left out."""
        self._written += "".join(c for c in piece if c == "\n" or c.isprintable())
        self.refresh()

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self._written:
            room = max(1, self.console.height - _ABOVE)
            lines = Text(self._written).wrap(self.console, self.console.width)
            yield Text("\n").join(lines[-room:])


def live_bars() -> LiveBars:
    """Bars on stderr that vanish when they are done."""
    return LiveBars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
