"""ModelCall → body of a Messages API request. Pure."""

from __future__ import annotations

from typing import Any, Literal

from resin_es.ports.language import ModelCall

Route = Literal["text", "schema", "tool", "plain"]
"""How an answer's structure is asked for: not at all, by the endpoint's own JSON schema, by a
forced tool call, or in words."""

TOOL = "answer"


def request_of(call: ModelCall, route: Route) -> dict[str, Any]:
    """The body of ``call``. ``route`` is "text" if and only if the call has no ``output``."""
    raise NotImplementedError
