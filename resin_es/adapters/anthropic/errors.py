"""What the SDK raises → the ResinError tree.

Kinds of errors: https://docs.anthropic.com/en/api/errors. In the middle of a stream they come by
name alone, under status 200; other endpoints often have the status alone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz
from typing import NamedTuple

from resin_es.adapters.anthropic.options import URL, AnthropicOptions
from resin_es.adapters.anthropic.requests import Route
from resin_es.adapters.prices import told
from resin_es.errors import ModelError, ModelUnavailable

_KINDS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


LONGEST_WAIT = 300.0
"""Seconds of ``retry-after`` that are waited for."""


class _Says(NamedTuple):
    kind: type[ModelError]
    message: str
    hint: str


_CHECK_KEY = "Check RESIN_ANTHROPIC_KEY or ANTHROPIC_API_KEY, and what the key may do."
_CHECK_OWN_KEY = (
    "Check RESIN_ANTHROPIC_KEY (ANTHROPIC_API_KEY is not sent there). It goes out as "
    "`Authorization: Bearer`; for another header: "
    "RESIN_ANTHROPIC_OPTIONS='{\"default_headers\": {…}}'."
)
_CHECK_URL = "Check RESIN_ANTHROPIC_URL."
_CHECK_REACH = "Check RESIN_ANTHROPIC_URL, the network and the proxy."
_KEPT = "What is finished is kept: run it again later."
_SLOWER = (
    "What is finished is kept: run it again later, or slower (RESIN_LLM_REQUESTS_PER_MINUTE, "
    "RESIN_LLM_TOKENS_PER_MINUTE, RESIN_LLM_LANES)."
)
_LONGER = "Raise RESIN_LLM_TIMEOUT if the model needs longer; what is finished is kept."
_SMALLER = "Choose a model that takes longer texts, or a smaller RESIN_BUDGET for answers."
_TOO_LONG = _Says(ModelError, "{model} at {url} takes no text this long: {what}.", _SMALLER)
_SPENT = _Says(ModelUnavailable, "{url} wants to be paid first: {what}.", "Mend it there.")
_LATE = _Says(ModelError, "{model} at {url} did not answer within {patience}{after}.", _LONGER)
_SILENT = _Says(
    ModelError, "{model} at {url} fell silent for {patience} in the middle of its answer.", _LONGER
)
_BROKEN = _Says(ModelError, "The connection to {url} broke off{after}: {what}.", _KEPT)
_UNREACHED = _Says(ModelUnavailable, "{url} cannot be reached{after}: {what}.", _CHECK_REACH)
_NO_JSON = _Says(ModelError, "{model} at {url} failed: its answer is no JSON ({what}).", _CHECK_URL)
_FOREIGN = _Says(
    ModelError, "What {url} answered does not keep to the Messages API: {what}.", _CHECK_URL
)
_OTHER = _Says(ModelError, "{model} at {url} failed{after}: {what}.", "")
_BY_KIND = {
    "authentication_error": _Says(ModelUnavailable, "{url} refused the key: {what}.", _CHECK_KEY),
    "permission_error": _Says(ModelUnavailable, "{url} refused the key: {what}.", _CHECK_KEY),
    "billing_error": _SPENT,
    "not_found_error": _Says(
        ModelUnavailable,
        "{url} has no model {model!r}: {what}.",
        "Check the model's name, and RESIN_ANTHROPIC_URL (which goes without /v1/messages).",
    ),
    "request_too_large": _TOO_LONG,
    "rate_limit_error": _Says(ModelError, "{url} takes no more calls{after}: {what}.", _SLOWER),
    "overloaded_error": _Says(ModelError, "{url} is overloaded{after}: {what}.", _KEPT),
    "timeout_error": _Says(ModelError, "{model} at {url} took too long{after}: {what}.", _KEPT),
    "invalid_request_error": _Says(
        ModelError, "{model} at {url} turned the request down: {what}.", ""
    ),
}
_LENGTH_WORDS = ("too long", "context limit", "context length", "context window", "context size")
_UNREACHED_NAMES = {
    "ConnectError",
    "ConnectTimeout",
    "ProxyError",
    "UnsupportedProtocol",
    "LocalProtocolError",
    "InvalidURL",
    "TooManyRedirects",
}
_REFUSAL_WORDS: dict[Route, tuple[str, ...]] = {
    "schema": ("output_config", "output_format", "format", "schema", "structured", "grammar"),
    "tool": ("tool", "schema", "grammar", "jinja", "template"),
}


def translated(error: Exception, options: AnthropicOptions, model: str) -> ModelError:
    """The error as people should read it: what, where, what to do; no secret of ``options``."""
    _clean(error, options)
    says, what = _found(error)
    attempts = _attempts(error)
    message = says.message.format(
        model=model,
        url=options.address,
        patience=options.patience,
        what=told(what, *options.secrets).rstrip("."),
        after=f" after {attempts} attempts" if attempts > 1 else "",
    )
    elsewhere = options.base_url.rstrip("/") != URL
    hint = _CHECK_OWN_KEY if says.hint == _CHECK_KEY and elsewhere else says.hint
    return says.kind(message, hint=hint)


def refuses_route(error: ModelError, route: Route) -> bool:
    """Whether ``error`` says that the endpoint will not have what ``route`` asks by: another may
    do. Servers without tools or grammars often call that an error of their own (500)."""
    cause = error.__cause__
    if getattr(cause, "status_code", 0) not in (400, 422, 500, 501):
        return False
    text = f"{cause} {getattr(cause, 'body', '')}".lower()
    return any(word in text for word in _REFUSAL_WORDS.get(route, ()))


def asked_wait(headers: Mapping[str, str]) -> float:
    """The seconds that ``retry-after`` asks for, a number or a date; 0 where it asks for none."""
    said = headers.get("retry-after", "")
    try:
        return float(said)
    except ValueError:
        date = parsedate_tz(said)
        return mktime_tz(date) - time.time() if date else 0.0


def _found(error: Exception) -> tuple[_Says, str]:
    import anthropic

    cause = error.__cause__ or error
    if isinstance(error, anthropic.APIStatusError):
        return _status(error)
    if _UNREACHED_NAMES & _names(cause):
        return _UNREACHED, _text(cause)
    if isinstance(error, anthropic.APITimeoutError):
        return _LATE, ""
    if "TimeoutException" in _names(error):  # not wrapped: the answer had begun
        return _SILENT, ""
    if isinstance(error, anthropic.APIConnectionError) or "TransportError" in _names(error):
        return _BROKEN, _text(cause)
    if isinstance(error, anthropic.CredentialsError):
        return _BY_KIND["authentication_error"], _text(error)
    if isinstance(error, (AttributeError, TypeError, KeyError)):  # where the SDK took it for one
        return _FOREIGN, _text(error)
    if isinstance(error, (ValueError, anthropic.APIResponseValidationError)):
        return _NO_JSON, _text(error)
    return _OTHER, _text(error)


def _status(error: object) -> tuple[_Says, str]:
    status = getattr(error, "status_code", 0)
    what = str(getattr(error, "api_message", None) or error)
    code = str(getattr(error, "error_code", None) or "")
    kind = _KINDS.get(status) or str(getattr(error, "type", None) or "")
    if (
        status == 400 and kind not in _BY_KIND
    ):  # servers of other makes have names of their own for it
        kind = "invalid_request_error"
    wait = asked_wait(getattr(getattr(error, "response", None), "headers", {}))
    if wait > LONGEST_WAIT:
        what = f"{what.rstrip('.')}; it asks to wait {wait:g} s"
    if code.endswith("spend_limit_reached") or "credit balance" in what.lower():
        return _SPENT, what
    if kind == "invalid_request_error" and any(word in what.lower() for word in _LENGTH_WORDS):
        return _TOO_LONG, what
    return _BY_KIND.get(kind, _OTHER), what


def _clean(error: BaseException | None, options: AnthropicOptions) -> None:
    """Take secrets out of the SDK's own errors too: they stay as causes, and tracebacks show
    them."""
    while error is not None:
        text = str(error)
        if any(secret.get_secret_value() in text for secret in options.secrets):
            error.args = (told(text, *options.secrets),)
        error = error.__cause__ or error.__context__


def _attempts(error: Exception) -> int:
    """How often the SDK had tried; it counts in a header of each request."""
    headers = getattr(getattr(error, "request", None), "headers", None) or {}
    count = str(headers.get("x-stainless-retry-count", ""))
    return int(count) + 1 if count.isdigit() else 1


def _names(error: BaseException) -> set[str]:
    """The SDK's HTTP library goes by two names; its errors have the same."""
    return {kind.__name__ for kind in type(error).__mro__}


def _text(error: BaseException) -> str:
    return str(error) or type(error).__name__
