"""The hop solver's request, and the local answer read from what came back. Pure [A.5, A.7]."""

from __future__ import annotations

from typing import Any

from resin_es.model import Hop
from resin_es.model.base import Frozen
from resin_es.ports import ModelCall


class SolverCandidate(Frozen):
    """A ranked candidate of a hop: the source sentences that it points at."""

    kind: str
    title: str = ""
    text: str


class SolverInput(Frozen):
    """All that a hop solver sees: the hop's number (from 1), the hop, the numbers of the hops it
    depends on, and its own candidates, best first."""

    number: int
    hop: Hop
    depends_on: tuple[int, ...] = ()
    candidates: tuple[SolverCandidate, ...] = ()


class LocalAnswer(Frozen):
    """A hop's own answer. ``citations`` are positions of candidates, from 0."""

    text: str
    found: bool
    citations: tuple[int, ...] = ()
    rejected: tuple[str, ...] = ()


def solve_call(item: SolverInput, model: str) -> ModelCall:
    """The request for one hop."""
    raise NotImplementedError


def local_answer_from(data: Any, item: SolverInput) -> LocalAnswer:
    """The local answer in ``data``. Raises ModelError where it cannot be used."""
    raise NotImplementedError
