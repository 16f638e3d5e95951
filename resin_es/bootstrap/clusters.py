"""Clusters that sources live on: RESIN_CLUSTERS → clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from resin_es.errors import SettingsError

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

    from resin_es.adapters.elasticsearch.client import ConnectionOptions
    from resin_es.bootstrap.services import Services


def cluster_client(services: Services, cluster: str) -> Elasticsearch:
    """A client on an entry of RESIN_CLUSTERS, one for each as long as ``services`` live; the
    units' own where ``cluster`` is empty. Raises SettingsError."""
    if not cluster:
        return services.client
    from resin_es.adapters.elasticsearch import connect

    made: dict[str, Elasticsearch] = services.__dict__.setdefault("clusters", {})
    if cluster not in made:
        made[cluster] = connect(cluster_options(services.settings.clusters, cluster))
    return made[cluster]


def cluster_options(clusters: Mapping[str, Mapping[str, Any]], cluster: str) -> ConnectionOptions:
    """How an entry is reached: the names of :class:`ConnectionOptions`, ``basic_auth`` also as
    ``user:password``. Raises SettingsError that shows no value, since any may be a secret."""
    from resin_es.adapters.elasticsearch import ConnectionOptions

    if cluster not in clusters:
        known = ", ".join(sorted(clusters)) or "none"
        raise SettingsError(
            f"There is no cluster {cluster!r} in RESIN_CLUSTERS (known: {known}).",
            hint='Set it as JSON: {"name": {"url": "https://…", "api_key": "…"}}.',
        )
    given = dict(clusters[cluster])
    login = given.get("basic_auth")
    if isinstance(login, str):
        user, _, password = login.partition(":")
        given["basic_auth"] = (user, password)
    try:
        return ConnectionOptions.model_validate(given)
    except ValidationError as error:
        wrong = sorted({str(one["loc"][0]) for one in error.errors() if one["loc"]})
        raise SettingsError(
            f"RESIN_CLUSTERS, {cluster!r}: {', '.join(wrong)} cannot be taken.",
            hint=f"Known: {', '.join(ConnectionOptions.model_fields)}.",
        ) from None  # the cause quotes what it was given
