"""The planner's request, and the plan read from what came back. Pure [3.5, A.5, A.7]."""

from __future__ import annotations

from typing import Any

from resin_es.model import Plan
from resin_es.ports import ModelCall


def plan_call(question: str, max_hops: int, model: str) -> ModelCall:
    """The request: ``MAX_HOPS`` and the question, delimited; nothing else."""
    raise NotImplementedError


def plan_from(data: Any, question: str, max_hops: int) -> Plan:
    """The plan in ``data``. Raises ModelError, with the reason, where it cannot be used."""
    raise NotImplementedError
