"""What an evaluation is asked to do."""

from __future__ import annotations

import shlex
from pathlib import Path

from resin_es.evaluation.runner.runner import BUDGETS
from resin_es.model.base import Frozen

DEFAULT_OUT = Path("resin-eval")


class EvalRequest(Frozen):
    """``data`` is a folder or file of the format ``dataset``. ``systems`` are names and groups
    of rows (the default ones, if empty). ``out`` holds findings, results and report; a run into
    the same folder goes on where the last one ended, unless ``fresh``. ``answers`` composes an
    answer for every row at the largest budget, ``judge`` has them judged. ``limit`` and
    ``documents`` make the data set smaller. ``seed`` is that of the intervals. ``lanes``: how
    many questions are asked at a time.
    """

    dataset: str
    data: Path
    systems: tuple[str, ...] = ()
    budgets: tuple[int, ...] = BUDGETS
    limit: int | None = None
    documents: int | None = None
    out: Path = DEFAULT_OUT
    fresh: bool = False
    answers: bool = False
    judge: bool = False
    seed: int = 0
    lanes: int = 2

    @property
    def command(self) -> str:
        """The command line that asks for the same."""
        parts = ["resin-es", "eval", self.dataset, "--data", shlex.quote(str(self.data))]
        if self.systems:
            parts += ["--systems", ",".join(self.systems)]
        if self.budgets != BUDGETS:
            parts += ["--budgets", ",".join(map(str, self.budgets))]
        parts += [f"--{name}" for name in ("answers", "judge") if getattr(self, name)]
        for name in ("limit", "documents", "seed"):
            if getattr(self, name):
                parts += [f"--{name}", str(getattr(self, name))]
        return " ".join(parts)
