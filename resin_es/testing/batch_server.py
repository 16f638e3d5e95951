"""Message Batches for ``ModelServer``: a script that keeps batches and lets them end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from resin_es.testing.model_server import Asked, Reply

Answer = Callable[[Mapping[str, Any]], Reply | str]
"""From the body of one item to its message, or to ``errored``, ``expired`` or ``canceled``."""


class ScriptedBatches:
    """``ModelServer(ScriptedBatches(answer, polls=2, single=script))``: a batch is in progress
    for ``polls`` looks at it. Whatever is no batch goes to ``single``."""

    def __init__(
        self, answer: Answer, *, polls: int = 1, single: Callable[[Asked], Reply] | None = None
    ) -> None:
        self._answer, self._polls, self._single = answer, polls, single

    def __call__(self, asked: Asked) -> Reply:
        raise NotImplementedError
