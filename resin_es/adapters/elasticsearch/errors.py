"""The client's exceptions → the StoreError family. Nothing else of resin-es sees the former."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from elasticsearch import (
    ApiError,
    AuthenticationException,
    AuthorizationException,
    ConflictError,
    ConnectionTimeout,
    NotFoundError,
    SSLError,
    TransportError,
    UnsupportedProductError,
)

from resin_es.errors import (
    ClientTooNew,
    StoreConflict,
    StoreError,
    StoreNotInstalled,
    StoreRefused,
    StoreRejected,
    StoreTimeout,
    StoreUnavailable,
)

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

MAX_REASON = 500


def where(client: Elasticsearch) -> str:
    """The client's nodes, without credentials (the client keeps those in a header)."""
    return ", ".join(sorted(node.base_url for node in client.transport.node_pool.all()))


def reason(body: object) -> str:
    """The innermost reason of an error body, shortened."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(error, Mapping):
        return _short(str(error))
    told = str(error.get("reason") or error.get("type") or error)
    roots = error.get("root_cause") or ()
    for root in roots if isinstance(roots, list) else ():
        told = told if root.get("reason", "") in told else f"{told}: {root.get('reason')}"
    cause = error.get("caused_by")
    while isinstance(cause, Mapping):
        inner = str(cause.get("reason") or cause.get("type") or "")
        if inner and inner not in told:
            told = f"{told}: {inner}"
        cause = cause.get("caused_by")
    return _short(told)


def _short(text: str) -> str:
    # What follows is a piece of the request, which may be a document.
    text = re.sub(r"\s+", " ", text.partition("[Source:")[0]).removesuffix(" at ").strip()
    return text if len(text) <= MAX_REASON else f"{text[: MAX_REASON - 1]}…"


def error_type(body: object) -> str:
    """``error.type`` of a response or bulk item, empty if there is none."""
    error = body.get("error") if isinstance(body, Mapping) else None
    return str(error.get("type", "")) if isinstance(error, Mapping) else ""


def _told(error: TransportError) -> str:
    """The error and what it came from, which the client keeps apart."""
    parts = [str(error), *(str(inner) for inner in error.errors)]
    return _short(": ".join(part for part in dict.fromkeys(parts) if part))


def translate(error: Exception, doing: str, client: Elasticsearch | None = None) -> StoreError:
    """The StoreError that says what ``error`` means while ``doing`` something."""
    at = f" at {where(client)}" if client is not None else ""
    if isinstance(error, ApiError):
        return _api_error(error, doing, at)
    if isinstance(error, ConnectionTimeout):
        return StoreTimeout(
            f"Elasticsearch{at} did not answer in time while {doing}.",
            hint="Raise RESIN_ES_REQUEST_TIMEOUT, or look at the cluster's load.",
        )
    if isinstance(error, SSLError):
        return StoreUnavailable(
            f"Elasticsearch{at}: the TLS connection failed while {doing}: {_told(error)}.",
            hint="Check RESIN_ES_CA_CERTS, or the certificate's fingerprint.",
        )
    if isinstance(error, TransportError):
        return StoreUnavailable(
            f"Elasticsearch{at} cannot be reached ({doing}): {_told(error)}.",
            hint="Check RESIN_ES_URL, or start the local node with `resin-es up`.",
        )
    return StoreRejected(f"{doing} failed: {_short(str(error))}.")


def _api_error(error: ApiError, doing: str, at: str) -> StoreError:
    told, kind = reason(error.body), error_type(error.body)
    if isinstance(error, UnsupportedProductError):
        return StoreRejected(
            f"what answers{at} is not Elasticsearch ({doing}).", hint="Check RESIN_ES_URL."
        )
    if kind == "media_type_header_exception" and "compatible-with" in str(error.body):
        return client_too_new(told)
    if isinstance(error, AuthenticationException):
        return StoreRefused(
            f"Elasticsearch{at} does not accept the credentials ({doing}): {told}.",
            hint="Check RESIN_ES_API_KEY, or user and password.",
        )
    if isinstance(error, AuthorizationException):
        return refused(doing, told, at)
    if isinstance(error, NotFoundError) and kind == "index_not_found_exception":
        return not_installed(told)
    if isinstance(error, ConflictError):
        return StoreConflict(f"{doing} lost against a newer write: {told}.")
    if error.status_code in (408, 504):
        return StoreTimeout(f"Elasticsearch{at} did not finish {doing} in time: {told}.")
    if error.status_code in (502, 503):
        return StoreUnavailable(f"Elasticsearch{at} cannot serve {doing} now: {told}.")
    return StoreRejected(
        f"Elasticsearch{at} rejected {doing} ({error.status_code}): {told}.", reasons={told: 1}
    )


def refused(doing: str, told: str, at: str = "") -> StoreRefused:
    """A privilege is missing."""
    return StoreRefused(
        f"Elasticsearch{at} refused {doing}: {told}.",
        hint="`resin-es install --print-role` shows the privileges that are needed.",
    )


def not_installed(told: str) -> StoreNotInstalled:
    """An index or alias of ours is missing."""
    return StoreNotInstalled(
        f"resin-es is not installed here: {told}.",
        hint="Run `resin-es install`, or check RESIN_PREFIX.",
    )


def client_too_new(told: str = "", client: str = "", server: str = "") -> ClientTooNew:
    """The client library speaks a newer protocol than the server."""
    from elasticsearch._version import __versionstr__

    return ClientTooNew(
        f"elasticsearch-py {client or __versionstr__} is too new for this server"
        f"{f' ({server})' if server else ''}{f': {told}' if told else ''}.",
        hint="Install the client for it: pip install 'resin-es[es8]'.",
    )


@contextmanager
def translated(doing: str, client: Elasticsearch | None = None) -> Iterator[None]:
    """Turn the client's exceptions into StoreErrors; ours pass through."""
    try:
        yield
    except (ApiError, TransportError) as error:
        raise translate(error, doing, client) from error


def item_reason(item: Mapping[str, Any]) -> str:
    """Reason of a failed bulk item: its error's type and innermost reason, without the item's
    id and position, which would make every reason a different one."""
    error = item.get("error")
    if not isinstance(error, Mapping):
        return _short(str(error or f"status {item.get('status')}"))
    innermost = error
    while isinstance(innermost.get("caused_by"), Mapping):
        innermost = innermost["caused_by"]
    told = re.sub(r"^\[\d+:\d+\] | in document with id '[^']*'", "", str(innermost.get("reason")))
    told = told.replace(f"[{item.get('_id')}]: ", "")
    return _short(f"{error.get('type')}: {told}")
