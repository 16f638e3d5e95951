"""Which routes to a structured answer an endpoint takes, and what finding out cost."""

from __future__ import annotations

import json

from resin_es.adapters.anthropic.requests import Route, structured_routes
from resin_es.errors import ModelError
from resin_es.ports.language import ModelCall, ModelReply, Usage


class Routes:
    """What was learnt of an endpoint: a model that ignores a route ignores it for all schemas, a
    refusal may be about one schema alone. Thread-safe: sets only grow."""

    def __init__(self) -> None:
        self._ignored: set[tuple[str, Route]] = set()
        self._refused: set[tuple[str, Route, str]] = set()

    def of(self, call: ModelCall) -> list[Route]:
        """The routes left to try for ``call``, best first; "plain" is always among them."""
        schema = _schema(call)
        return [
            route
            for route in structured_routes(call)
            if (call.model, route) not in self._ignored
            and (call.model, route, schema) not in self._refused
        ]

    def ignored(self, call: ModelCall, route: Route) -> None:
        self._ignored.add((call.model, route))

    def refused(self, call: ModelCall, route: Route) -> None:
        self._refused.add((call.model, route, _schema(call)))


class Tally:
    """What the requests of one call took together."""

    def __init__(self) -> None:
        self._last: ModelReply | None = None
        self._usage, self._dollars, self._calls = Usage(), 0.0, 0

    def add(self, reply: ModelReply) -> None:
        self._last = reply
        self._usage += reply.usage
        self._dollars += reply.dollars
        self._calls += reply.calls

    def add_refusal(self) -> None:
        self._calls += 1

    def of(self, reply: ModelReply) -> ModelReply:
        """``reply`` with all that it took."""
        took = {"usage": self._usage, "dollars": self._dollars, "calls": self._calls}
        return reply.model_copy(update=took)

    def put_on(self, error: ModelError) -> None:
        """What was paid before ``error`` came, if anything was."""
        if self._last is not None:
            error.reply = self.of(self._last)


def _schema(call: ModelCall) -> str:
    return json.dumps(call.output, sort_keys=True)
