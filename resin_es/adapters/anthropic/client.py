"""A LanguageModel over the Messages API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from resin_es.adapters.anthropic.connection import Connection
from resin_es.adapters.anthropic.errors import refuses_route
from resin_es.adapters.anthropic.options import AnthropicOptions
from resin_es.adapters.anthropic.replies import obeyed, reply_of
from resin_es.adapters.anthropic.requests import Route, request_of
from resin_es.adapters.anthropic.routes import Routes, Tally
from resin_es.adapters.anthropic.streams import streamed
from resin_es.errors import ModelError
from resin_es.ports.language import ModelCall, ModelReply


class AnthropicModel:
    """A LanguageModel. Raises as :class:`Connection`, at once.

    A structured answer is asked for by the endpoint's own JSON schema; of an endpoint that
    refuses or ignores that, by a forced tool call; of one that ignores this too, in words. What
    was refused or ignored is remembered, so that only the first call pays for finding out. The
    SDK repeats what may pass (429, 5xx, broken connections), as long as ``retry-after`` says;
    repeats do not count among a reply's ``calls``, the requests of other routes do.
    """

    def __init__(self, options: AnthropicOptions) -> None:
        self._connection = Connection(options)
        self._routes = Routes()

    def call(self, call: ModelCall) -> ModelReply:
        """An error after an answer that was paid for carries that answer's cost (``reply``)."""
        if call.output is None:
            return self._ask(call, "text")
        tally = Tally()
        for route in self._routes.of(call):
            try:
                reply = self._ask(call, route)
            except ModelError as error:
                if not refuses_route(error, route):
                    tally.put_on(error)
                    raise
                tally.add_refusal()
                self._routes.refused(call, route)
                continue
            tally.add(reply)
            if obeyed(reply, call, route):
                return tally.of(reply)
            self._routes.ignored(call, route)
        raise AssertionError("the last route is never left")

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        """Raises ValueError for a call with ``output``: a schema cannot be streamed."""
        return streamed(self._connection, call)

    def close(self) -> None:
        self._connection.close()

    def _ask(self, call: ModelCall, route: Route) -> ModelReply:
        client, body = (
            self._connection.client,
            request_of(call, route, self._connection.effort(call)),
        )
        try:
            message: Any = client.messages.create(**body, **self._connection.extras)
        except Exception as error:
            raise self._connection.translated(error, call.model) from error
        return reply_of(message, call, route, self._connection.options.prices)
