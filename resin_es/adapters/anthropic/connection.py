"""The SDK's client: made at first use, once per process."""

from __future__ import annotations

import difflib
import os
import ssl
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from resin_es.adapters.anthropic.errors import LONGEST_WAIT, asked_wait, translated
from resin_es.adapters.anthropic.options import (
    CREDENTIALS,
    NETWORK_OPTIONS,
    REQUEST_OPTIONS,
    URL,
    AnthropicOptions,
)
from resin_es.adapters.prices import told
from resin_es.errors import ModelError, ModelUnavailable, SettingsError
from resin_es.ports.language import ModelCall

if TYPE_CHECKING:
    from anthropic import Anthropic

INSTALL = "Install it with: pip install 'resin-es[anthropic]'"
SET_KEY = "Set RESIN_ANTHROPIC_KEY or ANTHROPIC_API_KEY."


class Connection:
    """Thread-safe; a forked process opens its own.

    Raises ModelUnavailable if the SDK is not installed, if there is no key for Anthropic's own
    address or the key cannot be one; SettingsError for an option that nothing knows.
    """

    def __init__(self, options: AnthropicOptions) -> None:
        if find_spec("anthropic") is None:
            raise ModelUnavailable("anthropic is not installed.", hint=INSTALL)
        _check_key(options)
        if options.options:
            _check_names(options.options)
        self.options = options
        self._clients: dict[int, Anthropic] = {}

    @property
    def client(self) -> Anthropic:
        """Of this process. A parent's is kept as it is: closing it here would end the parent's
        own conversations. Raises SettingsError for options that exclude one another."""
        process = os.getpid()
        client = self._clients.get(process)
        return client or self._clients.setdefault(process, self._opened())

    @property
    def extras(self) -> dict[str, Any]:
        """Arguments that join every request."""
        given = self.options.options
        return {name: given[name] for name in REQUEST_OPTIONS if name in given}

    def effort(self, call: ModelCall) -> str:
        """How hard the model of a call's stage is to think; empty: as it is made."""
        return self.options.efforts.get(call.stage, "")

    def translated(self, error: Exception, model: str) -> ModelError:
        """What the SDK raised, as one of ours, without any secret."""
        return translated(error, self.options, model)

    def close(self) -> None:
        client = self._clients.pop(os.getpid(), None)
        if client is not None:
            client.close()

    def _opened(self) -> Anthropic:
        from anthropic import Anthropic, DefaultHttpxClient

        given = {
            name: value
            for name, value in self.options.options.items()
            if name not in (*NETWORK_OPTIONS, *REQUEST_OPTIONS)
        }
        arguments = {**_fields(self.options), **given}
        try:
            network = _network(self.options.options)
            if network:
                http = DefaultHttpxClient(timeout=arguments["timeout"], **network)
                arguments.setdefault("http_client", http)
            arguments["middleware"] = [*(arguments.get("middleware") or ()), no_long_wait]
            return Anthropic(**arguments)
        except (TypeError, ValueError, OSError) as error:
            what = told(error, *self.options.secrets)
            raise SettingsError(
                f"The client of {self.options.address} cannot be made: {what}.",
                hint="Check RESIN_ANTHROPIC_OPTIONS.",
            ) from error


def no_long_wait(request: Any, call_next: Any) -> Any:
    """The SDK waits as long as it is told to, even for a day. An endpoint that asks for more than
    ``LONGEST_WAIT`` has a quota for longer than a minute: that is to be said, not waited for."""
    response = call_next(request)
    headers = response.http_response.headers
    if asked_wait(headers) > LONGEST_WAIT:
        headers["x-should-retry"] = "false"
    return response


def _fields(options: AnthropicOptions) -> dict[str, Any]:
    """Our own fields as the SDK's arguments. Key and address are always given, so that none is
    taken from variables or files that the SDK would look up."""
    fields = {
        "base_url": options.base_url,
        "timeout": options.timeout,
        "max_retries": options.retries,
    }
    if any(options.options.get(name) is not None for name in CREDENTIALS):
        return fields
    if options.key is not None:
        return {**fields, "api_key": options.key.get_secret_value().strip()}
    from anthropic import Omit

    headers = {"Authorization": Omit(), **(options.options.get("default_headers") or {})}
    return {**fields, "api_key": "", "default_headers": headers}


def _network(options: Mapping[str, Any]) -> dict[str, Any]:
    network = {name: options[name] for name in NETWORK_OPTIONS if name in options}
    if isinstance(network.get("verify"), str):
        network["verify"] = ssl.create_default_context(cafile=network["verify"])
    if isinstance(network.get("cert"), list):
        network["cert"] = tuple(network["cert"])
    return network


def _check_key(options: AnthropicOptions) -> None:
    key = options.key.get_secret_value().strip() if options.key else ""
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise ModelUnavailable(
            "The key for Claude holds characters that no key has.", hint="Copy it again."
        )
    headers = {name.lower() for name in options.options.get("default_headers") or ()}
    named = set(CREDENTIALS) & set(options.options) or {"authorization", "x-api-key"} & headers
    if not key and not named and options.base_url.rstrip("/") == URL:
        raise ModelUnavailable("There is no key for Claude.", hint=SET_KEY)


def _check_names(options: Mapping[str, Any]) -> None:
    import inspect

    from anthropic import Anthropic

    names = [name for name in inspect.signature(Anthropic).parameters if name[0] != "_"]
    known = sorted({*names, *NETWORK_OPTIONS, *REQUEST_OPTIONS})
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f" (did you mean {near[0]!r}?)" if near else ""
            raise SettingsError(
                f"RESIN_ANTHROPIC_OPTIONS: the client has no option {name!r}{meant}.",
                hint=f"It has: {', '.join(known)}.",
            )
