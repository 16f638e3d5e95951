"""Connection options → client, and what the server tells about itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elasticsearch import AuthenticationException
from pydantic import Field, SecretStr

from resin_es.adapters.elasticsearch.errors import translated
from resin_es.errors import SettingsError, StoreRefused, StoreRejected
from resin_es.model.base import Frozen

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch


_CREDENTIALS = re.compile(r"//(?:(?!,https?://)\S)*@")


class ConnectionOptions(Frozen):
    """How to reach a cluster. ``url`` may hold several addresses, separated by commas; empty where
    ``options`` names a ``cloud_id``. ``options`` goes to the client as it is (``cloud_id``,
    ``client_cert``, ``retry_on_timeout`` …); its values are shown nowhere, since they may be
    secrets. ``request_timeout`` is in seconds, ``retries`` counts tries after the first."""

    url: str = ""
    api_key: SecretStr | None = None
    basic_auth: tuple[str, SecretStr] | None = None
    bearer_auth: SecretStr | None = None
    ca_certs: str | None = None
    verify_certs: bool = True
    ssl_fingerprint: str | None = None
    request_timeout: float = Field(default=60.0, gt=0)
    retries: int = Field(default=3, ge=0)
    http_compress: bool = False
    headers: Mapping[str, SecretStr] = Field(default_factory=dict)
    options: Mapping[str, Any] = Field(default_factory=dict, repr=False)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """The repr's arguments, with what a URL may carry before its ``@`` left out."""
        for name, value in super().__repr_args__():
            yield name, _CREDENTIALS.sub("//***@", value) if name == "url" else value

    @property
    def urls(self) -> list[str]:
        """The single addresses of ``url``."""
        return [part.strip() for part in self.url.split(",") if part.strip()]

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of ``elasticsearch.Elasticsearch``, secrets in the clear.

        Raises SettingsError: no address, two ways to sign in, a certificate file that is not
        there, characters that no HTTP header can carry.
        """
        found: dict[str, Any] = {
            "request_timeout": self.request_timeout,
            "max_retries": self.retries,
            "http_compress": self.http_compress,
            **self._login(),
        }
        if self.urls and "cloud_id" not in self.options:
            found["hosts"] = self.urls
        elif "cloud_id" not in self.options:
            raise SettingsError("no Elasticsearch address.", hint="Set RESIN_ES_URL.")
        if any(url.startswith("https") for url in self.urls) or "cloud_id" in self.options:
            found |= self._tls()
        for name in ("api_key", "bearer_auth"):
            _ascii(name, found.get(name, ""))
        if self.headers:
            for name, one in self.headers.items():
                _ascii(f"header {name}", name + one.get_secret_value())
            found["headers"] = {name: one.get_secret_value() for name, one in self.headers.items()}
        return {**found, **self.options}

    def _login(self) -> dict[str, Any]:
        ways: dict[str, Any] = {}
        if self.api_key is not None:
            ways["api_key"] = self.api_key.get_secret_value()
        if self.bearer_auth is not None:
            ways["bearer_auth"] = self.bearer_auth.get_secret_value()
        if self.basic_auth is not None:
            ways["basic_auth"] = (self.basic_auth[0], self.basic_auth[1].get_secret_value())
        if len(ways) > 1:
            raise SettingsError(
                f"two ways to sign in to Elasticsearch: {' and '.join(sorted(ways))}.",
                hint="Keep one of RESIN_ES_API_KEY, RESIN_ES_BASIC_AUTH, RESIN_ES_BEARER_AUTH.",
            )
        return ways

    def _tls(self) -> dict[str, Any]:
        found: dict[str, Any] = {"verify_certs": self.verify_certs}
        if not self.verify_certs:
            found["ssl_show_warn"] = False
        if self.ca_certs is not None:
            if not Path(self.ca_certs).exists():
                raise SettingsError(
                    f"RESIN_ES_CA_CERTS: there is no {self.ca_certs}.", hint="Mend the path."
                )
            found["ca_certs"] = self.ca_certs
        if self.ssl_fingerprint is not None:
            found["ssl_assert_fingerprint"] = self.ssl_fingerprint
        return found

    def hide(self, message: str) -> str:
        """``message`` without any secret of these options."""
        secrets = [self.api_key, self.bearer_auth, *self.headers.values()]
        if self.basic_auth is not None:
            secrets.append(self.basic_auth[1])
        hidden = [one.get_secret_value() for one in secrets if one is not None]
        hidden += [str(value) for value in self.options.values() if isinstance(value, str)]
        for secret in filter(None, hidden):
            message = message.replace(secret, "***")
        return _CREDENTIALS.sub("//***@", message)


def _ascii(name: str, value: str) -> None:
    if not value.isascii():
        raise SettingsError(
            f"{name} holds a character that an HTTP header cannot carry.",
            hint="Copy it again, without quotes.",
        )


def connect(options: ConnectionOptions) -> Elasticsearch:
    """A client; no request is made yet. Raises SettingsError for options it cannot take."""
    from elasticsearch import Elasticsearch

    from resin_es.adapters.elasticsearch.json_reading import JsonReader

    arguments = {"serializers": {JsonReader.mimetype: JsonReader()}, **options.arguments()}
    try:
        return Elasticsearch(**arguments)
    except (ValueError, TypeError, OSError) as error:
        # No `from error`: the client's message and frames may quote what it was given.
        raise SettingsError(
            f"the Elasticsearch client does not take its options: {options.hide(str(error))}.",
            hint="Check RESIN_ES_URL and the other RESIN_ES_* settings.",
        ) from None


class ServerInfo(Frozen):
    """What a server says about itself; empty where it may not or cannot say."""

    version: str = ""
    flavor: str = ""
    cluster: str = ""

    @property
    def major(self) -> int | None:
        head = self.version.split(".")[0]
        return int(head) if head.isdigit() else None


def server_info(client: Elasticsearch) -> ServerInfo:
    """Version and flavour (``serverless`` or ``default``), by ``GET /`` or, where that is not
    served or not allowed, by the nodes API.

    Raises StoreUnavailable, StoreTimeout, ClientTooNew, and StoreRefused for credentials that are
    not accepted: what no other call would get past.
    """
    try:
        with translated("asking for the version", client):
            told = client.info().body
        version = told.get("version", {})
        return ServerInfo(
            version=str(version.get("number", "")),
            flavor=str(version.get("build_flavor", "")),
            cluster=str(told.get("cluster_name", "")),
        )
    except (StoreRejected, StoreRefused) as error:
        if isinstance(error.__cause__, AuthenticationException):
            raise
        return _by_nodes(client)


def _by_nodes(client: Elasticsearch) -> ServerInfo:
    try:
        with translated("asking the node for its version", client):
            told = client.nodes.info(node_id="_local", filter_path="cluster_name,nodes.*.version")
    except (StoreRejected, StoreRefused):
        return ServerInfo()
    nodes = told.body.get("nodes") or {}
    versions = [str(node.get("version", "")) for node in nodes.values()]
    return ServerInfo(
        version=versions[0] if versions else "", cluster=told.body.get("cluster_name", "")
    )
